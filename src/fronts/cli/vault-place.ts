/** Which vault a command is about, and the desk to work on it from the command line. */
import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Loop } from '../../engine/loop.ts'
import { RalphError } from '../../error.ts'
import { printCommandLine } from '../../formats/command-line.ts'
import type { VaultDesk } from '../../vault/desk.ts'
import { findVault, isPresent, NEEDS_ACTION, openVault } from '../../vault/place.ts'
import { resolveSettings, type VaultSettings } from '../../vault/settings.ts'
import { seeTo } from '../../vault/work.ts'
import type { Context } from './context.ts'

/** `named`: the folder somebody gave. `file`: the task file it is about. Without either: RALPH_VAULT, or the vault we stand in. */
export function vaultFor({ cwd, env }: Context, { named, file }: { named?: string; file?: string } = {}): string {
  const given = named ?? (env.RALPH_VAULT || undefined)
  if (given !== undefined) return openVault(resolve(cwd, given))
  const marks = { stateDir: env.RALPH_STATE_DIR || 'Ralph_State' }
  const found =
    (file === undefined ? undefined : findVault(dirname(resolve(cwd, file)), marks)) ?? findVault(cwd, marks)
  if (found !== undefined) return openVault(found)
  throw new RalphError(
    'usage',
    `There is no vault here: neither ${cwd} nor a folder above it has a folder ${NEEDS_ACTION}. Go into one, name it (--vault DIR, or ralph briefing DIR), or set RALPH_VAULT.`,
  )
}

/** What nobody has made a vault has no tasks to tell of, and a hook there would never be heard of. Gives its settings. */
export function mustBeVault({ env, home }: Pick<Context, 'env' | 'home'>, vault: string): VaultSettings {
  const settings = resolveSettings({}, { env, home, vault })
  const { stateDir, doneFolder } = settings
  if (isPresent(vault, doneFolder) || findVault(vault, settings) === vault) return settings
  throw new RalphError(
    'usage',
    `${vault} is no vault: it has neither ${NEEDS_ACTION} nor ${doneFolder} nor ${stateDir}. Make it one, then try again: ${printCommandLine(['mkdir', join(vault, NEEDS_ACTION)])}`,
  )
}

export function openDesk(context: Context, vault: string): VaultDesk {
  const { env, home, now, store } = context
  return {
    vault,
    home,
    env,
    now,
    note: noteBeside(context),
    histories: new Map(),
    settings: resolveSettings({}, { env, home, vault }),
    store: store(),
  }
}

/** After a loop was moved outside of the task API, and nobody holds it: the files of its task follow. */
export async function keepVaultTrue(context: Context, { id, spec }: Loop): Promise<Loop> {
  const { vault } = spec.work
  if (vault && existsSync(vault.path)) {
    const desk = openDesk(context, vault.path)
    if (desk.store.loadTask(vault.path, vault.id)?.loop === id) await seeTo(desk, vault.id)
  }
  return context.store().load(id)
}

/** Beside what is printed for programs. */
export function noteBeside({ err }: Context): (text: string) => void {
  return (text) => err.write(`ralph: ${text}\n`)
}

/** Which vault a command is about, and the desk to work on it from the command line. */
import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Loop } from '../../engine/loop.ts'
import { RalphError } from '../../error.ts'
import type { VaultDesk } from '../../vault/desk.ts'
import { findVault, NEEDS_ACTION, openVault } from '../../vault/place.ts'
import { resolveSettings } from '../../vault/settings.ts'
import { noteTrouble, publish, settleTask } from '../../vault/tasks.ts'
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

/** What nobody has made a vault has no tasks to tell of. */
export function mustBeVault({ env, home }: Context, vault: string): void {
  const { stateDir } = resolveSettings({}, { env, home, vault })
  if (findVault(vault, { stateDir }) === vault) return
  throw new RalphError(
    'usage',
    `${vault} is no vault: it has neither ${NEEDS_ACTION} nor ${stateDir}. Make it one: put task files into a folder ${NEEDS_ACTION} there.`,
  )
}

export function openDesk({ env, home, now, store }: Context, vault: string): VaultDesk {
  return {
    ...{ vault, home, env, now, note, histories: new Map() },
    settings: resolveSettings({}, { env, home, vault }),
    store: store(),
  }
}

/** After a loop was moved outside of the task API: the files of its task follow. */
export async function keepVaultTrue(context: Context, loop: Loop): Promise<void> {
  const task = taskOf(context, loop)
  if (task) await noteTrouble(task.desk, () => publish(task.desk, task.id))
}

/** The same once nobody holds it: a task whose file is gone is given up. */
export async function seeTo(context: Context, loop: Loop): Promise<Loop> {
  const task = taskOf(context, loop)
  if (!task) return loop
  await noteTrouble(task.desk, () => settleTask(task.desk, task.id))
  return context.store().load(loop.id)
}

function taskOf(context: Context, { id, spec }: Loop): { desk: VaultDesk; id: string } | undefined {
  const { vault } = spec.work
  if (!vault || !existsSync(vault.path)) return undefined
  const desk = openDesk(context, vault.path)
  return desk.store.loadTask(vault.path, vault.id)?.loop === id ? { desk, id: vault.id } : undefined
}

/** Beside what is printed for programs. */
export function note(text: string): void {
  process.stderr.write(`ralph: ${text}\n`)
}

/** Finds the vault of an operation, and the desk to work on it. */
import { dirname, join, resolve } from 'node:path'
import { RalphError } from '../error.ts'
import { printCommandLine } from '../formats/command-line.ts'
import { DEFAULTS } from '../request/defaults.ts'
import type { VaultDesk } from '../vault/desk.ts'
import { findVault, isPresent, NEEDS_ACTION, openVault } from '../vault/place.ts'
import { resolveSettings, type VaultSettings } from '../vault/settings.ts'
import type { Context } from './operation.ts'

/** `named`: the given folder. `file`: the task file. Without either: RALPH_VAULT, or the vault that contains the current folder. */
export function vaultFor(
  { cwd, env }: Pick<Context, 'cwd' | 'env'>,
  { named, file }: { named?: string; file?: string } = {},
): string {
  const given = named ?? (env.RALPH_VAULT || undefined)
  if (given !== undefined) return openVault(resolve(cwd, given))
  const marks = { stateDir: env.RALPH_STATE_DIR || DEFAULTS.stateDir }
  const found =
    (file === undefined ? undefined : findVault(dirname(resolve(cwd, file)), marks)) ?? findVault(cwd, marks)
  if (found !== undefined) return openVault(found)
  throw new RalphError(
    'usage',
    `No vault found: neither ${cwd} nor any folder above it contains ${NEEDS_ACTION}. Change into a vault, name it (--vault DIR, or ralph briefing DIR), or set RALPH_VAULT.`,
  )
}

/** A folder that is not a vault has no tasks, and a hook there would have no effect. Returns the settings. */
export function mustBeVault({ env, home }: Pick<Context, 'env' | 'home'>, vault: string): VaultSettings {
  const settings = resolveSettings({}, { env, home, vault })
  const { stateDir, doneFolder } = settings
  if (isPresent(vault, doneFolder) || findVault(vault, settings) === vault) return settings
  throw new RalphError(
    'usage',
    `${vault} is not a vault: it contains none of ${NEEDS_ACTION}, ${doneFolder} and ${stateDir}. Make it one, then try again: ${printCommandLine(['mkdir', join(vault, NEEDS_ACTION)])}`,
  )
}

export function openDesk(
  { env, home, now, note, store }: Context,
  vault: string,
  given: Partial<VaultSettings> = {},
): VaultDesk {
  const settings = resolveSettings(given, { env, home, vault })
  return { vault, home, env, now, note, histories: new Map(), settings, store: store() }
}

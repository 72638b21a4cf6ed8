/** The settings of a vault: arguments override the environment, then config files, then defaults. */
import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { type ErrorCode, RalphError } from '../error.ts'
import type { Config } from '../formats/config.ts'
import { quote } from '../formats/json-file.ts'
import { configsIn, loadConfig } from '../host/config.ts'
import { DEFAULTS } from '../request/defaults.ts'
import { proofConfig } from '../request/resolve.ts'

export type VaultSettings = {
  maxIterations: number
  timeoutMinutes: number
  /** Folders inside the vault. */
  stateDir: string
  doneFolder: string
  checkIntervalSeconds: number
  /** How long a file must be unchanged to count as complete. */
  quietSeconds: number
  /** The proof settings of the config, if any. */
  proof?: Config
}

/** `vault` is its real path. */
export type SettingsPlace = { env: Readonly<Record<string, string | undefined>>; home: string; vault: string }

export function resolveSettings(given: Partial<VaultSettings>, { env, home, vault }: SettingsPlace): VaultSettings {
  const files = [vault, home].flatMap(configsIn)
  const find = (name: keyof VaultSettings, key: keyof typeof USUAL): Found => {
    if (given[name] !== undefined) return { source: name, value: given[name], code: 'usage' }
    const variable = `RALPH_${key.toUpperCase()}`
    if (env[variable]) return { source: variable, value: env[variable], code: 'usage' }
    const said = files.find(({ config }) => config[key] !== undefined)
    if (said && !isAuto(key, said.config[key]))
      return { source: `${key} of ${said.path}`, value: said.config[key], code: 'input-invalid' }
    return { source: key, value: USUAL[key], code: 'usage' }
  }
  const proof = proofConfig(loadConfig(home, vault))
  const [state, done] = [find('stateDir', 'state_dir'), find('doneFolder', 'done_folder')]
  const [stateDir, doneFolder] = [folderBelow(vault, state), folderBelow(vault, done)]
  if (stateDir === doneFolder)
    throw done.source === 'done_folder'
      ? wrong(state, `a different folder from ${done.source}`)
      : wrong(done, `a different folder from ${state.source}`)
  return {
    maxIterations: numberOf(find('maxIterations', 'max_iterations'), ITERATIONS),
    timeoutMinutes: numberOf(find('timeoutMinutes', 'timeout_minutes'), MINUTES),
    stateDir,
    doneFolder,
    checkIntervalSeconds: numberOf(find('checkIntervalSeconds', 'check_interval_seconds'), SECONDS),
    quietSeconds: numberOf(find('quietSeconds', 'quiet_seconds'), SECONDS),
    ...(Object.keys(proof).length > 0 ? { proof } : {}),
  }
}

/** An estimated limit is for `ralph run`, which shares this file: a vault uses its default. */
function isAuto(key: keyof typeof USUAL, value: unknown): boolean {
  return key === 'max_iterations' && value === 'auto'
}

const USUAL = {
  max_iterations: DEFAULTS.iterations,
  timeout_minutes: DEFAULTS.vaultMinutes,
  state_dir: DEFAULTS.stateDir,
  done_folder: DEFAULTS.doneFolder,
  check_interval_seconds: DEFAULTS.checkIntervalSeconds,
  quiet_seconds: DEFAULTS.quietSeconds,
} as const

/** `code` is the error code. */
type Found = { source: string; value: unknown; code: ErrorCode }

type Range = { fits: (number: number) => boolean; expected: string }

const ITERATIONS: Range = {
  fits: (number) => Number.isSafeInteger(number) && number >= 1,
  expected: 'a whole number above 0 (a vault needs a number)',
}
const MINUTES: Range = {
  fits: (number) => number > 0 && number <= 525_600,
  expected: 'a number of minutes above 0, at most 525600',
}
const SECONDS: Range = {
  fits: (number) => number >= 0.1 && number <= 3_600,
  expected: 'a number of seconds from 0.1 to 3600',
}

function numberOf(found: Found, { fits, expected }: Range): number {
  const { source, value } = found
  const isWritten = source.startsWith('RALPH_') && /^(?:\d{1,15}(?:\.\d{1,15})?|\.\d{1,15})$/.test(String(value).trim())
  const number = isWritten ? Number(value) : value
  if (typeof number !== 'number' || !fits(number)) throw wrong(found, expected)
  return number
}

/** Folders with another meaning: a waiting task must not count as done. */
const TAKEN: readonly string[] = ['Needs_Action', 'Pending_Approval', 'Failed']

function folderBelow(vault: string, found: Found): string {
  const { value } = found
  if (typeof value !== 'string' || value.trim() === '' || /\p{Cc}/u.test(value))
    throw wrong(found, 'the name of a folder')
  const path = resolve(vault, value)
  // An absolute path may lead there through a link, like the vault's own path.
  const below = partBelow(vault, path) ?? partBelow(vault, realPath(path))
  if (below === undefined) throw wrong(found, `a folder inside the vault ${vault}`)
  if (TAKEN.includes(below)) throw wrong(found, `a separate folder, not one of ${TAKEN.join(', ')}`)
  return below
}

function partBelow(vault: string, path: string): string | undefined {
  const part = relative(vault, path)
  return part === '' || part === '..' || part.startsWith(`..${sep}`) || isAbsolute(part) ? undefined : part
}

function realPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : join(realPath(dirname(path)), basename(path))
}

function wrong({ source, value, code }: Found, expected: string): RalphError {
  return new RalphError(code, `${source} must be ${expected}, got ${quote(value)}.`)
}

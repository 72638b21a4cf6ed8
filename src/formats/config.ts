/** ralph.config.json: settings of a project or a user. The `ralph:` section of config.yaml has the same keys. */
import { type Grade, REQUIRABLE } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { parseCommandLine } from './command-line.ts'
import { GLOBS_SUCH_AS, globTrouble } from './glob.ts'
import { isCount, isTexts, readJson } from './json-file.ts'
import { nearest } from './nearest.ts'
import { SERVICE_NAMES } from './services.ts'

export type Config = {
  agent?: string
  max_iterations?: number | 'auto'
  completion_promise?: string
  completion_signals?: string[]
  verify?: string[]
  timeout_minutes?: number
  max_cost_usd?: number
  circuit_breaker?: { no_progress_limit?: number; same_error_limit?: number; cooldown_minutes?: number }
  overload_minutes?: number
  on_limit?: 'wait' | 'stop'
  notify_webhook?: string
  worktree_files?: string[]
  worktree_setup?: string
  proof?: 'off' | 'seal' | 'full'
  require?: Grade
  protect?: string[]
  may_change?: string[]
  proof_minutes?: number
  proof_setup?: string
  mcp?: boolean
  sandbox?: boolean | 'strict'
  sandbox_allow?: string[]
  transcript_mb?: number
  state_dir?: string
  done_folder?: string
  check_interval_seconds?: number
  quiet_seconds?: number
}

const isNumber = (value: unknown) => typeof value === 'number' && Number.isFinite(value) && value >= 0
const isYesOrNo = (value: unknown) => typeof value === 'boolean'
const isText = (value: unknown) => typeof value === 'string'
const isGlobs = (value: unknown) => isTexts(value) && value.every((glob) => globTrouble(glob) === undefined)

/** A command line that can be split into words. */
export function isCommand(value: unknown): boolean {
  try {
    return typeof value === 'string' && parseCommandLine(value).length > 0
  } catch {
    return false // the message quotes the value
  }
}

export const COMMAND = "a command, run without a shell (for && and the like, use a script or sh -c '…')"

/** `item`: what each list item must be, if more than a string. `only`: the only file that may have the key. */
export type Key = { fits: (value: unknown) => boolean; expected: string; item?: string; only?: ConfigFile }
export type Keys = Readonly<Record<string, Key>>
type ConfigFile = 'ralph.config.json' | 'config.yaml'

const KEYS: Readonly<Record<keyof Config | 'enabled' | 'max_total_cost_usd', Key>> = {
  enabled: { fits: isYesOrNo, expected: 'true or false', only: 'config.yaml' },
  agent: { fits: isText, expected: 'a string' },
  max_iterations: { fits: (value) => isCount(value) || value === 'auto', expected: 'a whole number or "auto"' },
  completion_promise: { fits: isText, expected: 'a string' },
  completion_signals: { fits: isTexts, expected: 'a list of strings' },
  verify: { fits: isTexts, expected: 'a list of commands' },
  timeout_minutes: { fits: isNumber, expected: 'a non-negative number' },
  max_cost_usd: { fits: isNumber, expected: 'a non-negative number' },
  max_total_cost_usd: { fits: isNumber, expected: 'a non-negative number', only: 'config.yaml' },
  circuit_breaker: { fits: (value) => typeof value === 'object' && value !== null, expected: 'an object' },
  overload_minutes: { fits: isNumber, expected: 'a non-negative number' },
  on_limit: { fits: (value) => value === 'wait' || value === 'stop', expected: 'wait or stop' },
  notify_webhook: { fits: (value) => isText(value) && /^https?:\/\//.test(String(value)), expected: 'an http URL' },
  worktree_files: { fits: isTexts, expected: 'a list of paths' },
  worktree_setup: { fits: isCommand, expected: COMMAND },
  proof: {
    fits: (value) => isText(value) && ['off', 'seal', 'full'].includes(String(value)),
    expected: 'off, seal or full',
  },
  require: { fits: (value) => REQUIRABLE.some((grade) => grade === value), expected: 'verified, tested or kept' },
  protect: { fits: isGlobs, expected: `a list of globs ${GLOBS_SUCH_AS}`, item: `a glob ${GLOBS_SUCH_AS}` },
  may_change: { fits: isGlobs, expected: `a list of globs ${GLOBS_SUCH_AS}`, item: `a glob ${GLOBS_SUCH_AS}` },
  proof_minutes: { fits: (value) => isNumber(value) && value !== 0, expected: 'a number above 0' },
  proof_setup: { fits: isCommand, expected: COMMAND },
  mcp: { fits: isYesOrNo, expected: 'true or false' },
  sandbox: { fits: (value) => isYesOrNo(value) || value === 'strict', expected: 'true, false or "strict"' },
  sandbox_allow: {
    fits: (value) => isTexts(value) && value.every((name) => SERVICE_NAMES.includes(name)),
    expected: `a list of services (${SERVICE_NAMES.join(', ')})`,
    item: `a service (${SERVICE_NAMES.join(', ')})`,
  },
  transcript_mb: { fits: (value) => isNumber(value) && value !== 0, expected: 'a number above 0' },
  state_dir: { fits: isText, expected: 'a folder in the vault', only: 'ralph.config.json' },
  done_folder: { fits: isText, expected: 'a folder in the vault', only: 'ralph.config.json' },
  check_interval_seconds: { fits: isNumber, expected: 'a non-negative number', only: 'ralph.config.json' },
  quiet_seconds: { fits: isNumber, expected: 'a non-negative number', only: 'ralph.config.json' },
}

const BREAKER_KEYS: Keys = {
  no_progress_limit: { fits: (value) => isCount(value) && value !== 0, expected: 'a whole number above 0' },
  same_error_limit: { fits: (value) => isCount(value) && value !== 0, expected: 'a whole number above 0' },
  cooldown_minutes: { fits: isNumber, expected: 'a non-negative number' },
}

/** The keys that a file may have, and those of its `circuit_breaker`. */
export function keysOf(file: ConfigFile): { top: Keys; breaker: Keys } {
  const own = (keys: Keys) => Object.fromEntries(Object.entries(keys).filter(([, { only = file }]) => only === file))
  return { top: own(KEYS), breaker: own(BREAKER_KEYS) }
}

/** Unknown keys and invalid values are errors, so that a misspelt limit is never silently ignored. */
export function parseConfig(text: string, file: string): Config {
  const read = readJson(text)
  if ('problem' in read) throw invalid(file, read.problem.slice(0, -1))
  const { value } = read
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid(file, 'it must contain one object')
  const config: Config = value
  const { top, breaker } = keysOf('ralph.config.json')
  checkKeys(config, top, file, '')
  if (config.circuit_breaker) checkKeys(config.circuit_breaker, breaker, file, 'circuit_breaker.')
  return config
}

function checkKeys(value: object, keys: Keys, file: string, prefix: string): void {
  for (const [name, found] of Object.entries(value)) {
    const key = Object.hasOwn(keys, name) ? keys[name] : undefined
    const close = nearest(name, Object.keys(keys))
    if (!key)
      throw invalid(
        file,
        `unknown key "${prefix}${name}"${close ? `; did you mean "${close}"?` : '.'} Known: ${Object.keys(keys).join(', ')}`,
      )
    if (!key.fits(found)) throw invalid(file, `${prefix}${name} must be ${key.expected}, got ${JSON.stringify(found)}`)
  }
}

function invalid(file: string, what: string): RalphError {
  return new RalphError('input-invalid', `${file}: ${what}.`)
}

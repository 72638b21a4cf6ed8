/** Parses the arguments of `/ralph:resume`: the loop and its new limits. */
import { RalphError } from '../error.ts'

export type ResumeCommand = {
  loop?: string
  limits: { iterations?: number; minutes?: number; tokens?: number; costUsd?: number }
}

const OPTIONS = {
  'max-iterations': { field: 'iterations', fits: /^\d{1,9}$/, expected: 'a whole number' },
  timeout: { field: 'minutes', fits: /^(?!0+(\.0+)?$)\d{1,9}(\.\d+)?$/, expected: 'a number of minutes above 0' },
  'max-tokens': { field: 'tokens', fits: /^0*[1-9]\d{0,11}$/, expected: 'a whole number above 0' },
  'max-cost': { field: 'costUsd', fits: /^(?!0+(\.0+)?$)\d{1,9}(\.\d+)?$/, expected: 'a number above 0' },
} as const

export function parseResumeCommand(text: string): ResumeCommand {
  const words = text.trim().split(/\s+/).filter(Boolean)
  const command: ResumeCommand = { limits: {} }
  for (let at = 0; at < words.length; at++) {
    const [, name, own] = /^--([a-z-]+)(?:=(.*))?$/.exec(words[at] ?? '') ?? []
    if (name === undefined) {
      if (command.loop !== undefined) throw new RalphError('usage', "Name one loop, or none for this session's loop.")
      command.loop = words[at] ?? ''
      continue
    }
    if (!isOption(name))
      throw new RalphError('usage', `Unknown option: --${name}. Known: --${Object.keys(OPTIONS).join(', --')}.`)
    const { field, fits, expected } = OPTIONS[name]
    const value = own ?? words[++at]
    if (value === undefined) throw new RalphError('usage', `--${name} needs a value.`)
    if (!fits.test(value)) throw new RalphError('usage', `--${name} must be ${expected}, got "${value}".`)
    command.limits[field] = Number(value)
  }
  return command
}

function isOption(name: string): name is keyof typeof OPTIONS {
  return Object.hasOwn(OPTIONS, name)
}

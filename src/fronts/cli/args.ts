/** Command lines: each command has a table of options, which is parsed strictly and printed as help. */
import { RalphError } from '../../error.ts'
import { nearest } from '../../formats/nearest.ts'

export type Option = {
  /** Placeholder for the value in the help. Absent: the option is a switch. */
  value?: string
  /** The value may be left out, and must follow `=` if given. */
  optional?: true
  many?: true
  /** One-letter form, as in `-o`. */
  short?: string
  help: string
}

export type CommandSpec = {
  name: string
  /** What follows `ralph NAME`, such as `LOOP [N]`. */
  words: string
  summary: string
  about?: string
  options: Readonly<Record<string, Option>>
  examples?: readonly (readonly [command: string, what: string])[]
}

export type Args = {
  /** The command these arguments belong to. */
  spec: CommandSpec
  words: string[]
  /** Everything after `--`. */
  rest: string[]
  flag(name: string): boolean
  text(name: string): string | undefined
  many(name: string): string[]
  /** A whole number such as 8 or 08; never -1, ten or 1e3. */
  whole(name: string, least?: number): number | undefined
  /** A number that may have a fraction. */
  amount(name: string): number | undefined
}

/** `mostWords`: how many positional arguments the command takes. */
export function parseArgs(
  spec: CommandSpec,
  argv: readonly string[],
  mostWords: number = Number.POSITIVE_INFINITY,
): Args {
  const end = argv.indexOf('--')
  const own = end < 0 ? argv : argv.slice(0, end)
  const given = new Map<string, string[]>()
  const words: string[] = []
  for (let at = 0; at < own.length; at++) {
    const token = own[at] ?? ''
    const match = OPTION.exec(token)
    if (!match) {
      words.push(token)
      continue
    }
    const [name, option] = findOption(spec, match[1] ?? '')
    if (given.has(name) && !option.many) throw usage(spec, `--${name} can only be given once.`)
    if (option.value === undefined && match[2] !== undefined) throw usage(spec, `--${name} takes no value.`)
    if (option.value === undefined || (option.optional && match[2] === undefined)) {
      given.set(name, [])
      continue
    }
    const value = match[2] ?? own[++at]
    if (value === undefined || (match[2] === undefined && OPTION.test(value)))
      throw usage(spec, `--${name} needs a value: --${name} ${option.value}.`)
    given.set(name, [...(given.get(name) ?? []), value])
  }
  if (words.length > mostWords) throw usage(spec, `Unexpected argument: "${words[mostWords]}".`)
  const text = (name: string) => given.get(name)?.at(-1)
  return {
    spec,
    words,
    rest: end < 0 ? [] : argv.slice(end + 1),
    flag: (name) => given.has(name),
    text,
    many: (name) => given.get(name) ?? [],
    whole(name, least = 0) {
      const value = text(name)
      if (value === undefined) return undefined
      if (/^\d{10,}$/.test(value)) throw usage(spec, `--${name} must be at most 999999999, got "${value}".`)
      if (!/^\d+$/.test(value) || Number(value) < least)
        throw usage(
          spec,
          `--${name} must be a whole number${least > 0 ? ` of at least ${least}` : ''}, got "${value}".`,
        )
      return Number(value)
    },
    amount(name) {
      const value = text(name)
      if (value === undefined) return undefined
      if (!/^\d{1,9}(\.\d+)?$/.test(value) || Number(value) === 0)
        throw usage(spec, `--${name} must be a number above 0, got "${value}".`)
      return Number(value)
    },
  }
}

/** Finds an option by its name or its letter. */
function findOption(spec: CommandSpec, typed: string): readonly [name: string, option: Option] {
  const found = Object.entries(spec.options).find(([name, { short }]) => name === typed || short === typed)
  if (!found) throw unknownOption(spec, typed)
  return found
}

// Only dashes, a negative number, or other text that merely starts with a dash is an argument, not an option.
const OPTION = /^-{1,2}([a-zA-Z][a-zA-Z0-9-]*)(?:=([\s\S]*))?$/

/** The help of a command: what it does, how to call it, its options, and examples. */
export function printHelp(spec: CommandSpec): string {
  const rows = Object.entries(spec.options).map(
    ([name, option]) =>
      [`${option.short ? `-${option.short}, ` : ''}--${name}${valueIn(option)}`, option.help] as const,
  )
  const width = Math.max(0, ...rows.map(([left]) => left.length))
  return [
    spec.summary,
    '',
    `  ralph ${spec.name} ${spec.words}`.trimEnd(),
    ...(spec.about ? ['', spec.about] : []),
    ...(rows.length > 0 ? ['', 'Options:', ...rows.map(([left, help]) => `  ${left.padEnd(width)}  ${help}`)] : []),
    ...(spec.examples
      ? ['', 'Examples:', ...spec.examples.flatMap(([command, what]) => [`  # ${what}`, `  ${command}`])]
      : []),
    '',
  ].join('\n')
}

function valueIn({ value, optional }: Option): string {
  if (value === undefined) return ''
  return optional ? `[=${value}]` : ` ${value}`
}

export function usage(spec: CommandSpec, message: string): RalphError {
  return new RalphError('usage', `${message} See \`ralph ${spec.name} --help\`.`)
}

function unknownOption(spec: CommandSpec, name: string): RalphError {
  const close = nearest(name, Object.keys(spec.options))
  const dashes = name.length === 1 ? '-' : '--'
  return usage(spec, `Unknown option: ${dashes}${name}.${close ? ` Did you mean --${close}?` : ''}`)
}

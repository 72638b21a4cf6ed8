/** `--database`: commands about loops use the database of a fleet instead of the local one. */
import { maskUrl } from '../../host/repo-url.ts'
import { type CommandSpec, type Option, usage } from './args.ts'
import type { Command } from './context.ts'

const DATABASE: Option = {
  value: 'URL',
  help: 'fleet database to use, postgres://user@host/name (or RALPH_DATABASE); none: the local database',
}

/** Adds the option to a command; `takeDatabase` removes it from the arguments before the command runs. */
export function onDatabase({ spec, verbs, ...command }: Command): Command {
  const widened = (one: CommandSpec): CommandSpec => ({ ...one, options: { ...one.options, database: DATABASE } })
  const all = verbs && Object.fromEntries(Object.entries(verbs).map(([name, verb]) => [name, widened(verb)]))
  return { ...command, spec: widened(spec), ...(all ? { verbs: all } : {}), onDatabase: true }
}

/** `trouble`: the usage error, thrown later where it can be printed. */
export type Taken = { argv: readonly string[]; database?: string; trouble?: Error }

/** Splits the arguments into the database, which may come from the environment, and the rest. */
export function takeDatabase(
  command: Command | undefined,
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Taken {
  if (!command?.onDatabase) return { argv }
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length
  const at = argv.findIndex((word, index) => index < end && /^--?database(=|$)/.test(word))
  if (at < 0) return { argv, ...named(env.RALPH_DATABASE) }
  const [, inWord] = /=([\s\S]*)$/.exec(argv[at] ?? '') ?? []
  const value = inWord ?? (at + 1 < end ? argv[at + 1] : undefined)
  if (!value || value.startsWith('-'))
    return { argv, trouble: usage(command.spec, '--database needs a value: --database URL.') }
  const rest = [...argv.slice(0, at), ...argv.slice(at + (inWord === undefined ? 2 : 1))]
  return { argv: rest, ...named(value) }
}

function named(value: string | undefined): Pick<Taken, 'database'> {
  return value && value !== 'none' ? { database: value } : {}
}

/** Text without the passwords of URLs. The database URL may be malformed, so it is masked as a whole. */
export function withoutPasswords(text: string, database: string | undefined): string {
  return maskUrl(database ? text.replaceAll(database, '***') : text)
}

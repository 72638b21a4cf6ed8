/** `--database`: commands about loops use the database of a fleet instead of the one on this machine. */
import { maskUrl } from '../../host/repo-url.ts'
import { type CommandSpec, type Option, usage } from './args.ts'
import type { Command } from './context.ts'

const DATABASE: Option = {
  value: 'URL',
  help: 'fleet database to use, postgres://user@host/name (or RALPH_DATABASE); none: the local database',
}

/** The command with this option, which `takeDatabase` takes out before it is run. */
export function onDatabase({ spec, verbs, ...command }: Command): Command {
  const widened = (one: CommandSpec): CommandSpec => ({ ...one, options: { ...one.options, database: DATABASE } })
  const all = verbs && Object.fromEntries(Object.entries(verbs).map(([name, verb]) => [name, widened(verb)]))
  return { ...command, spec: widened(spec), ...(all ? { verbs: all } : {}), onDatabase: true }
}

/** `trouble`: what is wrong with it, for whoever can tell. */
export type Taken = { argv: readonly string[]; database?: string; trouble?: Error }

/** The words of a command line without the database, and the database that they or the environment name. */
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

/** A text for people, without the password of any URL. That of the database may look odd, so it goes as a whole. */
export function withoutPasswords(text: string, database: string | undefined): string {
  return maskUrl(database ? text.replaceAll(database, '***') : text)
}

/** The command line: finds the command, runs it, and turns errors into a message and an exit code. */
import { type ErrorCode, isRalphError, RalphError } from '../../error.ts'
import { nearest } from '../../formats/nearest.ts'
import { unlessShortage } from '../../host/plain-words.ts'
import { TaskError } from '../../operations/vault-tasks.ts'
import { given } from '../../request/given.ts'
import { printHelp } from './args.ts'
import { COMMANDS } from './commands.ts'
import { type Command, type Context, type Machine, openContext, specFor } from './context.ts'
import { takeDatabase, withoutPasswords } from './database.ts'
import { jsonLine } from './text.ts'
import { withTrust } from './trust.ts'

/** Runs one command line; the number is the exit code. */
export async function main(
  argv: readonly string[],
  ralph: Pick<Context, 'root' | 'version'>,
  machine: Machine = process,
): Promise<number> {
  const [name, ...words] = argv
  const taken = takeDatabase(name === undefined ? undefined : COMMANDS[name], words, machine.env)
  const context = openContext({ ...ralph, ...given({ database: taken.database }) }, machine)
  try {
    if (taken.trouble) throw taken.trouble
    const rest = taken.argv
    if (name === undefined || isHelp(name)) {
      const [topic, ...verb] = name === 'help' ? rest : []
      context.out.write(topic === undefined ? overview() : printHelp(specFor(find(topic), verb)))
      return name === undefined ? 2 : 0
    }
    const command = find(name)
    const asked = rest.slice(0, rest.includes('--') ? rest.indexOf('--') : undefined)
    if (asked.includes('--help') || asked.includes('-h')) {
      context.out.write(printHelp(specFor(command, rest)))
      return 0
    }
    return await withTrust(context, rest, () => command.run(rest, context))
  } catch (cause) {
    return report(unlessShortage(cause), context, argv.includes('--json'))
  } finally {
    await context.close()
  }
}

function isHelp(word: string): boolean {
  return word === 'help' || word === '--help' || word === '-h'
}

function find(name: string): Command {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (command) return command
  const close = nearest(name, Object.keys(COMMANDS))
  throw new RalphError(
    'usage',
    `Unknown command: "${name}".${close ? ` Did you mean "ralph ${close}"?` : ''} \`ralph help\` lists all commands.`,
  )
}

function overview(): string {
  const rows = Object.values(COMMANDS).map(({ spec }) => `  ${spec.name.padEnd(9)} ${spec.summary}`)
  return `ralph runs a coding agent in a loop on one task until the task is proven done.

  ralph run "Make the tests pass" --verify "npm test"

Commands:
${rows.join('\n')}

\`ralph help COMMAND\` describes a command. \`ralph demo\` shows ralph at work; it needs no account or API key.
`
}

const EXIT_CODES: Readonly<Record<ErrorCode, number>> = {
  usage: 2,
  'input-invalid': 2,
  'agent-unknown': 2,
  'loop-unknown': 2,
  'agent-missing': 3,
  'agent-unusable': 3,
  'loop-held': 1,
  'loop-ended': 1,
  'loop-state': 2,
  'comment-unknown': 2,
  'lease-lost': 1,
  'below-turn': 2,
  'pass-invalid': 2,
  'home-unusable': 1,
  'disk-full': 1,
  'machine-limit': 1,
  'database-newer': 1,
  'database-broken': 1,
  'database-locked': 1,
  'database-missing': 1,
  'database-older': 1,
  'database-unreachable': 1,
  'database-refused': 1,
  'checkpoint-missing': 2,
  'git-failed': 1,
  'setup-failed': 1,
  'secret-missing': 1,
  'sandbox-missing': 3,
  'config-changed': 2,
  'tmux-missing': 3,
  'tmux-failed': 1,
  'pane-unknown': 2,
  'dispatch-held': 1,
  'project-unknown': 2,
  'project-held': 1,
  'tasks-invalid': 2,
  'template-invalid': 2,
  'interview-failed': 1,
  'file-unusable': 1,
  declined: 1,
  unconfirmed: 1,
  'task-unknown': 2,
  'task-state': 1,
  'task-changed': 1,
  'task-limit': 1,
  'task-timeout': 1,
  'state-corrupted': 1,
  'state-file': 1,
  'server-running': 1,
  'port-taken': 1,
  'server-unreachable': 1,
  'handed-back': 1,
}

function report(cause: unknown, { out, err, database }: Context, json: boolean): number {
  const shown = (text: string) => withoutPasswords(text, database)
  if (!isRalphError(cause)) {
    err.write(
      `ralph: this is a bug in ralph. Please report it and include the lines below.\n${shown(String(cause instanceof Error ? cause.stack : cause))}\n`,
    )
    return 1
  }
  const { code } = cause
  const message = shown(cause.message)
  // Errors of the task API print in the form its callers expect.
  const response = cause instanceof TaskError ? cause : { type: 'error', code, message }
  if (json) out.write(jsonLine(response))
  err.write(`ralph: ${message}\n`)
  return EXIT_CODES[code]
}

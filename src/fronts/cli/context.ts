/** What every command needs: clock, environment, streams, and the store. */
import type { Readable, Writable } from 'node:stream'
import { openContext as openOperations } from '../../operations/context.ts'
import type { Context as OperationContext } from '../../operations/operation.ts'
import { given } from '../../request/given.ts'
import type { CommandSpec } from './args.ts'
import { type Output, openOutput, openWriter } from './text.ts'

/** The process a command line runs in, with Node's names. */
export type Machine = {
  env: Readonly<Record<string, string | undefined>>
  cwd(): string
  stdin: Readable & { isTTY?: boolean }
  stdout: Writable & { isTTY?: boolean; columns?: number }
  stderr: Writable
}

/** What an operation needs, and where the command prints. */
export type Context = OperationContext & {
  version: string
  out: Output
  /** For messages that must not mix with output for programs. */
  err: Pick<Output, 'write'>
  machine: Machine
}

/** A command: its table for help and parsing, and what it does. The number is the exit code. */
export type Command = {
  spec: CommandSpec
  /** The table of each verb, for a command with verbs. */
  verbs?: Readonly<Record<string, CommandSpec>>
  /** It accepts `--database`. */
  onDatabase?: true
  run(argv: readonly string[], context: Context): Promise<number>
}

/** The table for these arguments. */
export function specFor({ spec, verbs = {} }: Command, [verb = '']: readonly string[]): CommandSpec {
  return (Object.hasOwn(verbs, verb) && verbs[verb]) || spec
}

export function openContext(
  { root, version, database }: Pick<Context, 'root' | 'version' | 'database'>,
  machine: Machine,
): Context {
  const err = openWriter(machine.stderr)
  const note = (text: string) => err.write(`ralph: ${text}\n`)
  // Agents and checks get this environment, and must not see the password of the database.
  const { RALPH_DATABASE: _, ...env } = machine.env
  const context = openOperations({ root, note, env, cwd: () => machine.cwd(), ...given({ database }) })
  // Not spread, because `cwd` is a getter.
  return Object.assign(context, { version, out: openOutput(machine), err, machine })
}

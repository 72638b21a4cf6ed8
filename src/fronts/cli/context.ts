/** What every command works with: the machine's clock, environment and streams, and the store behind them. */
import type { Readable, Writable } from 'node:stream'
import { openContext as openOperations } from '../../operations/context.ts'
import type { Context as OperationContext } from '../../operations/operation.ts'
import { given } from '../../request/given.ts'
import type { CommandSpec } from './args.ts'
import { type Output, openOutput, openWriter } from './text.ts'

/** The process that a command line runs in, in Node's words. */
export type Machine = {
  env: Readonly<Record<string, string | undefined>>
  cwd(): string
  stdin: Readable & { isTTY?: boolean }
  stdout: Writable & { isTTY?: boolean; columns?: number }
  stderr: Writable
}

/** What an operation works with, and where its form is printed. */
export type Context = OperationContext & {
  version: string
  out: Output
  /** Beside what is printed for programs. */
  err: Pick<Output, 'write'>
  machine: Machine
}

/** A command: its table for help and parsing, and what it does. The number is the exit code. */
export type Command = {
  spec: CommandSpec
  /** Where its first word says what it does: the table of each. */
  verbs?: Readonly<Record<string, CommandSpec>>
  /** It works with the database of a fleet, where one is named. */
  onDatabase?: true
  run(argv: readonly string[], context: Context): Promise<number>
}

/** The table that these words of a command line are read by. */
export function specFor({ spec, verbs = {} }: Command, [verb = '']: readonly string[]): CommandSpec {
  return (Object.hasOwn(verbs, verb) && verbs[verb]) || spec
}

export function openContext(
  { root, version, database }: Pick<Context, 'root' | 'version' | 'database'>,
  machine: Machine,
): Context {
  const err = openWriter(machine.stderr)
  const note = (text: string) => err.write(`ralph: ${text}\n`)
  // Agents and checks get this environment: the password of a database is none of their business.
  const { RALPH_DATABASE: _, ...env } = machine.env
  const context = openOperations({ root, note, env, cwd: () => machine.cwd(), ...given({ database }) })
  // Not spread: its folder is looked up whenever it is asked for.
  return Object.assign(context, { version, out: openOutput(machine), err, machine })
}

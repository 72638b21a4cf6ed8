/** What every command works with: the machine's clock, environment and streams, and the store behind them. */
import { openContext as openOperations } from '../../operations/context.ts'
import type { Context as OperationContext } from '../../operations/operation.ts'
import type { CommandSpec } from './args.ts'
import { type Output, openOutput } from './text.ts'

/** What an operation works with, and where its form is printed. */
export type Context = OperationContext & { version: string; out: Output }

/** A command: its table for help and parsing, and what it does. The number is the exit code. */
export type Command = {
  spec: CommandSpec
  /** Where its first word says what it does: the table of each. */
  verbs?: Readonly<Record<string, CommandSpec>>
  run(argv: readonly string[], context: Context): Promise<number>
}

/** The table that these words of a command line are read by. */
export function specFor({ spec, verbs = {} }: Command, [verb = '']: readonly string[]): CommandSpec {
  return (Object.hasOwn(verbs, verb) && verbs[verb]) || spec
}

export function openContext(root: string, version: string): Context {
  const note = (text: string) => void process.stderr.write(`ralph: ${text}\n`)
  const context = openOperations({ root, note })
  // Not spread: its folder is looked up whenever it is asked for.
  return Object.assign(context, { version, out: openOutput(process.stdout, context.env) })
}

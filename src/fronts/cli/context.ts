/** What every command works with: the machine's clock, environment and streams, and the store behind them. */
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { RalphError } from '../../error.ts'
import { openStore } from '../../host/sqlite.ts'
import type { Store } from '../../host/store.ts'
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

export function openContext(root: string, version: string): Context & { close(): Promise<void> } {
  const { env } = process
  const home = resolve(env.RALPH_HOME || join(homedir(), '.ralph'))
  const now = Date.now
  let store: Store | undefined
  return {
    env,
    get cwd() {
      return whereWeStand()
    },
    home,
    version,
    root,
    out: openOutput(process.stdout, env),
    now,
    store: () => (store ??= openStore(home, now)),
    note: (text) => void process.stderr.write(`ralph: ${text}\n`),
    close: async () => store?.close(),
  }
}

function whereWeStand(): string {
  try {
    return process.cwd()
  } catch (cause) {
    throw new RalphError('home-unusable', 'The folder this was started in is gone. Go to one that exists.', { cause })
  }
}

/** What every command works with: the machine's clock, environment and streams, and the store behind them. */
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { RalphError } from '../../error.ts'
import { openStore } from '../../host/sqlite.ts'
import type { Store } from '../../host/store.ts'
import type { Context as OperationContext } from '../../operations/operation.ts'
import type { CommandSpec } from './args.ts'
import { type Output, openOutput } from './text.ts'

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
  run(argv: readonly string[], context: Context): Promise<number>
}

/** The table that these words of a command line are read by. */
export function specFor({ spec, verbs = {} }: Command, [verb = '']: readonly string[]): CommandSpec {
  return (Object.hasOwn(verbs, verb) && verbs[verb]) || spec
}

export function openContext(
  { root, version }: Pick<Context, 'root' | 'version'>,
  machine: Machine,
): Context & { close(): Promise<void> } {
  const { env } = machine
  const home = resolve(env.RALPH_HOME || join(homedir(), '.ralph'))
  const now = Date.now
  let store: Store | undefined
  return {
    env,
    get cwd() {
      return whereWeStand(machine)
    },
    home,
    version,
    root,
    out: openOutput(machine),
    err: { write: (text) => void machine.stderr.write(text) },
    machine,
    now,
    store: () => (store ??= openStore(home, now)),
    note: (text) => void machine.stderr.write(`ralph: ${text}\n`),
    close: async () => store?.close(),
  }
}

function whereWeStand({ cwd }: Machine): string {
  try {
    return cwd()
  } catch (cause) {
    throw new RalphError('home-unusable', 'The folder this was started in is gone. Go to one that exists.', { cause })
  }
}

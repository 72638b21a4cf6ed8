/** An operation: one thing that can be done to ralph from outside. Every front calls these and adds nothing but form. */
import { join } from 'node:path'
import type { Loop } from '../engine/loop.ts'
import { isLocked } from '../host/lock.ts'
import { SERVER_LOCK } from '../host/server-file.ts'
import type { Store } from '../host/store.ts'
import { hasQueue } from './queue.ts'

/** What every operation works with. */
export type Context = {
  env: Readonly<Record<string, string | undefined>>
  /** The folder that relative paths and project names begin at. */
  cwd: string
  home: string
  /** The URL of the database that is not in this home, but shared. */
  database?: string | undefined
  /** Where ralph is installed. */
  root: string
  now: () => number
  /** Sets its clock by the one that several machines share. Absent: it has one of its own. */
  follow?(time: number): void
  /** Who hears that loops of this process are alive. */
  beats?: Beats
  /** Opened when first asked for. */
  store(): Store
  /** Closes the store. Who asks for one afterwards gets a new one. */
  close(): Promise<void>
  /** Tells something that a person should know, once. */
  note: (text: string) => void
  /** Who drives loops here, in a process that stays. Absent: whoever asked drives it. */
  workers?: Workers
  /** Who puts tasks on the board through this. Absent: a person. */
  by?: 'person' | 'program' | 'agent'
  /** Finds the process that asks, where that is not this one. */
  caller?: () => Caller
  /** Tells the one who asked how it goes, while they wait. */
  progress?: (words: string) => void
  /** Who asked has gone. */
  signal?: AbortSignal
}

/** The store calls it whenever a loop of this process is shown to be alive. */
export type Beats = { onBeat?: (loop: string) => Promise<void> }

/** Its id. `gone`: it has ended, or hung up. Undefined: the system does not tell. */
export type Caller = number | 'gone' | undefined

export type Workers = {
  /** Goes on with a loop, as soon as there is room. */
  take(loop: string): void
  /** Something was queued. */
  look(): void
}

export type Operation<Input, Output> = {
  /** As programs call it. */
  name: string
  /** `destroy`: it ends or removes something. */
  effect: 'read' | 'write' | 'destroy'
  summary: string
  /** It is a tool for models, by this name, or by its own; `description` says when to use it, besides the summary. `idempotent`: doing it twice is doing it once. */
  agent?: { tool?: string; description?: string; openWorld?: true; idempotent?: true }
  /** What it tells is part of a report that is read without a server. */
  report?: true
  /** Only a person may do it, never an agent inside a loop. */
  person?: true
  run(context: Context, input: Input): Promise<Output>
}

/** A loop that somebody must drive now: workers do, here or in the server that has the board; else whoever asked. */
export async function handOver(
  context: Pick<Context, 'workers' | 'home' | 'store'>,
  { id: loop, spec }: Pick<Loop, 'id' | 'spec'>,
): Promise<{ loop: string; heard: 'driver' } | { loop: string; heard: 'nobody' }> {
  context.workers?.take(loop)
  const isServed = spec.work.owner?.kind === 'board' && (await isServedBy(context))
  return { loop, heard: context.workers || isServed ? 'driver' : 'nobody' }
}

/** Of a store that several machines use, any of them may have the server. */
async function isServedBy({ home, store }: Pick<Context, 'home' | 'store'>): Promise<boolean> {
  return store().shared ? hasQueue(store()) : isLocked(home, SERVER_LOCK)
}

/** The command line of one of ralph's own programs; `ralph` is the command itself. */
export function selfIn(root: string): (program: string) => string[] {
  const files = (program: string) => (program === 'ralph' ? ['bin', 'ralph.cjs'] : ['dist', `${program}.mjs`])
  return (program) => [process.execPath, join(root, ...files(program))]
}

/** An operation: one thing that can be done to ralph from outside. Every front calls these and adds only presentation. */
import { join } from 'node:path'
import type { Loop } from '../engine/loop.ts'
import { isLocked } from '../host/lock.ts'
import { SERVER_LOCK } from '../host/server-file.ts'
import type { Store } from '../host/store.ts'
import { hasQueue } from './queue.ts'

/** The context of every operation. */
export type Context = {
  env: Readonly<Record<string, string | undefined>>
  /** The base of relative paths and project names. */
  cwd: string
  home: string
  /** The URL of a shared database, instead of the one in this home. */
  database?: string | undefined
  /** Where ralph is installed. */
  root: string
  now: () => number
  /** Synchronizes with the clock that several machines share. Absent: it uses its own. */
  follow?(time: number): void
  /** Listener for heartbeats of loops of this process. */
  beats?: Beats
  /** Opened on first use. */
  store(): Store
  /** Closes the store. A later call opens a new one. */
  close(): Promise<void>
  /** Shows a note to the user, once. */
  note: (text: string) => void
  /** Drives loops in a long-running process. Absent: the caller drives them. */
  workers?: Workers
  /** Who creates board tasks through this context. Absent: a person. */
  by?: 'person' | 'program' | 'agent'
  /** Finds the calling process, if it is not this one. */
  caller?: () => Caller
  /** Reports progress to the waiting caller. */
  progress?: (words: string) => void
  /** Aborted when the caller has disconnected. */
  signal?: AbortSignal
}

/** Called by the store on every heartbeat of a loop of this process. */
export type Beats = { onBeat?: (loop: string) => Promise<void> }

/** Its id. `gone`: it has exited or disconnected. Undefined: the system does not say. */
export type Caller = number | 'gone' | undefined

export type Workers = {
  /** Continues a loop as soon as there is room. */
  take(loop: string): void
  /** Something was queued. */
  look(): void
}

export type Operation<Input, Output> = {
  /** As programs call it. */
  name: string
  /** `destroy`: ends or deletes something. */
  effect: 'read' | 'write' | 'destroy'
  summary: string
  /** A tool for models, under this name or its own; `description` adds when to use it to the summary. `idempotent`: doing it twice equals doing it once. */
  agent?: { tool?: string; description?: string; openWorld?: true; idempotent?: true }
  /** Its output is part of a report that is viewed without a server. */
  report?: true
  /** Only a person may do it, never an agent inside a loop. */
  person?: true
  run(context: Context, input: Input): Promise<Output>
}

/** Hands a loop to the workers, here or in the server of the board; without workers, the caller drives it. */
export async function handOver(
  context: Pick<Context, 'workers' | 'home' | 'store'>,
  { id: loop, spec }: Pick<Loop, 'id' | 'spec'>,
): Promise<{ loop: string; heard: 'driver' } | { loop: string; heard: 'nobody' }> {
  context.workers?.take(loop)
  const isServed = spec.work.owner?.kind === 'board' && (await isServedBy(context))
  return { loop, heard: context.workers || isServed ? 'driver' : 'nobody' }
}

/** With a shared store, the server may be on any machine. */
async function isServedBy({ home, store }: Pick<Context, 'home' | 'store'>): Promise<boolean> {
  return store().shared ? hasQueue(store()) : isLocked(home, SERVER_LOCK)
}

/** The command line of one of ralph's own programs; `ralph` is the command itself. */
export function selfIn(root: string): (program: string) => string[] {
  const files = (program: string) => (program === 'ralph' ? ['bin', 'ralph.cjs'] : ['dist', `${program}.mjs`])
  return (program) => [process.execPath, join(root, ...files(program))]
}

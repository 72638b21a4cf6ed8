/** An operation: one thing that can be done to ralph from outside. Every front calls these and adds nothing but form. */
import { join } from 'node:path'
import type { Store } from '../host/store.ts'

/** What every operation works with. */
export type Context = {
  env: Readonly<Record<string, string | undefined>>
  /** The folder that relative paths and project names begin at. */
  cwd: string
  home: string
  /** Where ralph is installed. */
  root: string
  now: () => number
  /** Opened when first asked for. */
  store(): Store
  /** Closes the store. Who asks for one afterwards gets a new one. */
  close(): Promise<void>
  /** Tells something that a person should know, once. */
  note: (text: string) => void
}

export type Operation<Input, Output> = {
  /** As programs call it. */
  name: string
  /** `destroy`: it ends or removes something. */
  effect: 'read' | 'write' | 'destroy'
  summary: string
  run(context: Context, input: Input): Promise<Output>
}

/** The command line of one of ralph's own programs. */
export function selfIn(root: string): (program: string) => string[] {
  return (program) => [process.execPath, join(root, 'dist', `${program}.mjs`)]
}

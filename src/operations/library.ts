/** The operations as a library: what a server, an MCP endpoint or any other program calls. */
import { join } from 'node:path'
import { openContext as open } from './context.ts'
import type { OperationName, Table } from './index.ts'
import type { Context, Operation } from './operation.ts'
import { SCHEMAS as CHECKED } from './schemas.ts'

export { RalphError } from '../error.ts'
export { call } from './call.ts'
export { OPERATIONS, type OperationName } from './index.ts'
export type { Context, Operation } from './operation.ts'

/** A schema, without the library that it is made with: who uses these types need not install that. */
export type Schema<Value> = {
  safeParse(
    value: unknown,
  ):
    | { success: true; data: Value }
    | { success: false; error: { issues: readonly { path: PropertyKey[]; message: string }[] } }
  /** As programs and models read it. */
  toJSONSchema(): object
}

/** What goes into each operation and what comes out. */
export const SCHEMAS: {
  [Name in OperationName]: Table[Name] extends Operation<infer Input, infer Output>
    ? { input: Schema<Input>; output: Schema<Output> }
    : never
} = CHECKED

/** `home`: default RALPH_HOME or ~/.ralph. `database`: the URL of the one that a fleet shares. `cwd`: where relative paths and project names begin. */
export type Opening = Partial<Pick<Context, 'cwd' | 'home' | 'env' | 'now' | 'note' | 'database'>>

/** Close it when it is no longer needed. */
export function openContext({ cwd, env = process.env, ...opening }: Opening = {}): Context {
  const note = (text: string) => process.emitWarning(text, 'RalphWarning')
  const root = join(import.meta.dirname, '..') // built, this file lies in dist/
  return open({ root, note, env, cwd: () => cwd ?? process.cwd(), ...opening })
}

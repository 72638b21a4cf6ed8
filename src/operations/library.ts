/** The operations as a library, for a server, an MCP endpoint or any other program. */
import { join } from 'node:path'
import { openContext as open } from './context.ts'
import type { OperationName, Table } from './index.ts'
import type { Context, Operation } from './operation.ts'
import { SCHEMAS as CHECKED } from './schemas.ts'

export { RalphError } from '../error.ts'
export { call } from './call.ts'
export { OPERATIONS, type OperationName } from './index.ts'
export type { Context, Operation } from './operation.ts'

/** A schema without its library, so that users of these types need not install it. */
export type Schema<Value> = {
  safeParse(
    value: unknown,
  ):
    | { success: true; data: Value }
    | { success: false; error: { issues: readonly { path: PropertyKey[]; message: string }[] } }
  /** For programs and models. */
  toJSONSchema(): object
}

/** Input and output schema of each operation. */
export const SCHEMAS: {
  [Name in OperationName]: Table[Name] extends Operation<infer Input, infer Output>
    ? { input: Schema<Input>; output: Schema<Output> }
    : never
} = CHECKED

/** `home`: default RALPH_HOME or ~/.ralph. `database`: the URL of the database of a fleet. `cwd`: the base of relative paths and project names. */
export type Opening = Partial<Pick<Context, 'cwd' | 'home' | 'env' | 'now' | 'note' | 'database'>>

/** Close it when it is no longer needed. */
export function openContext({ cwd, env = process.env, ...opening }: Opening = {}): Context {
  const note = (text: string) => process.emitWarning(text, 'RalphWarning')
  const root = join(import.meta.dirname, '..') // once built, this file is in dist/
  return open({ root, note, env, cwd: () => cwd ?? process.cwd(), ...opening })
}

/** Calls an operation by name with untrusted input, which is validated before anything happens. */
import type * as z from 'zod'
import { RalphError } from '../error.ts'
import { nearest } from '../formats/nearest.ts'
import { OPERATIONS, type OperationName } from './index.ts'
import { inputError } from './input-error.ts'
import { INSIDE, type InsideName } from './inside.ts'
import { INSIDE_SCHEMAS } from './inside-schemas.ts'
import type { Context, Operation } from './operation.ts'
import { SCHEMAS } from './schemas.ts'

export async function call(context: Context, name: string, input: unknown): Promise<unknown> {
  if (!isOperation(name)) throw unknown(name)
  return callChecked(context, { operation: OPERATIONS[name], schema: SCHEMAS[name].input, input })
}

/** The same for the agent inside a loop. */
export async function callInside(context: Context, name: InsideName, input: unknown): Promise<object> {
  const output = await callChecked(context, { operation: INSIDE[name], schema: INSIDE_SCHEMAS[name].input, input })
  return output as object // as each of these returns
}

/** Throws the error that `call` would throw for this input. */
export function checkInput(name: OperationName, input: unknown): void {
  parse({ operation: OPERATIONS[name], schema: SCHEMAS[name].input, input })
}

type Called = { operation: Operation<never, unknown>; schema: z.ZodType; input: unknown }

async function callChecked(context: Context, called: Called): Promise<unknown> {
  return called.operation.run(context, parse(called))
}

function parse({ operation, schema, input }: Called): never {
  const parsed = schema.safeParse(input)
  if (parsed.success) return parsed.data as never // the schema of each row yields the input of that row
  throw inputError(parsed.error.issues, { operation: operation.name, input, fields: fieldsOf(schema) })
}

function isOperation(name: string): name is OperationName {
  return Object.hasOwn(OPERATIONS, name)
}

function unknown(name: string): RalphError {
  const close = nearest(name, Object.keys(OPERATIONS))
  return new RalphError(
    'usage',
    `No such operation: "${name}".${close ? ` Did you mean "${close}"?` : ''} Operations: ${Object.keys(OPERATIONS).join(', ')}.`,
  )
}

function fieldsOf(schema: object): string[] {
  return 'shape' in schema ? Object.keys(schema.shape as object) : []
}

/** Calls an operation by its name with input from outside: what is wrong with it is told before anything happens. */
import { RalphError } from '../error.ts'
import { nearest } from '../formats/nearest.ts'
import { OPERATIONS, type OperationName } from './index.ts'
import { inputError } from './input-error.ts'
import type { Context, Operation } from './operation.ts'
import { SCHEMAS } from './schemas.ts'

export async function call(context: Context, name: string, input: unknown): Promise<unknown> {
  if (!isOperation(name)) throw unknown(name)
  // Each row's input is the one that its own schema gives.
  const operation = OPERATIONS[name] as Operation<unknown, unknown>
  const { input: schema } = SCHEMAS[name]
  const parsed = schema.safeParse(input)
  if (parsed.success) return operation.run(context, parsed.data)
  throw inputError(parsed.error.issues, { operation: name, input, fields: fieldsOf(schema) })
}

function isOperation(name: string): name is OperationName {
  return Object.hasOwn(OPERATIONS, name)
}

function unknown(name: string): RalphError {
  const close = nearest(name, Object.keys(OPERATIONS))
  return new RalphError(
    'usage',
    `There is no operation "${name}".${close ? ` Did you mean "${close}"?` : ''} There are: ${Object.keys(OPERATIONS).join(', ')}.`,
  )
}

function fieldsOf(schema: object): string[] {
  return 'shape' in schema ? Object.keys(schema.shape as object) : []
}

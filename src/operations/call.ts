/** Calls an operation by its name with input from outside: what is wrong with it is told before anything happens. */
import { RalphError } from '../error.ts'
import { nearest } from '../formats/nearest.ts'
import { OPERATIONS, type OperationName } from './index.ts'
import type { Context, Operation } from './operation.ts'
import { SCHEMAS } from './schemas.ts'

export async function call(context: Context, name: string, input: unknown): Promise<unknown> {
  if (!isOperation(name)) throw unknown(name)
  // Each row's input is the one that its own schema gives.
  const operation = OPERATIONS[name] as Operation<unknown, unknown>
  const parsed = SCHEMAS[name].input.safeParse(input)
  if (parsed.success) return operation.run(context, parsed.data)
  const [issue] = parsed.error.issues
  const where = issue && issue.path.length > 0 ? `${issue.path.join('.')}: ` : ''
  throw new RalphError('input-invalid', `${name}: ${where}${issue?.message ?? 'the input does not fit'}.`)
}

function isOperation(name: string): name is OperationName {
  return Object.hasOwn(OPERATIONS, name)
}

function unknown(name: string): RalphError {
  const close = nearest(name, Object.keys(OPERATIONS))
  return new RalphError(
    'usage',
    `There is no operation "${name}".${close ? ` Did you mean "${close}"?` : ''} Those are: ${Object.keys(OPERATIONS).join(', ')}.`,
  )
}

/** What goes over the wire between the server and its clients, apart from operation inputs and outputs. */
import type { ErrorCode } from '../../error.ts'
import type { OperationName, Table } from '../../operations/index.ts'
import type { Operation } from '../../operations/operation.ts'

export type { OperationName } from '../../operations/index.ts'
export { ROUTES } from '../../operations/routes.ts'

export type InputOf<Name extends OperationName> =
  Table[Name] extends Operation<infer Input, infer _Output> ? Input : never
export type OutputOf<Name extends OperationName> =
  Table[Name] extends Operation<infer _Input, infer Output> ? Output : never

/** Errors raised before an operation is called, or when one fails because of a bug. */
export type HttpCode =
  | 'request-invalid'
  | 'host-refused'
  | 'origin-refused'
  | 'token-missing'
  | 'token-wrong'
  | 'not-json'
  | 'too-large'
  | 'not-found'
  | 'method-refused'
  | 'key-reused'
  | 'key-busy'
  | 'key-lost'
  | 'bug'

/** Every error response has this body. `field`: of the input. `help`: what to do. */
export type ErrorBody = { error: { code: ErrorCode | HttpCode; message: string; field?: string; help: string } }

export type Health = { ok: true; version: string }

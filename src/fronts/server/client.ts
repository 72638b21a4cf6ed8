/** A client of the server, typed by the table of operations. It runs in browsers and in Node, and needs nothing but `fetch`. */
import { type ErrorCode, RalphError } from '../../error.ts'
import { type ErrorBody, type InputOf, type OperationName, type OutputOf, ROUTES } from './wire.ts'

export { type ErrorCode, RalphError } from '../../error.ts'
export { type LiveItem, type ReadLive, readLive } from './live-client.ts'
export type { LiveHello, LiveLog, LiveMessage, LiveStart, LiveTopic } from './live-wire.ts'
export type { ErrorBody, InputOf, OperationName, OutputOf } from './wire.ts'

/** As `ralph serve` prints them, and as they stand in server.json. */
export type Server = { url: string; token: string; fetch?: typeof fetch }

/** `key`: sent again with the same key, it is carried out once. `version`: it is refused if there is a newer one. */
export type Asking = { signal?: AbortSignal; key?: string; version?: number }

export type Client = {
  /** What goes wrong is a `RalphError` with the code and the field that the server told. */
  call<Name extends OperationName>(name: Name, input: InputOf<Name>, asking?: Asking): Promise<OutputOf<Name>>
}

export function createClient(server: Server): Client {
  return {
    async call(name, input, asking = {}) {
      const route = ROUTES[name]
      if (!route) throw new RalphError('usage', `${name} has no route in the REST API.`)
      const { path, rest } = fill(route.path, input as Fields)
      const inQuery = route.method === 'GET' || route.method === 'DELETE'
      const url = new URL(inQuery ? `${path}${toQuery(rest)}` : path, server.url)
      const { ok, answer } = await ask(server, url, {
        method: route.method,
        headers: headersOf(server, asking, inQuery),
        ...(inQuery ? {} : { body: JSON.stringify(rest) }),
        ...(asking.signal ? { signal: asking.signal } : {}),
      })
      if (!ok) throw toError(answer as ErrorBody)
      return answer as never // the server answers with the output of this operation
    },
  }
}

/** Who gave up asking gets the reason of their own signal. */
async function ask(server: Server, url: URL, init: RequestInit): Promise<{ ok: boolean; answer: unknown }> {
  const { signal } = init
  let status: number | undefined
  try {
    const response = await (server.fetch ?? fetch)(url, init)
    status = response.status
    return { ok: response.ok, answer: await response.json() }
  } catch (cause) {
    if (signal?.aborted) throw cause
    const found = status === undefined ? 'did not answer' : `answered ${status} with something other than JSON`
    throw new RalphError(
      'server-unreachable',
      `The server at ${url.origin} ${found}. Is \`ralph serve\` running there?`,
      { cause },
    )
  }
}

type Fields = Readonly<Record<string, unknown>>

/** What stands in braces in the path, and what is left. */
function fill(template: string, input: Fields): { path: string; rest: Fields } {
  const used = new Set<string>()
  const path = template.replaceAll(/\{(\w+)\}/g, (_, field: string) => {
    const value = input[field]
    // A path with dots alone would lead elsewhere.
    if (value === undefined || /^\.{0,2}$/.test(String(value)))
      throw new RalphError('input-invalid', `${field} must be a name for ${template}, but is "${value}".`, { field })
    used.add(field)
    return encodeURIComponent(String(value))
  })
  return { path, rest: Object.fromEntries(Object.entries(input).filter(([field]) => !used.has(field))) }
}

function toQuery(fields: Fields): string {
  const query = new URLSearchParams()
  for (const [field, value] of Object.entries(fields)) {
    if (value === undefined) continue
    if (typeof value === 'object' && value !== null) query.append(field, JSON.stringify(value))
    else query.append(field, String(value))
  }
  return query.size > 0 ? `?${query}` : ''
}

function headersOf({ token }: Server, { key, version }: Asking, inQuery: boolean): Record<string, string> {
  return {
    authorization: `Bearer ${token}`,
    ...(inQuery ? {} : { 'content-type': 'application/json' }),
    ...(key === undefined ? {} : { 'idempotency-key': key }),
    ...(version === undefined ? {} : { 'if-match': `"${version}"` }),
  }
}

/** Codes of the server itself are no others to whoever calls. */
function toError({ error: { code, message, field } }: ErrorBody): RalphError {
  return new RalphError(code as ErrorCode, message, field === undefined ? {} : { field })
}

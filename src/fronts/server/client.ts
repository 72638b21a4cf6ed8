/** A client of the server, typed by the table of operations. Runs in browsers and in Node, and needs only `fetch`. */
import { type ErrorCode, RalphError } from '../../error.ts'
import { type ErrorBody, type InputOf, type OperationName, type OutputOf, ROUTES } from './wire.ts'

export { type ErrorCode, RalphError } from '../../error.ts'
export { type LiveItem, type ReadLive, readLive } from './live-client.ts'
export type { LiveHello, LiveLog, LiveMessage, LiveStart, LiveTopic } from './live-wire.ts'
export type { ErrorBody, InputOf, OperationName, OutputOf } from './wire.ts'

/** As `ralph serve` prints them, and as server.json has them. */
export type Server = { url: string; token: string; fetch?: typeof fetch }

/** `key`: a request repeated with the same key is carried out once. `version`: refused if there is a newer one. */
export type Asking = { signal?: AbortSignal; key?: string; version?: number }

export type Client = {
  /** Failures are a `RalphError` with the code and field from the server. */
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
      return answer as never // the server answers with this operation's output
    },
  }
}

/** An aborted call rejects with the reason of its own signal. */
async function ask(server: Server, url: URL, init: RequestInit): Promise<{ ok: boolean; answer: unknown }> {
  const { signal } = init
  let status: number | undefined
  try {
    const response = await (server.fetch ?? fetch)(url, init)
    status = response.status
    return { ok: response.ok, answer: await response.json() }
  } catch (cause) {
    if (signal?.aborted) throw cause
    const found = status === undefined ? 'did not answer' : `answered ${status} without valid JSON`
    throw new RalphError(
      'server-unreachable',
      `The server at ${url.origin} ${found}. Is \`ralph serve\` running there?`,
      { cause },
    )
  }
}

type Fields = Readonly<Record<string, unknown>>

/** Fills in the braces of the path; returns it with the remaining input. */
function fill(template: string, input: Fields): { path: string; rest: Fields } {
  const used = new Set<string>()
  const path = template.replaceAll(/\{(\w+)\}/g, (_, field: string) => {
    const value = input[field]
    // A segment of only dots would lead elsewhere.
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

/** Maps the server's own codes to codes that callers know. */
function toError({ error: { code, message, field } }: ErrorBody): RalphError {
  return new RalphError(code as ErrorCode, message, field === undefined ? {} : { field })
}

/** Who may talk to the server: its own page and programs with the token, at one of its own addresses. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { Refusal } from './errors.ts'

/** `hosts`: every `name:port` it is known by, with the origins of its pages there. */
export type Doors = { hosts: ReadonlyMap<string, readonly string[]>; token: string }

/**
 * A page from elsewhere in the browser must not get anything: neither through another host name that resolves here
 * (`Host`), nor from another origin, nor as part of another site.
 */
export function refuseStrangers(request: Request, { hosts }: Pick<Doors, 'hosts'>): void {
  const host = request.headers.get('host')?.toLowerCase() ?? ''
  const origins = hosts.get(host)
  if (!origins || new URL(request.url).host !== new URL(`http://${host}`).host)
    throw new Refusal('host-refused', `This server is not known as ${quote(host)}.`)
  const origin = request.headers.get('origin')
  if (origin !== null && !origins.includes(origin))
    throw new Refusal('origin-refused', `A page from ${quote(origin)} cannot use this server.`)
  const site = request.headers.get('sec-fetch-site')
  if (site !== null && site !== 'same-origin' && site !== 'none')
    throw new Refusal(
      'origin-refused',
      `A page from another site cannot use this server (Sec-Fetch-Site: ${quote(site)}).`,
    )
}

/** Never from the URL, which ends up in histories and logs. */
export function mustHaveToken(request: Request, { token }: Pick<Doors, 'token'>): void {
  const [, given] = /^Bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '') ?? []
  const ask = { 'www-authenticate': 'Bearer realm="ralph"' }
  if (given === undefined) throw new Refusal('token-missing', "This needs the server's token.", ask)
  if (!timingSafeEqual(digest(given), digest(token)))
    throw new Refusal('token-wrong', "This is not the server's token.", ask)
}

/** Forms on other pages can send anything but JSON. */
export function mustBeJson(request: Request): void {
  const type = request.headers.get('content-type')
  if (type === null && !CARRIES_BODY.has(request.method)) return
  if (!/^application\/json *(;|$)/i.test(type ?? ''))
    throw new Refusal(
      'not-json',
      `The body must be JSON, but its Content-Type is ${type === null ? 'missing' : quote(type)}.`,
    )
}

const CARRIES_BODY = new Set(['POST', 'PUT', 'PATCH'])

/** Hashed to equal length, whatever was given. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 200))
}

/** Every response restricts what a browser may do with it, and is not cached unless it says so itself. */
export function withHeaders(answer: Response): Response {
  const headers = new Headers(answer.headers)
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) headers.set(name, value)
  if (!headers.has('cache-control')) headers.set('cache-control', 'no-store')
  return new Response(answer.body, { status: answer.status, headers })
}

/** There are no CORS headers: other origins get nothing. */
const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

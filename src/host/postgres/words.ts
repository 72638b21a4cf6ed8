/** Errors of Postgres, and of the connection to it, as sentences for people. */
import { type ErrorCode, RalphError } from '../../error.ts'
import { codeOf } from '../plain-words.ts'

/** `where`: the database as shown to people. Any other error is a bug of ours, and stays as it is. */
export function inPostgresWords(cause: unknown, where: string): unknown {
  if (cause instanceof RalphError) return cause
  const trouble = troubleOf(cause)
  return trouble ? new RalphError(trouble.code, `${where}: ${trouble.words}`, { cause }) : cause
}

type Trouble = { code: ErrorCode; words: string }

function troubleOf(cause: unknown): Trouble | undefined {
  const code = nameOf(cause)
  const said = SAID.find(([pattern]) => pattern.test(messageOf(cause)))?.[1]
  return TROUBLES[code] ?? (isOfConnection(code) ? unreachable('the connection was lost') : said)
}

const check = 'Check its host and port, and that PostgreSQL is running.'
const unreachable = (what: string): Trouble => ({ code: 'database-unreachable', words: `${what}. ${check}` })
const refused = (words: string): Trouble => ({ code: 'database-refused', words })

const stopping = unreachable('Postgres is stopping or starting')
const lost = unreachable('the connection was lost')
const silent = unreachable('the server does not respond')
const untrusted = refused(
  'its TLS certificate is not trusted. Name the certificate authority with ?sslrootcert=FILE, or correct the host name.',
)

/** By SQLSTATE, or by Node's error code. */
const TROUBLES: Readonly<Record<string, Trouble>> = {
  '57P01': stopping,
  '57P02': stopping,
  '57P03': stopping,
  '53300': unreachable('it has no free connections'),
  '25P03': lost, // it closed the connection because this process was idle in a transaction
  ECONNREFUSED: silent,
  ENOTFOUND: unreachable('there is no such host'),
  EAI_AGAIN: unreachable('the host name cannot be resolved'),
  EHOSTUNREACH: silent,
  ENETUNREACH: silent,
  'connect ENOENT': silent, // the file of a socket
  ETIMEDOUT: silent,
  ECONNRESET: lost,
  EPIPE: lost,
  '28P01': refused('the password is wrong. Correct it in the URL, or in ~/.pgpass.'),
  '28000': refused(
    'Postgres does not allow this user to connect. Correct the user in the URL, or allow it in pg_hba.conf.',
  ),
  '3D000': refused('there is no such database. Create it with `createdb`, or correct the URL.'),
  '3F000': refused('its schema no longer exists. Restart ralph.'),
  '42501': refused('this user may not do that. Grant it a role (see docs/fleet.md), or use another user.'),
  '25006': refused('it is read-only. Use the primary server.'),
  '53100': { code: 'disk-full', words: 'no space left on its disk. Free some space, then run `ralph resume`.' },
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  ERR_TLS_CERT_ALTNAME_INVALID: untrusted,
  CERT_HAS_EXPIRED: untrusted,
}

/** What the driver says without a code. */
const SAID: readonly [RegExp, Trouble][] = [
  [/Connection terminated|Client has encountered a connection error|not queryable/, lost],
  [/timeout expired|timeout exceeded|Query read timeout/, unreachable('it timed out')],
  [/does not support SSL/, refused('it does not offer TLS. Remove sslmode from the URL, or set up TLS in Postgres.')],
  [/password must be a string/, refused('it asks for a password. Add it to the URL, or to ~/.pgpass.')],
]

/** ENOENT may also concern a file that a URL names: that is another problem. */
function nameOf(cause: unknown): string {
  const { syscall } = Object(cause) as NodeJS.ErrnoException // if it has one
  const code = String(codeOf(cause) ?? '')
  return code === 'ENOENT' ? `${syscall} ${code}` : code
}

function isOfConnection(code: string): boolean {
  return /^08...$/.test(code)
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : ''
}

export function isForbidden(cause: unknown): boolean {
  return codeOf(cause) === '42501'
}

/** Tables are missing or old, and this user may not create them. */
export function notOwner(where: string, cause: unknown): RalphError {
  const words =
    'its tables are not up to date, and this user may not change them. Run `ralph doctor` as their owner first.'
  return new RalphError('database-refused', `${where}: ${words}`, { cause })
}

/** Two that wrote at once collided: one of them starts again. */
export function isCollision(cause: unknown): boolean {
  return ['40001', '40P01'].includes(String(codeOf(cause)))
}

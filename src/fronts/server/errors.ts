/** Errors as responses: a status and one body format for all of them. */
import { type ErrorCode, isRalphError } from '../../error.ts'
import { unlessShortage } from '../../host/plain-words.ts'
import type { ErrorBody, HttpCode } from './wire.ts'

/** A refusal by the server itself. `headers`: added to the response. */
export class Refusal extends Error {
  readonly code: HttpCode
  readonly headers: Record<string, string>

  constructor(code: HttpCode, message: string, headers: Record<string, string> = {}) {
    super(message)
    this.name = 'Refusal'
    this.code = code
    this.headers = headers
  }
}

export function answerError(cause: unknown): Response {
  const { code, message, field, headers = {} } = toWire(cause)
  const { status, help } = CODES[code]
  const body: ErrorBody = { error: { code, message, ...(field ? { field } : {}), help } }
  return Response.json(body, { status, headers })
}

/** Whether it is a bug, so that its origin must be logged. */
export function isBug(cause: unknown): boolean {
  return !(cause instanceof Refusal) && !isRalphError(unlessShortage(cause))
}

type Wire = {
  code: ErrorCode | HttpCode
  message: string
  field?: string | undefined
  headers?: Record<string, string>
}

function toWire(thrown: unknown): Wire {
  if (thrown instanceof Refusal) return thrown
  const cause = unlessShortage(thrown)
  if (isRalphError(cause)) return { code: cause.code, message: cause.message, field: cause.field }
  return { code: 'bug', message: 'This is a bug in ralph.' } // its stack is for the log, not for the caller
}

type Meaning = { status: number; help: string }

const FIX_INPUT = 'Change the request and send it again. /openapi.json lists the fields of each operation.'
const LIST_LOOPS = 'List the loops with GET /api/loops.'
const ASK_AGAIN = 'Fetch it again, then decide.'
const ON_MACHINE = 'Fix this on the machine that runs the server. `ralph doctor` helps to find the cause.'
const LIST_TASKS = 'List the tasks and use the id of one.'

const CODES: Readonly<Record<ErrorCode | HttpCode, Meaning>> = {
  usage: { status: 400, help: FIX_INPUT },
  'input-invalid': { status: 400, help: FIX_INPUT },
  'agent-unknown': { status: 400, help: 'Use an agent that ralph knows; `ralph doctor` lists them.' },
  'agent-missing': { status: 422, help: 'Install the agent, or name another one.' },
  'agent-unusable': { status: 422, help: 'Run `ralph doctor` to see what the agent needs.' },
  'loop-unknown': { status: 404, help: LIST_LOOPS },
  'loop-held': { status: 409, help: ASK_AGAIN },
  'loop-ended': { status: 409, help: 'Start another loop.' },
  'loop-state': { status: 409, help: ASK_AGAIN },
  'comment-unknown': { status: 404, help: 'List the comments of the loop.' },
  'lease-lost': { status: 409, help: ASK_AGAIN },
  'below-turn': { status: 403, help: 'Ask a person to do it.' },
  'pass-invalid': { status: 403, help: 'Only the agent of the current turn can do this.' },
  'home-unusable': { status: 409, help: ON_MACHINE },
  'disk-full': { status: 507, help: 'Free some space on the machine that runs the server.' },
  'machine-limit': { status: 503, help: ON_MACHINE },
  'database-newer': { status: 503, help: 'Update ralph, then start the server again.' },
  'database-broken': { status: 503, help: 'Stop the server, run `ralph doctor --rebuild`, then start it again.' },
  'database-locked': { status: 503, help: 'Stop the program that locks the database, then retry.' },
  'database-missing': { status: 503, help: 'Stop the server, run `ralph doctor --rebuild`, then start it again.' },
  'database-older': { status: 503, help: 'Use the same major version of ralph on every machine.' },
  'database-unreachable': { status: 503, help: 'Start Postgres or fix the connection to it, then retry.' },
  'database-refused': {
    status: 503,
    help: "Fix the database URL or its user's permissions, then restart the server.",
  },
  'checkpoint-missing': { status: 404, help: 'List the iterations of the loop and choose another one.' },
  'git-failed': { status: 409, help: ON_MACHINE },
  'setup-failed': { status: 409, help: ON_MACHINE },
  'config-changed': { status: 409, help: 'Read the file, then accept it with trust_config.' },
  'secret-missing': { status: 409, help: ON_MACHINE },
  'sandbox-missing': { status: 422, help: 'Install bubblewrap, or run without the sandbox.' },
  'tmux-missing': { status: 422, help: 'Install tmux.' },
  'tmux-failed': { status: 409, help: ON_MACHINE },
  'pane-unknown': { status: 404, help: 'List the agents with GET /api/panes.' },
  'dispatch-held': { status: 409, help: ASK_AGAIN },
  'project-unknown': {
    status: 404,
    help: 'Check the name of the project and the folder in which the server was started.',
  },
  'project-held': { status: 409, help: ASK_AGAIN },
  'tasks-invalid': { status: 422, help: 'Fix the file.' },
  'template-invalid': { status: 422, help: 'Fix the template.' },
  'interview-failed': { status: 409, help: ON_MACHINE },
  'file-unusable': { status: 422, help: 'Fix the file, or name another one.' },
  declined: { status: 409, help: ASK_AGAIN },
  unconfirmed: { status: 409, help: 'If you are sure, send it again with confirm: true.' },
  'task-unknown': { status: 404, help: LIST_TASKS },
  'task-state': { status: 409, help: ASK_AGAIN },
  'task-changed': { status: 412, help: 'Fetch the task, apply your change to it, and send the new version.' },
  'task-limit': { status: 409, help: ASK_AGAIN },
  'task-timeout': { status: 409, help: ASK_AGAIN },
  'state-corrupted': { status: 409, help: ON_MACHINE },
  'state-file': { status: 409, help: ON_MACHINE },
  'server-running': { status: 409, help: 'Use the server that is running.' },
  'server-unreachable': { status: 502, help: 'Check that the server is running, and check its address.' },
  'handed-back': { status: 503, help: ASK_AGAIN },
  'port-taken': { status: 409, help: 'Choose another port.' },
  'request-invalid': { status: 400, help: 'Send a valid HTTP request.' },
  'host-refused': {
    status: 421,
    help: 'Use the address that `ralph serve` printed, or start it with --allow-host NAME.',
  },
  'origin-refused': {
    status: 403,
    help: 'Open the address that `ralph serve` printed. Pages from elsewhere cannot use this server.',
  },
  'token-missing': {
    status: 401,
    help: 'Send the header Authorization: Bearer TOKEN. `ralph serve` prints the token.',
  },
  'token-wrong': { status: 401, help: 'Use the latest token that `ralph serve` printed.' },
  'not-json': { status: 415, help: 'Send JSON with the header Content-Type: application/json.' },
  'too-large': { status: 413, help: 'Send at most 1 MiB.' },
  'not-found': { status: 404, help: '/openapi.json lists all paths.' },
  'method-refused': { status: 405, help: 'Use one of the methods in the Allow header.' },
  'key-reused': { status: 422, help: 'Use a new Idempotency-Key for each new request.' },
  'key-busy': { status: 409, help: 'Wait, then send the same request with the same key.' },
  'key-lost': { status: 409, help: 'Check whether it was carried out; if not, send it with a new key.' },
  bug: { status: 500, help: 'Report it with the lines about it from server.log in RALPH_HOME.' },
}

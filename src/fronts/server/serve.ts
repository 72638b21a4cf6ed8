/** `ralph serve`: one server per home. It drives loops, answers requests, and leaves everything resumable when it stops. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { getRequestListener } from '@hono/node-server'
import { RalphError } from '../../error.ts'
import { makePrivateFolder } from '../../host/files.ts'
import { lockLoop } from '../../host/lock.ts'
import { isLoopback } from '../../host/peer.ts'
import {
  loadToken,
  readServerFile,
  removeServerFile,
  SERVER_LOCK,
  type ServerFile,
  writeServerFile,
} from '../../host/server-file.ts'
import { openContext } from '../../operations/context.ts'
import type { Context } from '../../operations/operation.ts'
import { openWorkers } from '../../operations/workers.ts'
import { type AccessLog, openAccessLog } from './access-log.ts'
import { buildApp } from './app.ts'
import { openAssets } from './assets.ts'
import { answerError, Refusal } from './errors.ts'
import { withHeaders } from './guard.ts'
import { type Address, checkAddress, DEFAULT_PORT, hostsOf, listen, urlAt } from './listen.ts'
import { openLive } from './live.ts'
import { openMcp } from './mcp-http.ts'

export type Serving = Address & {
  /** Where ralph is installed, and its version. */
  root: string
  version: string
  env: Readonly<Record<string, string | undefined>>
  /** Base folder for relative paths and project names. */
  cwd: string
  /** A Postgres URL. Absent: RALPH_DATABASE, or the database of this home. */
  database?: string
  /** How many loops run at a time. */
  concurrency: number
  newToken: boolean
  /** Stops it. */
  stop: AbortSignal
  /** It accepts requests now. */
  ready(server: ServerFile): void
  /** A message for the user. */
  note(text: string): void
  /** Also gets every access log line. */
  log?: (line: string) => void
}

/** Until it is stopped. */
export async function serve(serving: Serving): Promise<void> {
  checkAddress(serving)
  const { root, cwd, note } = serving
  // Agents and checks get this environment: database credentials are none of their business.
  const { RALPH_DATABASE, ...env } = serving.env
  const database = serving.database ?? (RALPH_DATABASE || undefined)
  const context = openContext({ root, env, note, cwd: () => cwd, database })
  try {
    const store = context.store()
    makePrivateFolder(join(context.home, 'locks')) // a remote database creates nothing here
    if (database) await store.heads() // report problems with it before the first request
    const lock = lockLoop(context.home, SERVER_LOCK)
    if (!lock) throw alreadyRunning(context.home)
    try {
      await serveAlone(context, serving)
    } finally {
      lock.close()
    }
  } finally {
    await context.close()
  }
}

function alreadyRunning(home: string): RalphError {
  const { url, pid } = readServerFile(home) ?? {}
  return new RalphError(
    'server-running',
    url === undefined
      ? `Another ralph serve is already starting with ${home}.`
      : `ralph serve is already running: ${url} (process ${pid}). Use it, or stop it with: kill ${pid}`,
  )
}

/** The caller holds the lock. */
async function serveAlone(context: Context, serving: Serving): Promise<void> {
  const { home, now } = context
  const { stop, version } = serving
  const startedAt = now()
  const token = loadToken(home, serving.newToken)
  const log = openAccessLog({ home, secret: token, now, ...(serving.log ? { also: serving.log } : {}) })
  const server = createServer()
  const port = await listen(server, serving)
  noteAddress(serving, port)
  const workers = openWorkers(context, { concurrency: serving.concurrency, say: serving.note })
  const working = { ...context, workers, by: 'program' as const }
  const bug = (cause: unknown) => log.write(`bug: ${cause instanceof Error ? cause.stack : cause}`)
  const live = openLive(context, { failed: bug })
  const mcp = openMcp({ ...working, by: 'agent' })
  const app = buildApp({
    context: working,
    live,
    mcp,
    doors: { hosts: hostsOf(serving, port), token },
    version,
    startedAt,
    assets: openAssets(join(serving.root, 'dist', 'web')),
    bug,
  })
  answerBy(server, (request, env) => app.fetch(request, env), log)
  try {
    const file = { url: urlAt(serving, port), token, pid: process.pid, started_at: new Date(startedAt).toISOString() }
    writeServerFile(home, file)
    serving.ready(file)
    if (!stop.aborted) await once(stop, 'abort')
  } finally {
    live.close()
    await allOver([closeDoor(server), mcp.close(), workers.stop()]).finally(() => removeServerFile(home))
  }
}

/** Waits for all of them, then throws what one of them threw. */
async function allOver(works: Promise<void>[]): Promise<void> {
  for (const end of await Promise.allSettled(works)) if (end.status === 'rejected') throw end.reason
}

function noteAddress({ host, port: asked, note }: Serving, port: number): void {
  if (asked === undefined && port !== DEFAULT_PORT)
    note(`Port ${DEFAULT_PORT} is in use, so the server listens on ${port}.`)
  if (!isLoopback(host)) note('This is plain HTTP: anyone who can read the traffic can read the token.')
}

type Fetch = (request: Request, env: object) => Response | Promise<Response>

/** Requests that the HTTP adapter rejects also get an answer in our format. */
function answerBy(server: Server, fetch: Fetch, log: AccessLog): void {
  const listener = getRequestListener(fetch, {
    errorHandler: () => withHeaders(answerError(new Refusal('request-invalid', 'This is not a valid request.'))),
  })
  server.on('request', (incoming, outgoing) => {
    log.follow(incoming, outgoing)
    void listener(incoming, outgoing)
  })
}

/** Long enough for requests in progress. */
const GRACE_MS = 2_000

async function closeDoor(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  const late = setTimeout(() => server.closeAllConnections(), GRACE_MS)
  await closed
  clearTimeout(late)
}

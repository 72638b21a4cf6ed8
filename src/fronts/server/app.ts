/** The server as one function from request to response: access checks, then the page, the operations, live events and MCP. */
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import type { Caller, Context } from '../../operations/operation.ts'
import type { Assets } from './assets.ts'
import { callerOf } from './caller.ts'
import { answerError, isBug, Refusal } from './errors.ts'
import { type Doors, mustBeJson, mustHaveToken, refuseStrangers, withHeaders } from './guard.ts'
import { openApi } from './openapi.ts'
import { type App, methodRefused, restRoutes } from './rest.ts'
import type { Health } from './wire.ts'

const MOST_BYTES = 1_048_576

export type Parts = {
  context: Context
  doors: Doors
  version: string
  startedAt: number
  assets: Assets
  /** Live events, if any. */
  live?: { answer(request: Request): Promise<Response> }
  mcp?: { fetch(request: Request, asking: { caller: () => Caller }): Promise<Response> }
  /** Receives the details of a bug. */
  bug(cause: unknown): void
}

export function buildApp({ context, doors, version, startedAt, assets, live, mcp, bug }: Parts): App {
  const app: App = new Hono()
  app.onError((cause) => {
    if (isBug(cause)) bug(cause)
    return withHeaders(answerError(cause))
  })
  app.use(async ({ req }, next) => {
    refuseStrangers(req.raw, doors)
    if (needsToken(req.path)) {
      mustHaveToken(req.raw, doors)
      mustBeJson(req.raw)
    }
    await next()
  })
  app.use(
    bodyLimit({
      maxSize: MOST_BYTES,
      onError() {
        throw new Refusal('too-large', 'The body is larger than 1 MiB.', { connection: 'close' })
      },
    }),
  )
  app.use(async (asked, next) => {
    await next()
    asked.res = withHeaders(asked.res)
  })
  app.get('/healthz', () => Response.json({ ok: true, version } satisfies Health))
  let described: object | undefined
  app.get('/openapi.json', () => {
    described ??= openApi(version) // slow to build, and never changes
    return Response.json(described)
  })
  if (live)
    app.all('/api/live', ({ req }) => {
      // Nobody would read the stream of a HEAD request, or close it.
      if (req.method !== 'GET') throw methodRefused(req.method, ['GET'])
      return live.answer(req.raw)
    })
  if (mcp) app.all('/mcp', ({ req, env }) => mcp.fetch(req.raw, { caller: callerOf(env) }))
  app.route('/', restRoutes({ context, startedAt }))
  app.all('*', ({ req }) => {
    if (needsToken(req.path)) throw new Refusal('not-found', `Nothing found at ${req.path}.`)
    if (req.method !== 'GET' && req.method !== 'HEAD') throw methodRefused(req.method, ['GET', 'HEAD'])
    return assets.answer(req.raw)
  })
  return app
}

/** Paths that can return data. The page itself holds none. */
function needsToken(path: string): boolean {
  return /^\/(?:api|mcp)(?:\/|$)/.test(path)
}

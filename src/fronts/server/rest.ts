/** The operations over REST: each has its route, and its output is the response. */
import type { HttpBindings } from '@hono/node-server'
import { Hono } from 'hono'
import { call } from '../../operations/call.ts'
import type { OperationName } from '../../operations/index.ts'
import type { Context } from '../../operations/operation.ts'
import { ROUTES, type Route } from '../../operations/routes.ts'
import { answerOnce, inOneOrder } from './answers.ts'
import { callerOf } from './caller.ts'
import { Refusal } from './errors.ts'
import { type Asked, readInput } from './input.ts'

export type App = Hono<{ Bindings: HttpBindings }>

/** `startedAt`: when this server started. */
export type Rest = { context: Context; startedAt: number }

export function restRoutes(rest: Rest): App {
  return mountRoutes((asked, name) => answer(asked, name, rest))
}

export function mountRoutes(respond: (asked: Asked, name: OperationName) => Promise<Response>): App {
  const app: App = new Hono()
  const rows = routesInOrder()
  for (const [name, { method, path }] of rows) app.on(method, toPattern(path), (asked) => respond(asked, name))
  for (const path of new Set(rows.map(([, route]) => route.path)))
    app.all(toPattern(path), ({ req }) => {
      throw methodRefused(req.method, methodsAt(path))
    })
  return app
}

/** A literal path comes before one with a parameter in its place. */
export function routesInOrder(): [OperationName, Route][] {
  const rows = Object.entries(ROUTES) as [OperationName, Route][] // the table has no others
  const generality = ({ path }: Route) => path.replaceAll(/[^{]/g, '').length
  return rows.toSorted(([, a], [, b]) => generality(a) - generality(b))
}

function toPattern(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1')
}

function methodsAt(path: string): string[] {
  const methods: string[] = Object.values(ROUTES).flatMap((route) => (route.path === path ? [route.method] : []))
  return methods.includes('GET') ? [...methods, 'HEAD'] : methods
}

export function methodRefused(method: string, allowed: readonly string[]): Refusal {
  const allow = allowed.join(', ')
  return new Refusal('method-refused', `${method} is not allowed here. Use ${allow}.`, { allow })
}

async function answer(asked: Asked, name: OperationName, { context, startedAt }: Rest): Promise<Response> {
  const { req, env } = asked
  const input = await readInput(asked, name)
  const ask = () => call({ ...context, caller: callerOf(env), signal: req.raw.signal }, name, input)
  const key = req.method === 'POST' ? req.header('idempotency-key') : undefined
  if (key === undefined) return answerWith(await ask())
  const request = inOneOrder([name, input])
  return answerWith(JSON.parse(await answerOnce(context.store().answers, { key, request, startedAt }, ask)))
}

/** Anything that several clients may change carries the number of its last change. */
function answerWith(output: unknown): Response {
  const { version } = (output ?? {}) as { version?: unknown }
  return Response.json(output ?? null, { headers: typeof version === 'number' ? { etag: `"${version}"` } : {} })
}

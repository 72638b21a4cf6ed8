/** The REST API as OpenAPI 3.1, generated from the table of operations, their routes and their schemas. */
import { OPERATIONS, type OperationName } from '../../operations/index.ts'
import type { Route } from '../../operations/routes.ts'
import { SCHEMAS } from '../../operations/schemas.ts'
import { inputSchema } from './input.ts'
import type { JsonSchema } from './query.ts'
import { routesInOrder } from './rest.ts'

/** It holds no data, so anyone who can reach the server may read it. */
export function openApi(version: string): object {
  const paths: Record<string, Record<string, object>> = {
    '/healthz': { get: plain('healthz', 'Checks that the server is running.') },
    '/api/live': { get: LIVE },
  }
  for (const [name, route] of routesInOrder()) {
    paths[route.path] ??= {}
    Object.assign(paths[route.path] ?? {}, { [route.method.toLowerCase()]: describe(name, route) })
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'ralph',
      version,
      description: 'Everything you can do with ralph on this machine.',
    },
    servers: [{ url: '/' }],
    security: [{ token: [] }],
    tags: [...new Set([...routesInOrder().map(([, route]) => tagOf(route)), 'live'])].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: { Error: ERROR },
    },
  }
}

function plain(operationId: string, summary: string): object {
  return { operationId, summary, security: [], responses: { 200: { description: 'The server is running.' } } }
}

function describe(name: OperationName, route: Route): object {
  const { summary, effect } = OPERATIONS[name]
  const schema = inputSchema(name)
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, field = '']) => field)
  const others = Object.keys(schema.properties ?? {}).filter((field) => !inPath.includes(field))
  const inQuery = route.method === 'GET' || route.method === 'DELETE'
  return {
    operationId: name,
    summary,
    tags: [tagOf(route)],
    'x-effect': effect,
    parameters: [
      ...inPath.map((field) => parameter(schema, field, 'path')),
      ...(inQuery ? others.map((field) => parameter(schema, field, 'query')) : []),
      ...headersOf(route, schema),
    ],
    ...(inQuery ? {} : { requestBody: bodyOf(schema, others) }),
    responses: {
      200: { description: 'Done.', content: json(withoutDialect(SCHEMAS[name].output.toJSONSchema())) },
      default: { description: 'What went wrong.', content: json({ $ref: '#/components/schemas/Error' }) },
    },
  }
}

function tagOf({ path }: Route): string {
  return path.split('/')[2] ?? ''
}

function parameter({ properties = {}, required = [] }: JsonSchema, field: string, place: 'path' | 'query'): object {
  return {
    name: field,
    in: place,
    required: place === 'path' || required.includes(field),
    schema: properties[field] ?? {},
  }
}

function headersOf({ method }: Route, { properties = {} }: JsonSchema): object[] {
  return [
    ...(method === 'POST'
      ? [text('Idempotency-Key', 'header', 'A request repeated with the same key is carried out once.')]
      : []),
    ...('version' in properties ? [text('If-Match', 'header', 'The version that you have seen, such as "3".')] : []),
  ]
}

function bodyOf(schema: JsonSchema, fields: readonly string[]): object {
  const { properties = {}, required = [] } = schema
  const needed = required.filter((field) => fields.includes(field))
  return {
    required: needed.length > 0,
    content: json({
      ...withoutDialect(schema),
      properties: Object.fromEntries(fields.map((field) => [field, properties[field]])),
      required: needed,
    }),
  }
}

function json(schema: object): object {
  return { 'application/json': { schema } }
}

function withoutDialect(schema: object): object {
  const { $schema: _, ...rest } = schema as { $schema?: string }
  return rest
}

const LIVE = {
  operationId: 'live',
  summary: 'Streams everything that happens as server-sent events.',
  tags: ['live'],
  parameters: [
    text('after', 'query', 'The `id` of the last message that you have seen. Without it the stream starts now.'),
    text('Last-Event-ID', 'header', 'The same, sent by clients that reconnect by themselves.'),
    text('topics', 'query', 'Only these, comma-separated: loops, board, panes, log.'),
    text('loop', 'query', 'Only what happens to this loop.'),
    text('log', 'query', 'Add the log of a loop: LOOP, LOOP:ITERATION or LOOP:ITERATION:OFFSET. May be repeated.'),
  ],
  responses: {
    200: {
      description: 'Messages whose data is JSON: { seq, at, type, loop?, data }.',
      content: { 'text/event-stream': { schema: { type: 'string' } } },
    },
    default: { description: 'What went wrong.', content: json({ $ref: '#/components/schemas/Error' }) },
  },
}

function text(name: string, place: 'query' | 'header', description: string): object {
  return { name, in: place, description, schema: { type: 'string' } }
}

const ERROR = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'help'],
      properties: {
        code: { type: 'string', description: 'Identifies the error for programs.' },
        message: { type: 'string', description: 'What is wrong, what was expected, and what to do.' },
        field: { type: 'string', description: 'The input field it is about.' },
        help: { type: 'string', description: 'What to do about errors with this code.' },
      },
    },
  },
}

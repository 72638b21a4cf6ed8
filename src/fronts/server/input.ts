/** An operation's input from a request: its path, query or body. */
import type { HttpBindings } from '@hono/node-server'
import type { Context as HonoContext } from 'hono'
import { RalphError } from '../../error.ts'
import { isObject, readJson } from '../../formats/json-file.ts'
import type { OperationName } from '../../operations/index.ts'
import { SCHEMAS } from '../../operations/schemas.ts'
import { type JsonSchema, readValues } from './query.ts'

/** A request on its way through the server. */
export type Asked = HonoContext<{ Bindings: HttpBindings }>

export async function readInput({ req }: Asked, name: OperationName): Promise<unknown> {
  const schema = inputSchema(name)
  const path = readValues(Object.entries(req.param() as Record<string, string>), schema)
  const given = ['GET', 'HEAD', 'DELETE'].includes(req.method)
    ? readValues([...new URL(req.url).searchParams], schema)
    : await readBody(req.raw, name)
  if (!isObject(given)) return given // the schema says what is wrong with it
  const twice = Object.keys(path).find((field) => Object.hasOwn(given, field))
  if (twice !== undefined) throw wrong(`${name}: ${twice} is already in the path.`, twice)
  return { ...given, ...path, ...versionAsked(req.header('if-match'), schema, given) }
}

async function readBody(request: Request, name: OperationName): Promise<unknown> {
  const text = await request.text()
  if (text.trim() === '') return {}
  const read = readJson(text)
  if ('problem' in read) throw wrong(`${name}: the body is not valid JSON: ${read.problem}`)
  return read.value
}

/** `If-Match: "3"` is the version that the caller has seen. */
function versionAsked(header: string | undefined, { properties = {} }: JsonSchema, given: object): object {
  if (header === undefined || header.trim() === '*') return {}
  if (!('version' in properties)) throw wrong('If-Match has no meaning here: only tasks have versions. Leave it out.')
  const [, version] = /^"(\d{1,15})"$/.exec(header.trim()) ?? []
  if (version === undefined) throw wrong(`If-Match must be one version such as "3", got ${header}.`, 'version')
  if ('version' in given && given.version !== Number(version))
    throw wrong(`If-Match names version ${version}, but the input names another one.`, 'version')
  return { version: Number(version) }
}

function wrong(message: string, field = ''): RalphError {
  return new RalphError('input-invalid', message, { field })
}

const schemas = new Map<OperationName, JsonSchema>()

/** As programs read it, built on first use. */
export function inputSchema(name: OperationName): JsonSchema {
  const known = schemas.get(name) ?? (SCHEMAS[name].input.toJSONSchema({ io: 'input' }) as JsonSchema)
  schemas.set(name, known)
  return known
}

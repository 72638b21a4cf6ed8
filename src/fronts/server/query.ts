/** An operation's input from URL strings: numbers, switches and lists as its schema says. */

import { jsonIn } from '../../formats/json-file.ts'

/** The parts of a JSON schema used here. */
export type JsonSchema = {
  type?: string | string[]
  properties?: Record<string, JsonSchema>
  items?: JsonSchema
  anyOf?: JsonSchema[]
  required?: string[]
}

/** What cannot be parsed stays a string: the schema then says what is wrong with it. */
export function readValues(texts: readonly (readonly [name: string, text: string])[], schema: JsonSchema): object {
  const names = [...new Set(texts.map(([name]) => name))]
  return Object.fromEntries(
    names.map((name) => {
      const given = texts.flatMap(([other, text]) => (other === name ? [text] : []))
      const field = schema.properties && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined
      return [name, readField(given, field ?? {})]
    }),
  )
}

function readField(given: readonly string[], schema: JsonSchema): unknown {
  const [first = ''] = given
  const items = listItems(schema)
  if (items && given.length === 1) return readList(first).map((value) => readText(value, items))
  if (items || given.length > 1) return given.map((text) => readText(text, items ?? {}))
  return readText(first, schema)
}

function listItems(schema: JsonSchema): JsonSchema | undefined {
  return shapesOf(schema).find(({ type }) => type === 'array')?.items
}

/** `a,b`, or a JSON list if values contain commas. */
function readList(text: string): unknown[] {
  if (text.startsWith('[')) {
    const list = jsonIn(text)
    if (Array.isArray(list)) return list
  }
  return text.split(',')
}

function readText(text: unknown, schema: JsonSchema): unknown {
  if (typeof text !== 'string') return text
  const types = shapesOf(schema).flatMap(({ type }) => type ?? [])
  if (types.includes('string')) return text
  if (types.includes('object') && text.startsWith('{')) return jsonIn(text) ?? text
  if (types.includes('null') && text === 'null') return null
  if (types.includes('boolean') && (text === 'true' || text === 'false')) return text === 'true'
  if ((types.includes('number') || types.includes('integer')) && /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text))
    return Number(text)
  return text
}

function shapesOf(schema: JsonSchema): JsonSchema[] {
  return schema.anyOf ? schema.anyOf.flatMap(shapesOf) : [schema]
}

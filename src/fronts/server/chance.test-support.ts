/** Random inputs: what an operation's schema accepts, and what it does not. */
import fc from 'fast-check'

export type Schema = {
  type?: string
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  minimum?: number
  exclusiveMinimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  pattern?: string
}

/** `field`: values for a field of that name instead of those that its schema accepts. */
export type Choosing = { field?: (name: string) => fc.Arbitrary<unknown> | undefined }

/** What a schema accepts, apart from rules it does not express. */
export function valuesOf(schema: Schema, choosing: Choosing = {}): fc.Arbitrary<unknown> {
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((one) => valuesOf(one, choosing)))
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if ('const' in schema) return fc.constant(schema.const)
  switch (schema.type) {
    case 'object':
      return objectsOf(schema, choosing)
    case 'array':
      return fc.array(valuesOf(schema.items ?? {}, choosing), { minLength: schema.minItems ?? 0, maxLength: 3 })
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -5, max: Math.min(schema.maximum ?? 1_000, 1_000_000) })
    case 'number':
      return fc.double({
        min: schema.minimum ?? 0.001,
        max: schema.maximum ?? 1_000,
        noNaN: true,
        noDefaultInfinity: true,
      })
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'string':
      return textsOf(schema)
    default:
      return fc.jsonValue({ maxDepth: 2 })
  }
}

function objectsOf({ properties = {}, required = [] }: Schema, choosing: Choosing): fc.Arbitrary<object> {
  const fields = new Map(
    Object.entries(properties).map(([name, one]) => [name, choosing.field?.(name) ?? valuesOf(one, choosing)]),
  )
  // Few at a time: with many, one is sure to be refused.
  const others = [...fields.keys()].filter((name) => !required.includes(name))
  const optional = fc.subarray(others, { maxLength: Math.min(others.length, MOST_FIELDS) })
  return optional.chain((names) =>
    fc.record(Object.fromEntries([...required, ...names].map((name) => [name, fields.get(name) ?? fc.constant(null)]))),
  )
}

const MOST_FIELDS = 3

function textsOf({ pattern, minLength = 0, maxLength = 40 }: Schema): fc.Arbitrary<string> {
  const isRight = (text: string) => text.length >= minLength && (!pattern || new RegExp(pattern, 'u').test(text))
  const size = { minLength, maxLength: Math.max(minLength, Math.min(maxLength, 40)) }
  const plain = fc.stringMatching(/^[a-z][a-z0-9, &=%+#?]{0,12}$/)
  return fc.oneof(plain, fc.string({ ...size, unit: 'grapheme' }), fc.string(size)).filter(isRight)
}

/** Any JSON value. */
export function nonsense(): fc.Arbitrary<unknown> {
  const odd = [
    '',
    ' ',
    '\0',
    '../..',
    '/etc/passwd',
    '-1',
    '1e999',
    'null',
    '__proto__',
    'x'.repeat(5_000),
    '\ud800',
    '🦆',
  ]
  return fc.oneof(
    fc.constantFrom<unknown>(...odd, null, -1, 0, 1.5, 1e300, true, [], {}),
    fc.jsonValue({ maxDepth: 3 }),
  )
}

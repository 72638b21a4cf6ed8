/** JSON schemas as models read them: what each field is and may be. Further limits are checked by the operation itself. */

export type JsonSchema = { [key: string]: unknown }

/** An input keeps its descriptions and allows nothing else, unless only the `fields` that matter are listed. */
export function inputSchema(schema: object, { fields, items }: Named = {}): JsonSchema {
  const shortened = asObject(shorten(schema as JsonSchema, true))
  const whole = items ? withItems(shortened, items) : shortened
  return fields ? only(whole, fields) : { ...whole, additionalProperties: false }
}

/** `items`: the fields of list items. */
type Named = { fields?: readonly string[] | undefined; items?: readonly string[] | undefined }

function withItems({ properties = {}, ...rest }: JsonSchema, fields: readonly string[]): JsonSchema {
  const described = Object.entries(properties as Record<string, JsonSchema>).map(([name, field]) => [
    name,
    field.items === undefined ? field : { ...field, items: only(field.items as JsonSchema, fields) },
  ])
  return { ...rest, properties: Object.fromEntries(described) }
}

/** An output is described in outline: its upper levels and, if named, the fields that matter. The reader sees the rest. */
export function outputSchema(schema: object, fields?: readonly string[]): JsonSchema {
  const whole = asObject(shorten(schema as JsonSchema, false))
  return fields ? only(whole, fields) : whole
}

function only({ properties = {}, required, ...rest }: JsonSchema, fields: readonly string[]): JsonSchema {
  return {
    ...rest,
    properties: Object.fromEntries(Object.entries(properties as object).filter(([name]) => fields.includes(name))),
    ...(Array.isArray(required) ? { required: required.filter((name) => fields.includes(name)) } : {}),
  }
}

/** Deeper levels of an output are not described. */
const OUTPUT_DEPTH = 1

function shorten({ type: types, ...schema }: JsonSchema, isInput: boolean, depth = 0): JsonSchema {
  // A type with two names would be shorter, but several clients do not understand it.
  if (Array.isArray(types)) return shorten({ ...schema, anyOf: types.map((type) => ({ type })) }, isInput, depth)
  const type = types
  const { description, properties, required, items, anyOf } = schema
  const deeper = (one: unknown) => shorten(one as JsonSchema, isInput, depth + 1)
  if (!isInput && depth > OUTPUT_DEPTH && type !== undefined) return { type }
  const short: JsonSchema = {}
  if (isInput && description !== undefined) short.description = description
  if (type !== undefined) short.type = type
  if (isInput && schema.enum !== undefined) short.enum = schema.enum
  if (properties !== undefined)
    short.properties = Object.fromEntries(
      Object.entries(properties as object).map(([name, one]) => [name, deeper(one)]),
    )
  if (isInput && required !== undefined) short.required = required
  if (items !== undefined) short.items = shorten(items as JsonSchema, isInput, depth)
  return Array.isArray(anyOf) ? { ...short, anyOf: anyOf.map(deeper) } : short
}

/** For an input where null is the same as leaving a field out. */
export function withoutNull(schema: JsonSchema): JsonSchema {
  const fields = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>)
  const plain = fields.map(([name, { anyOf, ...field }]) => {
    const options = ((anyOf ?? []) as JsonSchema[]).filter(({ type }) => type !== 'null')
    const [only = {}, ...others] = options
    return [name, others.length > 0 ? { ...field, anyOf: options } : { ...field, ...only }]
  })
  return { ...schema, properties: Object.fromEntries(plain) }
}

/** A tool takes and returns an object: with several shapes, the fields of all of them. */
function asObject(schema: JsonSchema): JsonSchema {
  if (!Array.isArray(schema.anyOf)) return { type: 'object', ...schema }
  return { type: 'object', properties: fieldsOf((schema.anyOf as JsonSchema[]).map(asObject)) }
}

/** A field that differs between shapes may be any of them. */
function fieldsOf(shapes: readonly JsonSchema[]): JsonSchema {
  const fields: JsonSchema = {}
  for (const { properties } of shapes)
    for (const [name, field] of Object.entries((properties ?? {}) as Record<string, JsonSchema>)) {
      const known = fields[name] as JsonSchema | undefined
      fields[name] = !known || JSON.stringify(known) === JSON.stringify(field) ? field : { type: field.type }
    }
  return fields
}

/** What a stored value must look like, field by field. A shape says what is wrong with a value, or nothing. */

/** Empty: valid. `at`: the path of the value. `strict`: unknown fields are errors too. */
export type Shape = (value: unknown, at: string, strict: boolean) => string

type Maybe = { maybe: Shape }

/** Every field of a type, so that none is forgotten when the type grows. */
export type Fields<T> = { [Name in keyof T]-?: object extends Pick<T, Name> ? Maybe : Shape }

/** The fields of each kind of a union. */
export type Kinds<T extends { kind: string }> = {
  [Kind in T['kind']]: Fields<Omit<Extract<T, { kind: Kind }>, 'kind'>>
}

export function maybe(shape: Shape): Maybe {
  return { maybe: shape }
}

export const text: Shape = (value, at) => (typeof value === 'string' ? '' : wrong(at, 'is not a string'))
/** JSON stores what it cannot express as a number, such as Infinity, as null. */
export const amount: Shape = (value, at) =>
  value === null || typeof value === 'number' ? '' : wrong(at, 'is not a number')
/** For values that users set: a finite number. */
export const positive: Shape = (value, at, strict) => {
  if (!strict) return amount(value, at, strict)
  return Number.isFinite(value) && Number(value) >= 0 ? '' : wrong(at, 'is not a number of 0 or more')
}
export const flag: Shape = (value, at) => (typeof value === 'boolean' ? '' : wrong(at, 'is neither true nor false'))
export const yes: Shape = oneOf(true)

export function oneOf(...values: readonly unknown[]): Shape {
  return (value, at) => (values.includes(value) ? '' : wrong(at, 'has an unknown value'))
}

export function either(...shapes: readonly Shape[]): Shape {
  return (value, at, strict) => {
    const all = shapes.map((shape) => shape(value, at, strict))
    return all.includes('') ? '' : (all.at(-1) ?? '')
  }
}

export function listOf(shape: Shape): Shape {
  return (value, at, strict) => {
    if (!Array.isArray(value)) return wrong(at, 'is not a list')
    return first(value, (entry, index) => shape(entry, `${at}[${index}]`, strict))
  }
}

/** With any keys. */
export function namesTo(shape: Shape): Shape {
  return (value, at, strict) =>
    isPlain(value)
      ? first(Object.entries(value), ([name, entry]) => shape(entry, below(at, name), strict))
      : wrong(at, 'is not an object')
}

export function object<T>(fields: Fields<T>): Shape {
  const known = new Map(Object.entries<Shape | Maybe>(fields))
  return (value, at, strict) => {
    if (!isPlain(value)) return wrong(at, 'is not an object')
    const missing = [...known].find(([name, shape]) => typeof shape === 'function' && !Object.hasOwn(value, name))
    if (missing) return wrong(below(at, missing[0]), 'is missing')
    return first(Object.entries(value), ([name, entry]) => {
      const shape = known.get(name)
      if (!shape) return strict ? wrong(below(at, name), 'is an unknown field') : ''
      return (typeof shape === 'function' ? shape : shape.maybe)(entry, below(at, name), strict)
    })
  }
}

/** One of several kinds, each with its own fields. */
export function kinds<T extends { kind: string }>(fields: Kinds<T>): Shape {
  const known = new Map(
    Object.entries<object>(fields).map(([kind, more]) => [kind, object({ kind: text, ...more } as Fields<object>)]),
  )
  return (value, at, strict) => {
    if (!isPlain(value)) return wrong(at, 'is not an object')
    const shape = Object.hasOwn(value, 'kind') && typeof value.kind === 'string' ? known.get(value.kind) : undefined
    return shape ? shape(value, at, strict) : wrong(below(at, 'kind'), 'is unknown')
  }
}

function first<Entry>(entries: readonly Entry[], look: (entry: Entry, index: number) => string): string {
  for (const [index, entry] of entries.entries()) {
    const found = look(entry, index)
    if (found) return found
  }
  return ''
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function below(at: string, name: string): string {
  return at ? `${at}.${name}` : name
}

/** A name may be anything somebody wrote there. */
function wrong(at: string, what: string): string {
  return at ? `${JSON.stringify(at.length > 60 ? `${at.slice(0, 59)}…` : at)} ${what}` : `it ${what}`
}

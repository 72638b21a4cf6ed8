/** JSON that people, agents and programs write: read with a byte order mark, wrong ones told in words. */

export type Json = Readonly<Record<string, unknown>>

/** Whatever goes down into a value, JSON.stringify too, takes a part of the stack for each level; SQLite reads up to 1,000. */
const DEEPEST = 200

/** The one reader of JSON from outside. `problem` is a sentence about a text that is no JSON, or nested without end. */
export function readJson(text: string): { value: unknown } | { problem: string } {
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''))
    return text.length > 2 * DEEPEST && isTooDeep(value)
      ? { problem: `it is nested more than ${DEEPEST} levels deep.` }
      : { value }
  } catch (cause) {
    // What was found is quoted in it, with the line breaks.
    return {
      problem: `it is not valid JSON (${String(cause instanceof Error ? cause.message : cause).replace(/\s+/g, ' ')}).`,
    }
  }
}

/** Undefined for what is no JSON, or nested without end. */
export function jsonIn(text: string): unknown {
  const read = readJson(text)
  return 'value' in read ? read.value : undefined
}

export function isTooDeep(value: unknown): boolean {
  return isDeeper(value, DEEPEST)
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1))
}

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string')
}

export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

/** A value as it is named in a sentence, cut short. */
export function quote(value: unknown): string {
  const text = JSON.stringify(value) ?? 'missing'
  return text.length > 60 ? `${text.slice(0, 59)}…` : text
}

/** Two spaces and a line break at the end. */
export function printJson(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`
}

/** What stands behind several keys, one inside the other; undefined: nothing does. */
export function valueAt(value: unknown, [key, ...more]: readonly string[]): unknown {
  if (key === undefined) return value
  return isObject(value) && Object.hasOwn(value, key) ? valueAt(value[key], more) : undefined
}

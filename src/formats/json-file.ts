/** Reads JSON from people, agents and programs: accepts a byte order mark and explains errors. */

export type Json = Readonly<Record<string, unknown>>

/** Walking a value, even JSON.stringify, uses stack for each level; SQLite reads up to 1,000. */
const DEEPEST = 200

/** The one reader of JSON from outside. `problem` is a sentence about text that is not JSON or nested too deeply. */
export function readJson(text: string): { value: unknown } | { problem: string } {
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''))
    return text.length > 2 * DEEPEST && isTooDeep(value)
      ? { problem: `it is nested more than ${DEEPEST} levels deep.` }
      : { value }
  } catch (cause) {
    // The message quotes the input, line breaks included.
    return {
      problem: `it is not valid JSON (${String(cause instanceof Error ? cause.message : cause).replace(/\s+/g, ' ')}).`,
    }
  }
}

/** Undefined if it is not JSON, or nested too deeply. */
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

/** A value for a message, shortened. */
export function quote(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 60 ? `${text.slice(0, 59)}…` : text
}

/** With two-space indentation and a final newline. */
export function printJson(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`
}

/** The value at a path of keys; undefined if there is none. */
export function valueAt(value: unknown, [key, ...more]: readonly string[]): unknown {
  if (key === undefined) return value
  return isObject(value) && Object.hasOwn(value, key) ? valueAt(value[key], more) : undefined
}

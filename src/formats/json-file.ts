/** JSON files that people and agents write: read with a byte order mark, wrong ones told in words. */

export type Json = Readonly<Record<string, unknown>>

/** `problem` is a sentence about a text that is no JSON. */
export function readJson(text: string): { value: unknown } | { problem: string } {
  try {
    return { value: JSON.parse(text.replace(/^\uFEFF/, '')) }
  } catch (cause) {
    // What was found is quoted in it, with the line breaks.
    return {
      problem: `it is not JSON (${String(cause instanceof Error ? cause.message : cause).replace(/\s+/g, ' ')}).`,
    }
  }
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

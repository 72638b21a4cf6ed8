/** Checks a YAML mapping against a table of keys: errors about unknown keys and invalid values say what to write. */
import { isScalar, isSeq, type ParsedNode } from 'yaml'
import type { Key, Keys } from './config.ts'
import type { Json } from './json-file.ts'
import { nearest } from './nearest.ts'
import { describe, type Entry, entriesOf, type Found, itemsOf, usable, wrongAt, type YamlFile } from './yaml-file.ts'

export type Shape = {
  keys: Keys
  /** Keys with nested mappings. */
  nested?: Readonly<Record<string, (entry: Entry) => object>>
  /** Misplaced keys, and what to do with each. */
  misplaced?: Readonly<Record<string, string>>
  nameOf: (key: string) => string
}

export function readMapping(file: YamlFile, found: Found, { keys, nested = {}, misplaced = {}, nameOf }: Shape): Json {
  const entries = entriesOf(file, found, nameOf).map((entry) => {
    const { key, keyAt, what } = entry
    usable(file, entry) // for `<<: *all`, report the alias first
    const [move, inner, known] = [own(misplaced, key), own(nested, key), own(keys, key)]
    if (move) throw wrongAt(file, keyAt, `${what} does not belong here. ${move}`)
    if (inner) return [key, inner(entry)]
    if (known) return [key, readValue(file, entry, known)]
    const all = [...Object.keys(keys), ...Object.keys(nested)].filter((name) => !own(misplaced, name))
    const close = nearest(key, all)
    const meant = close ? `; did you mean "${close}"?` : '.'
    throw wrongAt(file, keyAt, `${what} is unknown${meant} Known: ${all.join(', ')}.`)
  })
  return Object.fromEntries(entries)
}

function own<Value>(table: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined
}

function readValue(file: YamlFile, found: Found, key: Key): unknown {
  const value = plainValue(usable(file, found))
  if (key.fits(value)) return value
  throw wrongItem(file, found, key) ?? misfit(file, found, key.expected)
}

/** The first invalid item; undefined: it is not a list, or none is expected. */
function wrongItem(file: YamlFile, found: Found, { fits, expected, item: wanted = TEXT }: Key): Error | undefined {
  if (!isSeq(found.node) || !/\ba list\b/.test(expected)) return undefined
  for (const item of itemsOf(file, found, (position) => `item ${position} of ${found.what}`)) {
    const value = plainValue(usable(file, item))
    if (!fits([value])) return misfit(file, item, typeof value === 'string' ? wanted : TEXT)
  }
  return undefined
}

const TEXT = 'a string'

function misfit(file: YamlFile, { what, at, node }: Found, expected: string): Error {
  return wrongAt(file, at, `${what} must be ${expected}, got ${describe(node)}.${hint(node, expected)}`)
}

/** An object stands for a mapping and for anything deeper than a list item: no key accepts those. */
function plainValue(node: ParsedNode | null): unknown {
  if (isScalar(node)) return node.value
  if (!isSeq(node)) return node && {}
  return node.items.map((item) => (isScalar(item) ? item.value : {}))
}

/** What to write if the value has the wrong type. */
function hint(node: ParsedNode | null, expected: string): string {
  if (!isScalar(node) || node.value === null) return ''
  if (expected.startsWith('a list')) return ' Start each item with "- ".'
  if (typeof node.value !== 'string') return expected === TEXT ? ' Put it in quotes.' : ''
  if (/^a [\w -]*number/.test(expected) && /^\d+(\.\d+)?$/.test(node.value)) return ' Remove the quotes.'
  const meant = expected === 'true or false' && MEANT.find(([words]) => words.test(String(node.value)))
  return meant ? ` Write ${meant[1]}.` : ''
}

/** Words that are booleans in older YAML. */
const MEANT = [
  [/^(?:y|yes|on|true)$/i, 'true'],
  [/^(?:n|no|off|false)$/i, 'false'],
] as const

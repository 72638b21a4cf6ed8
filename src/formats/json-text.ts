/** Edits a user's JSON as text, comments and trailing commas included, so that everything else keeps its bytes. */
import { type Node, type ParseError, parse, parseTree } from 'jsonc-parser'
import { RalphError } from '../error.ts'
import { isObject, isTooDeep, readJson } from './json-file.ts'

/**
 * An entry at the end of a list or, with a `key`, a field of an object. Missing objects on the way, and the list or object
 * itself, are created.
 */
export type Entry = { at: readonly string[]; key?: string; item: unknown }

/** `name` is the file in error messages. Empty text becomes a new object. */
export function addEntry(text: string, entry: Entry, name: string): string {
  if (text.trim() === '') return addEntry('{}\n', entry, name)
  const { at, key: field, item } = entry
  let place = readPlace(text)
  for (const [depth, key] of at.entries()) {
    if (place.kind !== 'object') throw taken(name, at.slice(0, depth), 'an object')
    const member = place.parts.findLast((part) => part.key === key)
    if (!member)
      return insert(text, place, nest(at.slice(depth + 1), field === undefined ? [item] : { [field]: item }), key)
    place = member.value
  }
  if (field === undefined && place.kind !== 'list') throw taken(name, at, 'a list')
  if (field !== undefined && place.kind !== 'object') throw taken(name, at, 'an object')
  if (field !== undefined && place.parts.some((part) => part.key === field))
    throw new RalphError(
      'input-invalid',
      `${name}: "${[...at, field].join('.')}" already exists and was not written by ralph. Rename or remove it first.`,
    )
  return insert(text, place, item, field)
}

/** Appends a field to the top-level object, unless it already has one of that name. */
export function addField(text: string, key: string, value: unknown): string {
  if (text.trim() === '') return addField('{}\n', key, value)
  const root = readPlace(text)
  if (root.kind !== 'object' || root.parts.some((part) => part.key === key)) return text
  return insert(text, root, value, key)
}

/**
 * Removes every entry that `isOwn` recognizes, wherever it is. Lists, groups of hooks and objects that become empty go
 * too.
 */
export function removeEntries(text: string, isOwn: (item: unknown) => boolean): string {
  if (text.trim() === '') return text
  const way = findOwn(text, readPlace(text), isOwn, [])
  return way ? removeEntries(cut(text, way), isOwn) : text
}

/** Every list item and every nested object in a value. */
export function allItems(value: unknown): unknown[] {
  if (Array.isArray(value)) return value.flatMap((item) => [item, ...allItems(item)])
  if (!isObject(value)) return []
  return Object.values(value).flatMap((field) => [...(isObject(field) ? [field] : []), ...allItems(field)])
}

/** Why a text cannot be edited as JSON, as a sentence for the user. Undefined: it can. */
export function whyUnusable(text: string, name: string): string | undefined {
  if (text.trim() === '') return undefined
  const read = readJson(text)
  const value = 'value' in read ? read.value : readLooseJson(text)
  if (value === undefined && 'problem' in read) return `${name} cannot be changed: ${read.problem} Fix it first.`
  return isObject(value) ? undefined : `${name} must contain a JSON object. Fix it first.`
}

/** Where a value starts and ends in the text; a part with a key starts at the key. */
type Place = { kind: 'object' | 'list' | 'scalar'; start: number; end: number; parts: Part[] }
type Part = { key?: string; start: number; value: Place }

function taken(name: string, at: readonly string[], what: string): RalphError {
  return new RalphError('input-invalid', `${name}: "${at.join('.')}" must be ${what}. Fix it first.`)
}

function nest(keys: readonly string[], item: unknown): unknown {
  return keys.reduceRight<unknown>((inner, key) => ({ [key]: inner }), item)
}

/** The whole of a valid text. */
function readPlace(text: string): Place {
  const [mark] = /^\uFEFF?/.exec(text) ?? ['']
  const root = parseTree(text.slice(mark.length), [], { allowTrailingComma: true })
  if (!root) throw new Error('The text to edit is not JSON.')
  return placeOf(root, mark.length)
}

function placeOf({ type, offset, length, children = [] }: Node, shift: number): Place {
  const start = offset + shift
  const kind = type === 'object' ? 'object' : type === 'array' ? 'list' : 'scalar'
  return { kind, start, end: start + length, parts: children.map((child) => partOf(child, shift)) }
}

function partOf(node: Node, shift: number): Part {
  const start = node.offset + shift
  const [name, value] = node.type === 'property' ? (node.children ?? []) : []
  return name && value
    ? { key: String(name.value), start, value: placeOf(value, shift) }
    : { start, value: placeOf(node, shift) }
}

/** Follows the file's style: indentation, line endings, and one-line values stay on one line. */
function insert(text: string, into: Place, value: unknown, key?: string): string {
  const newline = text.includes('\r\n') ? '\r\n' : '\n'
  const unit = /^[ \t]+(?=\S)/m.exec(text)?.[0] ?? '  '
  const label = key === undefined ? '' : `${JSON.stringify(key)}: `
  const print = (margin: string) =>
    label + JSON.stringify(value, undefined, unit).replaceAll('\n', `${newline}${margin}`)
  const last = into.parts.at(-1)
  const margin = marginAt(text, into.start)
  if (!last) {
    const inside = text.slice(into.start + 1, into.end - 1).trimEnd() // comments
    const added = `${newline}${margin}${unit}${print(margin + unit)}${newline}${margin}`
    return text.slice(0, into.start + 1) + inside + added + text.slice(into.end - 1)
  }
  const { head, beside, rest, isTrailing } = besides(text, last.value.end)
  const before = text.slice(text.lastIndexOf('\n', last.start) + 1, last.start)
  const ownLine = text.slice(0, last.start).includes('\n') && before.trim() === ''
  const indent = ownLine ? before : margin + unit
  const isBelow = ownLine || beside.includes('//')
  const added = isBelow ? `${newline}${indent}${print(indent)}` : ` ${label}${JSON.stringify(value)}`
  return head + beside + added + (isTrailing ? ',' : '') + rest
}

// Comments and whitespace between two values; a comment on the same line belongs to the value before it.
const BETWEEN = /^(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/
const SAME_LINE = /^(?:[^\S\r\n]*(?:\/\/[^\r\n]*|\/\*[^\r\n]*?\*\/))*/

/** The position of the comma after a value. */
function commaBehind(text: string, end: number): number | undefined {
  const [between = ''] = BETWEEN.exec(text.slice(end)) ?? []
  return text[end + between.length] === ',' ? end + between.length : undefined
}

/** The text up to the last value with its comma, the comment next to it, and the rest. */
function besides(text: string, end: number): { head: string; beside: string; rest: string; isTrailing: boolean } {
  const comma = commaBehind(text, end)
  const head = comma === undefined ? `${text.slice(0, end)},` : text.slice(0, comma + 1)
  const after = text.slice(comma === undefined ? end : comma + 1)
  const [beside = ''] = SAME_LINE.exec(after) ?? []
  return { head, beside, rest: after.slice(beside.length), isTrailing: comma !== undefined }
}

function marginAt(text: string, at: number): string {
  return /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', at - 1) + 1))?.[0] ?? ''
}

type Step = { place: Place; index: number }

/** The path to the first entry to remove. */
function findOwn(text: string, place: Place, isOwn: (item: unknown) => boolean, way: Step[]): Step[] | undefined {
  for (const [index, part] of place.parts.entries()) {
    const here = [...way, { place, index }]
    const isEntry = place.kind === 'list' || part.value.kind === 'object'
    if (isEntry && isOwn(readLooseJson(text.slice(part.value.start, part.value.end)))) return here
    const below = findOwn(text, part.value, isOwn, here)
    if (below) return below
  }
  return undefined
}

function cut(text: string, way: Step[]): string {
  const step = way.at(-1)
  if (!step) return text
  const { place, index } = step
  const above = way.at(-2)
  // A group of hooks without its hooks means nothing.
  const isGroup = place.kind === 'object' && place.parts[index]?.key === 'hooks' && above?.place.kind === 'list'
  const [before, part, after] = [place.parts[index - 1], place.parts[index], place.parts[index + 1]]
  if (!part) return text
  const isAlone = place.parts.length === 1 && !hasComments(text, place, part)
  if (above && (isGroup || isAlone)) return cut(text, way.slice(0, -1))
  const { end } = part.value
  const comma = commaBehind(text, end)
  if (after && comma !== undefined) {
    const between = text.slice(end, comma).trim()
    return text.slice(0, part.start) + (between && `${between} `) + text.slice(comma + 1).trimStart()
  }
  const start = before ? before.value.end : place.start + 1
  const said = text.slice(start, part.start)
  const below = comma === undefined ? text.slice(end) : text.slice(end, comma) + text.slice(comma + 1)
  // The comma before it goes, unless one follows it.
  const first = comma === undefined ? commaBehind(text, start) : undefined
  const kept = first === undefined ? said : text.slice(start, first) + text.slice(first + 1, part.start)
  return text.slice(0, start) + joined(kept.trimEnd(), below)
}

/** Whether it contains anything but this part. */
function hasComments(text: string, place: Place, part: Part): boolean {
  const around = text.slice(place.start + 1, part.start) + text.slice(part.value.end, place.end - 1)
  return around.replace(',', '').trim() !== ''
}

/** What follows a line comment must stay on a line below it. */
function joined(above: string, below: string): string {
  return /\/\/[^\n]*$/.test(above) && !/^\s*\n/.test(below) ? `${above}\n${below}` : above + below
}

/** Parses JSON with comments and trailing commas; undefined if it is invalid even then, or nested too deeply. */
export function readLooseJson(text: string): unknown {
  const errors: ParseError[] = []
  try {
    const value: unknown = parse(text.replace(/^\uFEFF/, ''), errors, { allowTrailingComma: true })
    return errors.length === 0 && !isTooDeep(value) ? value : undefined
  } catch {
    return undefined // deeper than the stack
  }
}

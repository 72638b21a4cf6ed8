/** JSON that belongs to a person: entries are put in and taken out as text, so that everything else keeps its bytes. */
import { RalphError } from '../error.ts'
import { isObject, readJson } from './json-file.ts'

/** An entry at the end of a list. The objects on the way to the list, and the list, are made where they are missing. */
export type ListEntry = { at: readonly string[]; item: unknown }

/** `name` is the file in the sentence about a place that is taken by something else. An empty text becomes a new object. */
export function addEntry(text: string, { at, item }: ListEntry, name: string): string {
  if (text.trim() === '') return addEntry('{}\n', { at, item }, name)
  let node = parseNodes(text)
  for (const [depth, key] of at.entries()) {
    if (node.kind !== 'object') throw taken(name, at.slice(0, depth), 'an object')
    const member = node.parts.findLast((part) => part.key === key)
    if (!member) return insert(text, node, nest(at.slice(depth + 1), item), key)
    node = member.node
  }
  if (node.kind !== 'list') throw taken(name, at, 'a list')
  return insert(text, node, item)
}

/** Puts a field at the end of the whole object, unless it has one of that name. */
export function addField(text: string, key: string, value: unknown): string {
  const root = parseNodes(text.trim() === '' ? '{}\n' : text)
  if (root.kind !== 'object' || root.parts.some((part) => part.key === key)) return text
  return insert(text.trim() === '' ? '{}\n' : text, root, value, key)
}

/**
 * Takes every entry of a list out that `isOwn` knows, wherever the list is. A list, a group of hooks or an object that
 * has nothing else in it goes, too.
 */
export function removeEntries(text: string, isOwn: (item: unknown) => boolean): string {
  if (text.trim() === '') return text
  const way = findOwn(text, parseNodes(text), isOwn, [])
  return way ? removeEntries(cut(text, way), isOwn) : text
}

/** Every item of every list in a value. */
export function allItems(value: unknown): unknown[] {
  if (Array.isArray(value)) return value.flatMap((item) => [item, ...allItems(item)])
  return isObject(value) ? Object.values(value).flatMap(allItems) : []
}

/** What stands in the way of changing a text as JSON: a sentence for the person, or nothing. */
export function whyNotPlain(text: string, name: string): string | undefined {
  if (text.trim() === '') return undefined
  const read = readJson(text)
  if ('value' in read)
    return isObject(read.value)
      ? undefined
      : `${name} must hold a JSON object, but holds something else. Put it right first.`
  if ('value' in readJson(withoutExtras(text)))
    return `${name} has comments or commas at the end of a list. ralph changes only plain JSON, so that nothing of yours is lost.`
  return `${name} cannot be changed: ${read.problem} Put it right first.`
}

type Part = { key?: string; start: number; node: Node }
type Node = { kind: 'object' | 'list' | 'scalar'; start: number; end: number; parts: Part[] }

function taken(name: string, at: readonly string[], what: string): RalphError {
  return new RalphError('input-invalid', `${name}: "${at.join('.')}" must be ${what}. Put it right first.`)
}

function nest(keys: readonly string[], item: unknown): unknown {
  return keys.reduceRight<unknown>((inner, key) => ({ [key]: inner }), [item])
}

/** Where everything in a valid text begins and ends. */
function parseNodes(text: string): Node {
  let at = text.startsWith('\uFEFF') ? 1 : 0
  const skip = () => {
    while (/\s/.test(text[at] ?? '')) at++
  }
  const scan = (pattern: RegExp) => {
    pattern.lastIndex = at
    at += pattern.exec(text)?.[0].length ?? 1
  }
  function value(): Node {
    const start = at
    const open = text[at]
    if (open !== '{' && open !== '[') {
      scan(open === '"' ? STRING : SCALAR)
      return { kind: 'scalar', start, end: at, parts: [] }
    }
    at++
    skip()
    const parts: Part[] = []
    while (text[at] !== '}' && text[at] !== ']') {
      parts.push(open === '{' ? member() : item())
      skip()
      if (text[at] === ',') at++
      skip()
    }
    at++
    return { kind: open === '{' ? 'object' : 'list', start, end: at, parts }
  }
  function item(): Part {
    return { start: at, node: value() }
  }
  function member(): Part {
    const start = at
    scan(STRING)
    const key: string = JSON.parse(text.slice(start, at))
    scan(/\s*:\s*/y)
    return { key, start, node: value() }
  }
  skip()
  return value()
}

const STRING = /"(?:[^"\\]|\\[\s\S])*"/y
const SCALAR = /[^\s,\]}]+/y

/** In the way the file is written: its indentation, its line ends, and on one line what is on one line. */
function insert(text: string, into: Node, value: unknown, key?: string): string {
  const newline = text.includes('\r\n') ? '\r\n' : '\n'
  const unit = /^[ \t]+(?=\S)/m.exec(text)?.[0] ?? '  '
  const label = key === undefined ? '' : `${JSON.stringify(key)}: `
  const print = (margin: string) =>
    label + JSON.stringify(value, undefined, unit).replaceAll('\n', `${newline}${margin}`)
  const last = into.parts.at(-1)
  if (!last) {
    const margin = marginAt(text, into.start)
    const inside = `${newline}${margin}${unit}${print(margin + unit)}${newline}${margin}`
    return text.slice(0, into.start + 1) + inside + text.slice(into.end - 1)
  }
  const before = text.slice(text.lastIndexOf('\n', last.start) + 1, last.start)
  const ownLine = text.slice(0, last.start).includes('\n') && before.trim() === ''
  const added = ownLine ? `,${newline}${before}${print(before)}` : `, ${label}${JSON.stringify(value)}`
  return text.slice(0, last.node.end) + added + text.slice(last.node.end)
}

function marginAt(text: string, at: number): string {
  return /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', at - 1) + 1))?.[0] ?? ''
}

type Step = { node: Node; index: number }

/** The way down to the first entry that is to go. */
function findOwn(text: string, node: Node, isOwn: (item: unknown) => boolean, way: Step[]): Step[] | undefined {
  for (const [index, part] of node.parts.entries()) {
    const here = [...way, { node, index }]
    if (node.kind === 'list' && isOwn(JSON.parse(text.slice(part.start, part.node.end)))) return here
    const below = findOwn(text, part.node, isOwn, here)
    if (below) return below
  }
  return undefined
}

function cut(text: string, way: Step[]): string {
  const step = way.at(-1)
  if (!step) return text
  const { node, index } = step
  const above = way.at(-2)
  // A group of hooks without its hooks means nothing.
  const isGroup = node.kind === 'object' && node.parts[index]?.key === 'hooks' && above?.node.kind === 'list'
  if (above && (isGroup || node.parts.length === 1)) return cut(text, way.slice(0, -1))
  const [before, part, after] = [node.parts[index - 1], node.parts[index], node.parts[index + 1]]
  if (!part) return text
  if (after) return text.slice(0, part.start) + text.slice(after.start)
  if (before) return text.slice(0, before.node.end) + text.slice(part.node.end)
  return text.slice(0, node.start + 1) + text.slice(node.end - 1)
}

/** Without comments and last commas; strings stay as they are. */
function withoutExtras(text: string): string {
  return text
    .replace(/("(?:[^"\\]|\\[\s\S])*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, '$1')
    .replace(/("(?:[^"\\]|\\[\s\S])*")|,(?=\s*[}\]])/g, '$1')
}

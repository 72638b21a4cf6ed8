/** Reads YAML files that people write: mappings and lists with positions, errors with line and column. */
import { isAlias, isMap, isScalar, isSeq, LineCounter, type ParsedNode, parseDocument } from 'yaml'
import { RalphError } from '../error.ts'
import { quote } from './json-file.ts'

export type YamlFile = { name: string; lines: LineCounter; top: Found }

/** A value or list item; `what` names it in messages, `at` is its offset in the text. */
export type Found = { node: ParsedNode | null; what: string; at: number }

export type Entry = Found & { key: string; keyAt: number }

/** In characters. A file full of errors takes seconds at this size. */
const MOST = 1_000_000

export function parseYamlFile(text: string, name: string): YamlFile {
  if (text.length > MOST)
    throw new RalphError('input-invalid', `${name}: the file has ${text.length} characters; the limit is ${MOST}.`)
  const lines = new LineCounter()
  const document = parseDocument(text, {
    schema: 'core',
    uniqueKeys: false, // `entriesOf` checks: the library compares every key with every other
    prettyErrors: false,
    logLevel: 'error',
    lineCounter: lines,
  })
  const file = { name, lines, top: { node: document.contents, what: 'the file', at: 0 } }
  const [error] = document.errors
  if (error) throw wrongAt(file, error.pos[0], `not valid YAML: ${SENTENCES[error.code] ?? `${error.message}.`}`)
  return file
}

/** Replaces messages that are for programmers or do not say what to do. */
const SENTENCES: Readonly<Record<string, string>> = {
  TAB_AS_INDENT: 'tabs are not allowed as indentation. Use spaces.',
  MULTIPLE_DOCS: 'a second document starts here. Keep only one.',
  RESOURCE_EXHAUSTION: 'it is nested too deeply.',
  BLOCK_AS_IMPLICIT_KEY:
    'two keys on one line, or a key below that is indented too far. Align the keys, or quote a value that contains ": ".',
}

/** Puts the position in front of `sentence`. */
export function wrongAt(file: Pick<YamlFile, 'name' | 'lines'>, at: number, sentence: string): RalphError {
  const { line, col } = placeOf(file, at)
  return new RalphError('input-invalid', `${file.name}:${line}:${col}: ${sentence}`)
}

export function placeOf({ lines }: Pick<YamlFile, 'lines'>, at: number): { line: number; col: number } {
  const { line, col } = lines.linePos(at)
  return { line: Math.max(1, line), col: Math.max(1, col) } // an empty file has no first line
}

/** The entries of a mapping; none if every key is commented out. `nameOf` names the value of a key. */
export function entriesOf(file: YamlFile, found: Found, nameOf: (key: string) => string): Entry[] {
  const node = usable(file, found)
  if (isEmpty(node)) return []
  if (!isMap(node)) throw wrongAt(file, found.at, `${found.what} must be a mapping, got ${describe(node)}.`)
  const seen = new Set<string>()
  return node.items.map(({ key: name, value }) => {
    const keyAt = name.range[0]
    if (!isScalar(name)) throw wrongAt(file, keyAt, `a key of ${found.what} must be a string, got ${describe(name)}.`)
    const key = String(name.value)
    const what = nameOf(cut(key))
    if (seen.has(key)) throw wrongAt(file, keyAt, `${what} is set twice. Keep one.`)
    seen.add(key)
    return { key, keyAt, what, node: value, at: isEmpty(value) ? keyAt : value.range[0] }
  })
}

/** The items of a list; none if every item is commented out. `nameOf` takes the position, starting at 1. */
export function itemsOf(file: YamlFile, found: Found, nameOf: (position: number) => string): Found[] {
  const node = usable(file, found)
  if (isEmpty(node)) return []
  if (!isSeq(node))
    throw wrongAt(file, found.at, `${found.what} must be a list, got ${describe(node)}. Start each item with "- ".`)
  return node.items.map((item, index) => ({ node: item, what: nameOf(index + 1), at: item.range[0] }))
}

/** Aliases can make a small file very large, and tags need a program that knows them. */
export function usable(file: YamlFile, { node, what, at }: Found): ParsedNode | null {
  if (isAlias(node))
    throw wrongAt(
      file,
      at,
      `${what} is the alias *${cut(node.source)}. Aliases are not supported: write the value out.`,
    )
  if (node?.tag && !OWN_TAGS.test(node.tag))
    throw wrongAt(file, at, `${what} has the tag ${cut(node.tag)}. Tags are not supported: write the plain value.`)
  return node
}

const OWN_TAGS = /^tag:yaml\.org,2002:(?:str|int|float|bool|null|map|seq)$/

function isEmpty(node: ParsedNode | null): node is null {
  return node === null || (isScalar(node) && node.value === null)
}

/** For messages. */
export function describe(node: ParsedNode | null): string {
  if (isEmpty(node)) return 'empty'
  if (isMap(node)) return 'a mapping'
  if (isSeq(node)) return 'a list'
  if (isAlias(node)) return 'an alias'
  if (typeof node.value === 'string') return `the string ${quote(node.value)}`
  return typeof node.value === 'number' ? `the number ${node.value}` : String(node.value)
}

/** A foreign name, for messages. */
function cut(text: string): string {
  const line = text.replace(/\p{Cc}/gu, ' ')
  return line.length > 60 ? `${line.slice(0, 59)}…` : line
}

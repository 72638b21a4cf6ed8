/** Plans installs and uninstalls: turns what is wanted, what is there and what was written before into edits. */
import { isDeepStrictEqual } from 'node:util'
import { RalphError } from '../error.ts'
import { jsonIn } from '../formats/json-file.ts'
import {
  addEntry,
  addField,
  allItems,
  type Entry,
  readLooseJson,
  removeEntries,
  whyUnusable,
} from '../formats/json-text.ts'
import type { Wanted } from './pieces.ts'
import { withLines, withoutLines, withoutTable, withTable } from './text-edits.ts'

/** What ralph remembers about a file it wrote. */
export type Written = {
  path: string
  kind: Wanted['kind']
  /** The name of the copy of what was there before, or null if nothing was. */
  before: string | null
  /** Fingerprints of everything ralph ever wrote there, or was about to write. */
  written: string[]
}

/** `undefined`: no file. */
export type Edit = {
  path: string
  kind: Wanted['kind']
  now: Buffer | undefined
  next: Buffer | undefined
  /** What an uninstall brings back. */
  origin: Buffer | undefined
  /** The file was changed since ralph wrote it. */
  changed: boolean
  /** It stays as it is, because it now belongs to the user. */
  left: boolean
}

/** What the planner knows about the machine. */
export type Ground = {
  look(path: string): Buffer | undefined
  /** What was written there before, by path. */
  memory: ReadonlyMap<string, Written>
  /** The copy of what was there before; undefined if it is lost. */
  copyOf(name: string): Buffer | undefined
  fingerprint(bytes: Buffer): string
  isOwn(item: unknown): boolean
  /** Whether text that is not plain JSON contains something of ralph's. */
  mentions(text: string): boolean
}

export function planInstall(wanted: readonly Wanted[], ground: Ground): Edit[] {
  return wanted.map((want) => {
    const now = ground.look(want.path)
    const memory = ground.memory.get(want.path)
    const known = isKnown(now, memory, ground)
    return {
      path: want.path,
      kind: want.kind,
      now,
      next: nextOf(want, now, ground),
      origin: originOf(want, now, ground),
      changed: now !== undefined && memory !== undefined && !known && !isOriginal(now, memory, ground),
      left: false,
    }
  })
}

/** `wanted`: what an installation would have now, in case nothing is recorded; `elsewhere`: where entries may have ended up. */
export function planUninstall(wanted: readonly Wanted[], elsewhere: readonly string[], ground: Ground): Edit[] {
  const remembered = [...ground.memory.values()].map(({ path, kind }): Wanted => {
    const want = wanted.find((one) => one.path === path)
    if (want) return want
    if (kind === 'own') return { kind, path, text: '' }
    if (kind === 'table') return { kind, path, name: '', lines: [] }
    return kind === 'lines' ? { kind, path, lines: [] } : { kind, path, entries: [] }
  })
  const others = [...wanted, ...elsewhere.map((path): Wanted => ({ kind: 'settings', path, entries: [] }))]
  const all = new Map([...others, ...remembered].map((want) => [want.path, want]))
  return [...all.values()].flatMap((want) => {
    const now = ground.look(want.path)
    const memory = ground.memory.get(want.path)
    if (now === undefined || (!memory && want.kind === 'settings' && !ground.mentions(now.toString()))) return []
    if (memory && isOriginal(now, memory, ground)) return []
    const known = isKnown(now, memory, ground)
    const origin = originOf(want, now, ground)
    const left = want.kind === 'own' && !known && (memory !== undefined || now.toString() !== want.text)
    if (left && !memory) return [] // nothing says that it was ever ralph's
    const next = left ? now : origin
    return [{ path: want.path, kind: want.kind, now, next, origin, changed: memory !== undefined && !known, left }]
  })
}

export function isChange({ now, next }: Edit): boolean {
  return now === undefined || next === undefined ? now !== next : !now.equals(next)
}

function isKnown(now: Buffer | undefined, memory: Written | undefined, { fingerprint }: Ground): boolean {
  return now !== undefined && memory?.written.includes(fingerprint(now)) === true
}

function isOriginal(now: Buffer, { before }: Written, { copyOf }: Ground): boolean {
  return before !== null && copyOf(before)?.equals(now) === true
}

function nextOf(want: Wanted, now: Buffer | undefined, ground: Ground): Buffer {
  if (want.kind === 'own') return Buffer.from(want.text)
  const text = textOf(want, now)
  switch (want.kind) {
    case 'lines':
      return Buffer.from(withLines(text, want.lines))
    case 'table':
      return Buffer.from(withTable(text, want, ground.mentions))
    case 'settings':
      return Buffer.from(withEntries(text, want, ground))
  }
}

function withEntries(text: string, want: Extract<Wanted, { kind: 'settings' }>, { isOwn }: Ground): string {
  const own = ownItems(text, isOwn)
  const wanted = want.entries.flatMap(({ item }) => ownItems(JSON.stringify([item]), isOwn))
  if (own.length === wanted.length && want.entries.every((entry) => hasEntry(text, entry))) return text
  const start = removeEntries(text, isOwn)
  const fields = Object.entries(want.fields ?? {})
  const shell = fields.reduce((shape, [key, value]) => addField(shape, key, value), start)
  return want.entries.reduce((shape, entry) => addEntry(shape, entry, want.path), shell)
}

function ownItems(text: string, isOwn: (item: unknown) => boolean): unknown[] {
  return allItems(readLooseJson(text)).filter(isOwn)
}

function hasEntry(text: string, { at, key, item }: Entry): boolean {
  const way = key === undefined ? at : [...at, key]
  const found = way.reduce<unknown>(
    (value, name) => (value as Record<string, unknown> | undefined)?.[name],
    readLooseJson(text),
  )
  if (key !== undefined) return isDeepStrictEqual(found, item)
  return Array.isArray(found) && found.some((one) => isDeepStrictEqual(one, item))
}

/** The content without ralph. */
function originOf(want: Wanted, now: Buffer | undefined, ground: Ground): Buffer | undefined {
  const memory = ground.memory.get(want.path)
  if (memory && (want.kind === 'own' || isKnown(now, memory, ground))) {
    if (memory.before === null) return undefined
    const copy = ground.copyOf(memory.before)
    if (copy) return copy
  }
  if (now === undefined) return undefined
  if (want.kind === 'own') return now.toString() === want.text ? undefined : now
  const text = textOf(want, now)
  const stripped = withoutOwn(text, want, ground)
  if (stripped === text) return now
  return memory?.before === null && isShell(stripped, want) ? undefined : Buffer.from(stripped)
}

function withoutOwn(text: string, want: Exclude<Wanted, { kind: 'own' }>, ground: Ground): string {
  switch (want.kind) {
    case 'lines':
      return withoutLines(text, want.lines)
    case 'table':
      return withoutTable(text, want, ground.mentions)
    case 'settings':
      return removeEntries(text, ground.isOwn)
  }
}

/** Nothing is left in it except what ralph itself had to add. */
function isShell(text: string, want: Wanted): boolean {
  if (want.kind !== 'settings' || text.trim() === '') return text.trim() === ''
  const value = jsonIn(text) // undefined if the user added a comment
  return isDeepStrictEqual(value, {}) || (value !== undefined && isDeepStrictEqual(value, want.fields))
}

function textOf(want: Exclude<Wanted, { kind: 'own' }>, bytes: Buffer | undefined): string {
  const text = bytes?.toString() ?? ''
  if (bytes && !Buffer.from(text).equals(bytes))
    throw new RalphError('file-unusable', `${want.path} is not valid UTF-8. Fix it, then try again.`)
  if (want.kind !== 'settings') return text
  const problem = whyUnusable(text, want.path)
  if (problem !== undefined) throw new RalphError('input-invalid', problem)
  return text
}

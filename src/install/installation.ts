/** One installation on disk: what it wrote where, copies of what was there before, and steps that survive a kill. */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { RalphError } from '../error.ts'
import { isObject, isTexts, printJson, readJson } from '../formats/json-file.ts'
import { makePrivateFolder, writeWhole } from '../host/files.ts'
import { lockFile } from '../host/lock.ts'
import {
  missingFolders,
  readPersonFile,
  removeEmptyFolder,
  removePersonFile,
  removeTemporary,
  replacePersonFile,
  targetOf,
} from '../host/person-file.ts'
import { isOwnEntry, mentionsOwn, type Scope } from './pieces.ts'
import { type Edit, type Ground, isChange, type Written } from './plan.ts'

export type Record = {
  agent: string
  scope: Scope
  /** The folder the agent's files are in. */
  folder: string
  /** Created folders, topmost first. */
  folders: string[]
  files: Written[]
  /** It includes ralph's MCP server. */
  mcp?: true
}

export type Installation = {
  /** Where it is recorded. */
  place: string
  record: Record
  /** Whether it existed before. */
  known: boolean
}

/** All recorded installations. */
export function listInstallations(home: string): Record[] {
  const root = join(home, 'installed')
  const names = existsSync(root) ? readdirSync(root).sort() : []
  return names.flatMap((name) => readRecord(join(root, name)) ?? [])
}

export function openInstallation(home: string, what: Pick<Record, 'agent' | 'scope' | 'folder'>): Installation {
  const mark = createHash('sha256').update(targetOf(what.folder)).digest('hex').slice(0, 8)
  const place = join(home, 'installed', `${what.agent}-${what.scope}-${mark}`)
  const record = readRecord(place)
  return { place, known: record !== undefined, record: record ?? { ...what, folders: [], files: [] } }
}

export function groundOf({ place, record }: Installation, home: string): Ground {
  return {
    isOwn: isOwnEntry({ home, scope: record.scope }),
    mentions: mentionsOwn({ home, scope: record.scope }),
    fingerprint,
    look: (path) => readPersonFile(path)?.bytes,
    memory: new Map(record.files.map((file) => [file.path, file])),
    copyOf(name) {
      const path = join(place, name)
      const bytes = existsSync(path) ? readFileSync(path) : undefined
      return bytes && name === copyName(bytes) ? bytes : undefined
    },
  }
}

/** A permanent copy of what would otherwise be lost. */
export type Kept = { path: string; copy: string }

/** `obsolete`: edits that remove an earlier installation's files. Returns the copies of ralph's files that the user had changed. */
export function applyInstall(
  { place, record }: Installation,
  edits: readonly Edit[],
  obsolete: readonly Edit[],
): Kept[] {
  makePrivateFolder(place)
  for (const { origin } of edits) if (origin) keepCopy(place, origin)
  const kept = edits.flatMap(({ path, kind, now, changed }) =>
    kind === 'own' && changed && now ? [{ path, copy: keepForGood(place, now) }] : [],
  )
  const paths = edits.filter(isChange).flatMap(({ path }) => missingFolders(targetOf(path)))
  const folders = [...new Set([...record.folders, ...paths])]
  const files = edits.map((edit) => writtenOf(edit, record))
  const stale = record.files.filter(({ path }) => files.every((file) => file.path !== path))
  // Written first: if the rest is found half done later, it is known what was there.
  saveRecord(place, { ...record, folders, files: [...files, ...stale] })
  for (const edit of [...obsolete, ...edits]) perform(edit)
  if (stale.length > 0) saveRecord(place, { ...record, folders, files })
  return kept
}

/** Returns the copies of what was in place of files that now belong to the user. */
export function applyUninstall({ place, record }: Installation, edits: readonly Edit[]): Kept[] {
  const kept = edits.flatMap(({ path, left, origin }) =>
    left && origin ? [{ path, copy: keepForGood(place, origin) }] : [],
  )
  for (const edit of edits) perform(edit)
  for (const { path } of record.files) removeTemporary(path)
  for (const folder of [...record.folders].reverse()) removeEmptyFolder(folder)
  rmSync(join(place, RECORD), { force: true })
  rmSync(place, { recursive: true, force: true })
  return kept
}

/** One at a time per home. The end of the process releases it. */
export async function alone<Result>(home: string, act: () => Promise<Result>): Promise<Result> {
  const root = join(home, 'installed')
  const lock = takeLock(root)
  try {
    return await act()
  } finally {
    if (readdirSync(root).every((name) => name.startsWith(LOCK))) rmSync(root, { recursive: true, force: true })
    lock.close()
    removeEmptyFolder(home)
  }
}

function takeLock(root: string): { close(): void } {
  makePrivateFolder(root)
  const lock = lockFile(join(root, LOCK), `process ${process.pid}`)
  if ('heldBy' in lock)
    throw new RalphError(
      'file-unusable',
      `Another \`ralph install\` is running (${lock.heldBy}). Wait for it to finish.`,
    )
  if (existsSync(join(root, LOCK))) return lock
  lock.close() // the previous holder removed everything, including the lock
  return takeLock(root)
}

const LOCK = 'lock.db'
const RECORD = 'manifest.json'

function perform(edit: Edit): void {
  if (!isChange(edit)) return
  const now = readPersonFile(edit.path)?.bytes
  if (now === undefined || edit.now === undefined ? now !== edit.now : !now.equals(edit.now))
    throw new RalphError('file-unusable', `${edit.path} was just changed by another program. Try again.`)
  if (edit.next) replacePersonFile(edit.path, edit.next)
  else removePersonFile(edit.path)
}

function writtenOf({ path, kind, origin, next }: Edit, record: Record): Written {
  const earlier = record.files.find((file) => file.path === path)?.written ?? []
  const written = [...new Set([...earlier, ...(next ? [fingerprint(next)] : [])])]
  return { path, kind, before: origin ? copyName(origin) : null, written }
}

function keepCopy(place: string, bytes: Buffer): string {
  const path = join(place, copyName(bytes))
  if (!existsSync(path)) writeWhole(path, bytes)
  return path
}

function keepForGood(place: string, bytes: Buffer): string {
  const folder = join(dirname(place), 'kept')
  makePrivateFolder(folder)
  return keepCopy(folder, bytes)
}

function copyName(bytes: Buffer): string {
  return `before-${fingerprint(bytes).slice(0, 16)}`
}

function fingerprint(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function saveRecord(place: string, record: Record): void {
  writeWhole(join(place, RECORD), printJson({ version: 1, ...record }))
}

/** An unreadable record counts as none: ralph's own entries are still recognizable. */
function readRecord(place: string): Record | undefined {
  const path = join(place, RECORD)
  if (!existsSync(path)) return undefined
  const read = readJson(readFileSync(path, 'utf8'))
  const value = 'value' in read ? read.value : undefined
  if (!isObject(value) || !isTexts(value.folders) || !Array.isArray(value.files)) return undefined
  const { agent, scope, folder, folders, mcp } = value
  if (typeof agent !== 'string' || typeof folder !== 'string' || !isScope(scope)) return undefined
  return { agent, scope, folder, folders, files: value.files.filter(isWritten), ...(mcp === true ? { mcp } : {}) }
}

function isScope(value: unknown): value is Scope {
  return value === 'user' || value === 'project' || value === 'vault'
}

const KINDS: readonly Written['kind'][] = ['settings', 'own', 'lines', 'table']

function isWritten(value: unknown): value is Written {
  return (
    isObject(value) &&
    typeof value.path === 'string' &&
    KINDS.some((kind) => kind === value.kind) &&
    (value.before === null || typeof value.before === 'string') &&
    isTexts(value.written)
  )
}

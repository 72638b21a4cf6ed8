/** The files of a folder as they are on disk, whatever git says about them. */
import {
  closeSync,
  type Dirent,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  realpathSync,
  type Stats,
} from 'node:fs'
import { join } from 'node:path'
import type { Files } from '../formats/means.ts'

const MOST = 200_000

/** No person wrote a larger file, and reading it would only take time. */
export const LARGEST_TEXT: number = 16 * 1024 * 1024

/** Folders with installed or built files; nobody writes tests there. */
const LEFT_OUT = new Set(
  '.git node_modules .venv venv .tox .nox __pycache__ .pytest_cache .mypy_cache .ruff_cache target dist build out coverage .next .nuxt .turbo .cache .gradle .idea .hg .svn vendor bower_components .artefacts'.split(
    ' ',
  ),
)

/** Whether a file at this path would be found. */
export function isLookedThrough(path: string): boolean {
  return !path.split('/').some((name) => LEFT_OUT.has(name))
}

/** `read` returns the text of a file, or the target of a link. */
export function openDisk(top: string): Files {
  const paths = new Set<string>()
  const links = new Set<string>()
  const open = ['']
  for (let folder = open.pop(); folder !== undefined && paths.size < MOST; folder = open.pop()) {
    for (const entry of entriesOf(join(top, folder))) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory()) {
        if (!LEFT_OUT.has(entry.name)) open.push(path)
        continue
      }
      paths.add(path)
      if (entry.isSymbolicLink()) links.add(path)
    }
  }
  // A check may run a script from a folder that was left out.
  const isListed = paths.has.bind(paths)
  paths.has = (path) => isListed(path) || statAt(join(top, path))?.isFile() === true
  return { paths, links, read: async (path) => textAt(join(top, path)), readOutside }
}

/** The text of a file by its absolute path. A large one is a compiled program. */
export async function readOutside(path: string): Promise<string | undefined> {
  const target = targetOf(path)
  const stat = statAt(target)
  if (!stat?.isFile() || stat.size > LARGEST_SCRIPT) return undefined
  return bytesAt(target)?.toString('utf8')
}

/** Where a link finally points; any other path unchanged. */
export function targetOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path // nothing there
  }
}

const LARGEST_SCRIPT = 1024 * 1024

function textAt(path: string): string | undefined {
  return (statAt(path)?.size ?? 0) > LARGEST_TEXT ? undefined : bytesAt(path)?.toString('utf8')
}

export function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return [] // missing, or not readable
  }
}

/** A link is not followed; undefined: nothing there. */
export function statAt(path: string): Stats | undefined {
  try {
    return lstatSync(path)
  } catch {
    return undefined // missing, or below a file
  }
}

/** The bytes of a file, or the target of a link; undefined: it cannot be read. */
export function bytesAt(path: string): Buffer | undefined {
  try {
    const stat = lstatSync(path)
    if (stat.isSymbolicLink()) return Buffer.from(readlinkSync(path))
    return stat.isFile() ? readFileSync(path) : undefined
  } catch {
    return undefined // missing, or not readable
  }
}

/** The first and the last bytes of a file that is too large to read whole. */
export function endsAt(path: string, size: number, length: number): Buffer {
  const ends = Buffer.alloc(2 * length)
  const file = openSync(path, 'r')
  try {
    readSync(file, ends, 0, length, 0)
    readSync(file, ends, length, length, Math.max(0, size - length))
  } finally {
    closeSync(file)
  }
  return ends
}

/**
 * The means of proof as they are on disk: what git does not see (ignored scripts, installed runners), and what may be
 * hidden from it (by a filter, an exclude, another .git). Taken at the start and compared with one taken now.
 */
import { hash } from 'node:crypto'
import { join, relative } from 'node:path'
import { findMeans, type Part, type Proving, type Role } from '../formats/means.ts'
import { followChecks } from '../formats/means-follow.ts'
import { extractPart } from '../formats/means-parts.ts'
import { folderOf } from '../formats/means-paths.ts'
import { bytesAt, endsAt, LARGEST_TEXT, openDisk, statAt, targetOf } from './disk-files.ts'
import { settingsOutside } from './outside-settings.ts'
import { packageFiles, runnersOf } from './runner-packages.ts'

/** By path from the top of the repository; a package stands for everything in it, and its path ends in a slash. */
export type Fingerprint = { files: Readonly<Record<string, Mark>> }

/** An unchanged `stamp` shows without reading that nothing changed; `hash` says whether a change matters. */
export type Mark = { stamp: string; hash: string }

/** `inGit`: what git itself shows, so it is not a leftover of a test run; `home`: the person's home folder. */
export type Around = { inGit?: ReadonlySet<string>; home?: string | undefined }

/** Where the fingerprint of a loop's start is kept. */
export function marksFile(home: string, loop: string): string {
  return join(home, 'proof', `${loop}.json`)
}

/** With `known`, only files with another stamp are read again, and everything known is looked at again. */
export async function takeFingerprint(
  proving: Proving,
  known?: Fingerprint,
  { inGit, home }: Around = {},
): Promise<Fingerprint> {
  const disk = openDisk(proving.top)
  const [means, { tools, outside, unclear }] = await Promise.all([
    findMeans(disk, proving),
    followChecks(disk, proving),
  ])
  const files: Record<string, Mark> = {}
  const take = (path: string, mark: Mark | undefined) => {
    if (mark) files[path] = mark
  }
  for (const [path, { part, role, protected: isProtected }] of means)
    if (role !== 'test' || isProtected || MAY_DECIDE.test(path) || inGit?.has(path))
      take(path, markFile(proving.top, path, part, known?.files[path]))
  const folders = new Set([
    proving.dir,
    ...[...means].flatMap(([path, { role }]) => (TESTS.has(role) ? [folderOf(path)] : [])),
  ])
  for (const path of [
    ...runnersOf(proving.top, folders, tools),
    ...settingsOutside(proving.top, home, tools),
    ...[...outside].flatMap((path) => [path, targetOf(path)]).map((path) => relative(proving.top, path)),
    ...unclear.files,
    ...Object.keys(known?.files ?? {}),
  ]) {
    if (files[path]) continue
    const old = known?.files[path]
    take(path, path.endsWith('/') ? markPackage(proving.top, path, old) : markFile(proving.top, path, 'whole', old))
  }
  return { files }
}

/** A package that is nearer to a test than the one it used takes precedence. */
const TESTS: ReadonlySet<Role> = new Set(['test', 'setup'])

/** Test folders also contain what tests write; logs and databases decide nothing. */
const MAY_DECIDE =
  /\.([cm]?[jt]sx?|py|rb|java|kts?|cs|fs|php|swift|exs?|go|rs|scala|groovy|lua|dart|clj[cs]?|c|cc|cpp|h|hpp|sh|bats|feature|t|ya?ml|toml|ini|cfg|snap)$/

function markFile(top: string, path: string, part: Part, known: Mark | undefined): Mark | undefined {
  const whole = join(top, path)
  const stat = statAt(whole)
  if (!stat || stat.isDirectory()) return undefined
  const stamp = `${stat.size} ${stat.mtimeMs} ${stat.ctimeMs} ${stat.mode} ${JSON.stringify(part)}`
  if (known?.stamp === stamp) return known
  const isLarge = stat.isFile() && stat.size > LARGEST_TEXT
  const bytes = isLarge ? endsAt(whole, stat.size, LARGE / 2) : bytesAt(whole)
  if (!bytes) return undefined
  const counts = part === 'whole' || isLarge ? undefined : extractPart(part, bytes.toString('utf8'))
  if (counts === '') return undefined // nothing in it counts
  const kind = stat.isSymbolicLink() ? 'link' : stat.mode & 0o100 ? 'may be run' : 'file'
  const size = isLarge ? `${stat.size} ` : ''
  return {
    stamp,
    hash: hash('sha1', `${counts === undefined ? kind : 'part'}\0${size}${hash('sha1', counts ?? bytes)}`),
  }
}

/** All its files as one; very large ones by their first and last bytes. */
function markPackage(top: string, path: string, known: Mark | undefined): Mark | undefined {
  const folder = join(top, path)
  const found = packageFiles(folder)
  if (found.length === 0) return undefined
  const stamp = hash(
    'sha1',
    found.map(({ name, stat }) => `${name}\0${stat.size}\0${stat.mtimeMs}\0${stat.ctimeMs}`).join('\n'),
  )
  if (known?.stamp === stamp) return known
  const parts = found.map(({ name, stat }) => {
    const path = join(folder, name)
    const bytes = stat.isFile() && stat.size > LARGE ? endsAt(path, stat.size, LARGE / 2) : bytesAt(path)
    return `${name}\0${stat.size}\0${hash('sha1', bytes ?? '')}`
  })
  return { stamp, hash: hash('sha1', parts.sort().join('\n')) }
}

const LARGE = 1024 * 1024

export type Differences = { changed: string[]; added: string[]; deleted: string[] }

/** Sorted paths. The same bytes with another time are not a change. */
export function compareFingerprints(before: Fingerprint, after: Fingerprint): Differences {
  const [old, now] = [Object.keys(before.files), Object.keys(after.files)]
  const hashOf = ({ files }: Fingerprint, path: string) => (Object.hasOwn(files, path) ? files[path]?.hash : undefined)
  return {
    changed: old
      .filter((path) => Object.hasOwn(after.files, path) && hashOf(before, path) !== hashOf(after, path))
      .sort(),
    added: now.filter((path) => !Object.hasOwn(before.files, path)).sort(),
    deleted: old.filter((path) => !Object.hasOwn(after.files, path)).sort(),
  }
}

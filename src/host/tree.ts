/** The state of the work tree as one short text: equal when nothing has changed, ralph's own files left out. */
import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, realpathSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { openSnapshots } from './git.ts'

/** Tells the state now; undefined when it cannot be told. */
export type TreeState = () => Promise<string | undefined>

export type Place = { dir: string; home: string; loop: string }

export async function openTree({ dir, home, loop }: Place): Promise<TreeState> {
  const own = relative(realpathSync(dir), realpathSync(home))
  const exclude = own && !own.startsWith('..') ? [own.split(sep).join('/')] : []
  const snapshot = await openSnapshots(dir, join(home, 'index', loop), exclude)
  return snapshot ?? (async () => folderState(dir, exclude[0]))
}

const MOST_ENTRIES = 20_000
const PASSED_OVER = new Set(['.git', 'node_modules'])

/** Without git: names, sizes, modes and times. A folder too large to look through tells nothing. */
function folderState(dir: string, exclude: string | undefined): string | undefined {
  const hash = createHash('sha1')
  const folders = ['']
  let entries = 0
  for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
    for (const name of readdirSync(join(dir, folder)).sort()) {
      const path = folder ? `${folder}/${name}` : name
      if (PASSED_OVER.has(name) || path === exclude) continue
      if (++entries > MOST_ENTRIES) return undefined
      const stat = lstatSync(join(dir, path), { throwIfNoEntry: false })
      if (stat?.isDirectory()) folders.push(path)
      else hash.update(`${path}\0${stat?.mode}\0${stat?.size}\0${stat?.mtimeMs}\0`)
    }
  }
  return hash.digest('hex')
}

/** The state of the work tree as one short text: equal when nothing has changed, ralph's own files left out. */
import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { folderGone, pathBelow } from './files.ts'
import { openSnapshots } from './git.ts'

/** Tells the state now; undefined when it cannot be told. */
export type TreeState = () => Promise<string | undefined>

export type Place = { dir: string; home: string; loop: string }

export async function openTree({ dir, home, loop }: Place): Promise<TreeState> {
  const place = realFolder(dir)
  const own = realpathSync(home)
  const snapshot = await openSnapshots(place, join(own, 'index', loop), own)
  return snapshot ?? (async () => folderState(place, pathBelow(place, own)))
}

function realFolder(dir: string): string {
  try {
    return realpathSync(dir)
  } catch (cause) {
    throw folderGone(dir, cause)
  }
}

const MOST_ENTRIES = 20_000
const PASSED_OVER = new Set(['.git', 'node_modules'])

/** Without git: names, sizes, modes and times. A folder too large to look through, or gone, tells nothing. */
function folderState(dir: string, exclude: string | undefined): string | undefined {
  const hash = createHash('sha1')
  const folders = ['']
  let entries = 0
  for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
    const names = namesIn(join(dir, folder))
    if (!names && folder === '') return undefined
    for (const name of names ?? []) {
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

function namesIn(folder: string): string[] | undefined {
  try {
    return readdirSync(folder).sort()
  } catch {
    return undefined // it went away meanwhile, or is not for us to read
  }
}

/** A folder without git: whether it is one, and its state as one short text of names, sizes, modes and times. */
import { existsSync, lstatSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { mixer } from './mixer.ts'

export const NO_REPOSITORY = 'this is not a git repository'

/** Whether git would find a repository here or further up; much faster than asking git. */
export function mayBeRepository(dir: string): boolean {
  if (existsSync(join(dir, '.git')) || existsSync(join(dir, 'HEAD'))) return true
  return dirname(dir) !== dir && mayBeRepository(dirname(dir))
}

/** The highest folder in which an agent's git would look: the nearest one with a `.git`, or this one. */
export function workTreeOf(dir: string, from: string = dir): string {
  if (existsSync(join(from, '.git'))) return from
  return dirname(from) === from ? dir : workTreeOf(dir, dirname(from))
}

const MOST_ENTRIES = 20_000
const PASSED_OVER = new Set(['.git', 'node_modules'])

/** The files of loops inside an agent's own session, and those set aside; they are not work. */
export const LOOP_FACES = 'ralph-loop*.local.md*'
const LOOP_FACE = /^ralph-loop.*\.local\.md/

/**
 * Undefined for a folder that is too large to look through, or missing. `exclude`: paths below it that are left out.
 */
export function folderState(dir: string, exclude: ReadonlySet<string> = new Set()): string | undefined {
  const hash = mixer()
  const folders = ['']
  let entries = 0
  for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
    const names = namesIn(join(dir, folder))
    if (!names && folder === '') return undefined
    for (const name of names ?? []) {
      const path = folder ? `${folder}/${name}` : name
      if (PASSED_OVER.has(name) || LOOP_FACE.test(name) || exclude.has(path)) continue
      if (++entries > MOST_ENTRIES) return undefined
      const stat = lstatSync(join(dir, path), { throwIfNoEntry: false })
      if (stat?.isDirectory()) folders.push(path)
      else hash.add(`${path}\0${stat?.mode}\0${stat?.size}\0${stat?.mtimeMs}\0`)
    }
  }
  return hash.text()
}

function namesIn(folder: string): string[] | undefined {
  try {
    return readdirSync(folder).sort()
  } catch {
    return undefined // it disappeared meanwhile, or is not readable
  }
}

/** What a task changed in its vault: compares the files at its start and its end. */
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathBelow, realFolder, writeWhole } from '../host/files.ts'
import { FAILED, NEEDS_ACTION } from './place.ts'
import type { VaultTask } from './vault-task.ts'
import { PENDING } from './where.ts'

const MOST_FILES = 20_000
const PASSED_OVER = new Set(['.git', 'node_modules'])

/** Remembers the files of the vault for as long as the task is open. */
export function keepFiles(home: string, loop: string, task: VaultTask): void {
  const files = filesIn(task, home)
  if (!files) return
  mkdirSync(join(home, 'vaults'), { recursive: true, mode: 0o700 })
  writeWhole(listOf(home, loop), JSON.stringify(Object.fromEntries(files)))
}

/** Null if unknown. Task files, which come and go anyway, are not counted. */
export function changesSince(
  home: string,
  loop: string,
  task: VaultTask,
): { created: number; modified: number } | null {
  const before = readKept(listOf(home, loop))
  const now = before && filesIn(task, home)
  if (!before || !now) return null
  const others = [...now].filter(([path]) => path !== task.from)
  return {
    created: others.filter(([path]) => !before.has(path)).length,
    modified: others.filter(([path, stamp]) => before.has(path) && before.get(path) !== stamp).length,
  }
}

export function forgetFiles(home: string, loop: string): void {
  rmSync(listOf(home, loop), { force: true })
}

function listOf(home: string, loop: string): string {
  return join(home, 'vaults', `${loop}.json`)
}

function readKept(path: string): Map<string, string> | undefined {
  try {
    return new Map(Object.entries(JSON.parse(readFileSync(path, 'utf8'))))
  } catch {
    return undefined // the vault was too large, or the list was pruned
  }
}

/** Paths with a stamp that shows changes; undefined if the vault is too large. */
function filesIn({ path, done, state }: VaultTask, home: string): Map<string, string> | undefined {
  const own = new Set([NEEDS_ACTION, PENDING, done, FAILED, state, pathBelow(path, realFolder(home))])
  const files = new Map<string, string>()
  const folders = ['']
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop())
    for (const entry of entriesOf(join(path, folder))) {
      const below = folder ? `${folder}/${entry.name}` : entry.name
      if (own.has(below) || PASSED_OVER.has(entry.name)) continue
      if (entry.isDirectory()) folders.push(below)
      else if (files.size >= MOST_FILES) return undefined
      else {
        const stat = lstatSync(join(path, below), { throwIfNoEntry: false })
        if (stat) files.set(below, `${stat.size} ${stat.mtimeMs}`)
      }
    }
  return files
}

function entriesOf(folder: string): { name: string; isDirectory(): boolean }[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return [] // deleted meanwhile, or not readable
  }
}

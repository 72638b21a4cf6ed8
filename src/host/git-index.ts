/** How many files a repository has, read from its index without starting a program, so every loop can afford it. */
import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/** Zero if there is no repository, or nothing in it yet. */
export function countTracked(dir: string): number {
  const gitDir = gitDirAbove(dir)
  return gitDir === undefined ? 0 : entriesOf(join(gitDir, 'index'))
}

function gitDirAbove(dir: string): string | undefined {
  const path = join(dir, '.git')
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat?.isDirectory()) return path
  if (stat?.isFile()) return linkedFrom(path)
  return dirname(dir) === dir ? undefined : gitDirAbove(dirname(dir))
}

/** A linked worktree and a submodule say where their own git folder is. */
function linkedFrom(path: string): string | undefined {
  const [, target] = /^gitdir: (.+)$/m.exec(readFileSync(path, 'utf8')) ?? []
  return target === undefined ? undefined : resolve(dirname(path), target)
}

const HEADER = 12

/** The header: `DIRC`, the version, and how many entries follow. */
function entriesOf(path: string): number {
  const header = Buffer.alloc(HEADER)
  try {
    const file = openSync(path, 'r')
    try {
      const isWhole = readSync(file, header, 0, HEADER, 0) === HEADER
      return isWhole && header.toString('latin1', 0, 4) === 'DIRC' ? header.readUInt32BE(8) : 0
    } finally {
      closeSync(file)
    }
  } catch {
    return 0 // missing or not readable; this is only an estimate
  }
}

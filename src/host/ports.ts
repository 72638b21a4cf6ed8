/** Ports for worktrees: ten each, so that the servers of several loops run side by side. */
import { linkSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { isFolder, makePrivateFolder, readIfThere } from './files.ts'
import { codeOf } from './plain-words.ts'

/** Above what people and systems like to use, below what the system assigns by itself. */
const FIRST = 21_000
const EACH = 10
const MOST = 1_000

/** The first of the ports that belong to this worktree as long as it exists. Undefined: none are left. */
export async function portOf(home: string, worktree: string): Promise<number | undefined> {
  const folder = join(home, 'ports')
  makePrivateFolder(folder)
  const taken = takenIn(folder)
  const known = [...taken].find(([, path]) => path === worktree)
  if (known) return known[0]
  for (let n = 0; n < MOST; n++) {
    const port = FIRST + n * EACH
    if (taken.has(port) || !(await areFree(port))) continue
    if (take(folder, port, worktree)) return port
  }
  return undefined
}

/** One file each, named by the first port. Those of deleted worktrees are free again. */
function takenIn(folder: string): Map<number, string> {
  const taken = new Map<number, string>()
  for (const name of readdirSync(folder).filter((each) => /^\d+$/.test(each))) {
    const path = readIfThere(join(folder, name)) // another process may be cleaning up as well
    if (path !== undefined && isFolder(path)) taken.set(Number(name), path)
    else if (path !== undefined) forget(folder, name, path)
  }
  return taken
}

/** Moved aside first: if another process has taken the ports since they were looked at, it keeps them. */
function forget(folder: string, name: string, stale: string): void {
  const aside = join(folder, `.${name}.${process.pid}.old`)
  try {
    renameSync(join(folder, name), aside)
    if (readIfThere(aside) !== stale) linkSync(aside, join(folder, name))
  } catch {
    // Another one was quicker.
  } finally {
    rmSync(aside, { force: true })
  }
}

/** False if another process was quicker. A link appears at once, with its content. */
function take(folder: string, port: number, worktree: string): boolean {
  const half = join(folder, `.${port}.${process.pid}.tmp`)
  writeFileSync(half, worktree, { mode: 0o600 })
  try {
    linkSync(half, join(folder, String(port)))
    return true
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST') return false
    throw cause
  } finally {
    rmSync(half, { force: true })
  }
}

async function areFree(first: number): Promise<boolean> {
  const ports = Array.from({ length: EACH }, (_, n) => first + n)
  return (await Promise.all(ports.map(isFree))).every(Boolean)
}

function isFree(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const server = createServer()
  server.once('error', () => resolve(false))
  server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)))
  return promise
}

/**
 * What a task leaves on a machine, recorded before it is created, so that it is found and removed even after a kill.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { refOf } from './checkpoint.ts'
import { makePrivateFolder, readIfThere, realFolder, writeWhole } from './files.ts'
import { marksFile } from './fingerprint.ts'
import { askGit, must, type Repository } from './git.ts'
import { lockLoop } from './lock.ts'
import { forgetPins } from './pin.ts'
import { reap } from './process-tree.ts'
import { removeLinked } from './proof-tree.ts'
import { openRepoCache } from './repo-cache.ts'
import type { TaskPlace } from './task-names.ts'
import { dropWorktree } from './worktree.ts'

type Note = Pick<TaskPlace, 'repo' | 'branch' | 'loop'>

function folderOf(home: string): string {
  return join(home, 'tasks')
}

function noteOf(home: string, loop: string): string {
  return join(folderOf(home), `${loop}.json`)
}

/** Where the branch of a task is merged and checked. */
export function mergePlace(home: string, loop: string): string {
  return join(home, 'merges', loop)
}

export function noteTask(home: string, note: Note): void {
  makePrivateFolder(folderOf(home))
  writeWhole(noteOf(home, note.loop), JSON.stringify(note))
}

/** Whether an earlier visit left this task here. */
export function isNoted(home: string, loop: string): boolean {
  return existsSync(noteOf(home, loop))
}

/** The caller holds the mirror exclusively. The record goes last. */
export async function clearTask(mirror: Repository, { home, branch, loop }: Omit<TaskPlace, 'repo'>): Promise<void> {
  const real = realFolder(home)
  if (!isNoted(real, loop)) return
  await reap(loop, real) // what still runs there would keep writing
  await removeLinked({ home: real, loop })
  const path = join(real, 'worktrees', loop)
  await dropWorktree({ from: mirror.top, path, branch, commit: '' })
  await mirror.ask(['worktree', 'prune']) // left by a half removal
  await dropRefs(mirror, [refOf(loop, ''), `refs/remotes/origin/${branch}`])
  await dropStrays(mirror)
  forgetPins(real, loop)
  for (const file of [join(real, 'index', loop), join(real, 'index', `${loop}.lock`), marksFile(real, loop)])
    rmSync(file, { force: true })
  rmSync(noteOf(real, loop), { force: true })
}

/** All worktrees share the branches, tags and stashes that agents made: they are removed with the last one. */
async function dropStrays(mirror: Repository): Promise<void> {
  const listed = must(await mirror.ask(['worktree', 'list', '--porcelain']))
  if (listed.split('\n').filter((line) => line.startsWith('worktree ')).length === 1)
    await dropRefs(mirror, ['refs/heads/', 'refs/tags/', 'refs/notes/', 'refs/stash', 'refs/ralph/'])
}

/** All below these, or these themselves. */
async function dropRefs(mirror: Repository, refs: readonly string[]): Promise<void> {
  const patterns = refs.map((ref) => ref.replace(/\/$/, ''))
  const listed = must(await mirror.ask(['for-each-ref', '--format=%(refname)', ...patterns]))
  const stdin = listed
    .split('\n')
    .filter(Boolean)
    .map((ref) => `delete ${ref}\0\0`)
  if (stdin.length > 0) must(await mirror.ask(['update-ref', '--stdin', '-z'], { stdin: stdin.join('') }))
}

/**
 * Shows others on this machine that the loop of a task is driven here, as long as this process lives: neither its
 * worktree nor its place for experiments is cleaned up. Undefined: somebody else drives it.
 */
export function holdTask(home: string, loop: string): { release(): void } | undefined {
  makePrivateFolder(join(home, 'locks'))
  const lock = lockLoop(home, loop)
  return lock && { release: () => lock.close() }
}

/** Its lock is removed with the last trace of a task here; a million of them would be a burden. */
export function forgetLock(home: string, loop: string): void {
  rmSync(join(home, 'locks', `${loop}.db`), { force: true })
}

/** Removes what tasks left here that no longer belong to this machine. Returns their loops. */
export async function sweepTasks(
  home: string,
  isOurs: (loop: string) => boolean | Promise<boolean>,
): Promise<string[]> {
  const swept: string[] = []
  for (const { repo, branch, loop } of notesIn(home)) {
    if (await isOurs(loop)) continue
    const held = holdTask(home, loop)
    if (!held) continue // another process of this machine is working on it
    try {
      await openRepoCache(home).alone(repo, ({ mirror }) => clearTask(mirror, { home, branch, loop }))
      forgetLock(home, loop)
    } finally {
      held.release()
    }
    swept.push(loop)
  }
  for (const loop of mergesIn(home)) if (!(await isOurs(loop))) await dropMerge(home, loop)
  return swept
}

function mergesIn(home: string): string[] {
  return existsSync(join(home, 'merges')) ? readdirSync(join(home, 'merges')) : []
}

/** The place of a merge whose ralph was killed. Its own link names its mirror. */
async function dropMerge(home: string, loop: string): Promise<void> {
  const path = mergePlace(realFolder(home), loop)
  const [, mirror] = /^gitdir: (.+)\/\.git\/worktrees\//.exec(readIfThere(join(path, '.git')) ?? '') ?? []
  rmSync(path, { recursive: true, force: true })
  if (mirror !== undefined) await askGit(mirror, ['worktree', 'prune'])
}

function notesIn(home: string): Note[] {
  if (!existsSync(folderOf(home))) return []
  return readdirSync(folderOf(home)).flatMap((name) => {
    const text = name.endsWith('.json') ? readIfThere(join(folderOf(home), name)) : undefined
    return text === undefined ? [] : [JSON.parse(text)] // it was written at once
  })
}

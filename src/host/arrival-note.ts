/**
 * The note of an arrival in a person's checkout, in ralph's home: a note whose lock nobody holds means that ralph was
 * killed.
 */
import { createHash } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { RalphError } from '../error.ts'
import { refOf } from './checkpoint.ts'
import { makePrivateFolder, readIfThere, writeWhole } from './files.ts'
import { must, type Repository } from './git.ts'
import { lockFile } from './lock.ts'
import type { Held } from './store.ts'
import type { Step } from './take-back.ts'

/** The checkout of a person, and the home of the ralph that merges work into it. */
export type Checkout = { home: string; repo: Repository }

/**
 * `branch` is checked out and stands at `onto`; its files become those of `commit`. `work` is part of its history once
 * it has arrived. `again`: the command that repeats it.
 */
export type Coming = { loop: string; branch: string; onto: string; commit: string; work: string; again?: string }

/** `locks`: the ones that existed before. */
export type Arrival = Coming & Step & { dir: string; locks: readonly string[] }

// A hook of the previous arrival may take minutes.
const PATIENCE_MS = 10 * 60_000

type Lock = { close(): void }

/** One arrival at a time per checkout. */
export async function hold(checkout: Checkout): Promise<Lock> {
  makePrivateFolder(folderOf(checkout.home))
  for (const end = performance.now() + PATIENCE_MS; ; await sleep(100)) {
    const lock = tryHold(checkout)
    if (!('heldBy' in lock)) return lock
    if (performance.now() > end)
      throw new RalphError(
        'git-failed',
        `${lock.heldBy} is merging other work into ${checkout.repo.top}. Try again when that has finished.`,
      )
  }
}

export function tryHold({ home, repo }: Checkout): Lock | Held {
  return lockFile(join(folderOf(home), `${keyOf(repo)}.db`), `process ${process.pid} on ${hostname()}`)
}

export async function writeNote(checkout: Checkout, arrival: Arrival): Promise<void> {
  must(await checkout.repo.ask(['update-ref', keptAs(arrival.loop), arrival.commit])) // or git may remove it
  writeWhole(noteOf(checkout), JSON.stringify(arrival))
}

export async function forget(checkout: Checkout, loop: string): Promise<void> {
  await checkout.repo.ask(['update-ref', '-d', keptAs(loop)])
  rmSync(noteOf(checkout), { force: true })
}

/** Undefined if there is none. */
export function readNote(checkout: Checkout): Arrival | undefined {
  return parseNote(readIfThere(noteOf(checkout)) ?? '')
}

/** The notes of all checkouts. */
export function listNotes(home: string): Arrival[] {
  const folder = folderOf(home)
  const notes = namesIn(folder).filter((name) => name.endsWith(NOTE))
  return notes.flatMap((name) => parseNote(readIfThere(join(folder, name)) ?? '') ?? [])
}

/** Undefined if somebody else wrote it. */
function parseNote(text: string): Arrival | undefined {
  try {
    const read = JSON.parse(text) as Record<keyof Arrival, unknown>
    const { dir, loop, branch, onto, commit, work, theirs, locks, again = '' } = read
    const isText = (value: unknown) => typeof value === 'string'
    const whole = [dir, loop, branch, onto, commit, work, again].every(isText)
    const lists = [theirs, locks].every((list) => Array.isArray(list) && list.every(isText))
    return whole && lists ? (read as Arrival) : undefined
  } catch {
    return undefined
  }
}

/** Lets the next ralph find a git whose own ralph was killed. */
export function markerOf(repo: Repository): { env: Record<string, string>; text: string } {
  return { env: { RALPH_ARRIVAL: keyOf(repo) }, text: `RALPH_ARRIVAL=${keyOf(repo)}` }
}

/** A folder for what is needed only while a step is taken back. */
export function scratchOf({ home, repo }: Checkout): string {
  return join(folderOf(home), `${keyOf(repo)}.scratch`)
}

const NOTE = '.json'

function noteOf({ home, repo }: Checkout): string {
  return join(folderOf(home), `${keyOf(repo)}${NOTE}`)
}

function folderOf(home: string): string {
  return join(home, 'arrivals')
}

/** Each linked worktree has its own git folder. */
function keyOf({ gitDir }: Repository): string {
  return createHash('sha256').update(gitDir).digest('hex').slice(0, 16)
}

function keptAs(loop: string): string {
  return refOf(loop, 'arriving')
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return [] // nothing has ever arrived
  }
}

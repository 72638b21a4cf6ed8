/** Rebuilds a lost or damaged database. The engine is pure: replaying every loop's facts gives what was stored. */
import { existsSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { type Loop, startLoop } from '../engine/loop.ts'
import { faultOfBeginning, faultOfFact, readFact } from '../engine/stored.ts'
import { upgradeStory } from '../engine/upgrade.ts'
import { RalphError } from '../error.ts'
import { brokenName } from '../host/files.ts'
import { isLocked } from '../host/lock.ts'
import { inPlainWords } from '../host/plain-words.ts'
import { lockDatabaseFile } from '../host/put-back.ts'
import { completeTranscripts, salvage } from '../host/salvage.ts'
import { openStore } from '../host/sqlite.ts'
import type { Store } from '../host/store.ts'
import { type LocalTranscripts, openTranscripts, type Story } from '../host/transcript.ts'
import { visit } from './visit.ts'

/**
 * `lost`: loops that could not be rebuilt completely. `facts`: how many facts they have now; undefined: not even their
 * start is readable.
 */
export type Rebuilt = { loops: number; facts: number; aside: string | undefined; lost: Lost[] }
export type Lost = { loop: string; facts?: number; of?: number }

/** Rebuilds what the owner of a loop knows about it. */
export type Remake = (store: Store, loop: Loop) => Promise<void>

/** The old file is moved aside, never removed. What only it contains, and no transcript, is carried over. */
export async function rebuild(home: string, now: () => number, remake?: Remake): Promise<Rebuilt> {
  const transcripts = openTranscripts(home)
  const driven = transcripts.loops().find((id) => isLocked(home, id))
  if (driven)
    throw new RalphError('loop-held', `Loop ${driven} is running. Pause or cancel it, then rebuild the database.`)
  completeTranscripts(join(home, 'ralph.db'), transcripts)
  // A process that has the old one open must not put it back in the meantime.
  const alone = lockDatabaseFile(home)
  const aside = putAside(join(home, 'ralph.db'), now())
  const store = openStore(home, now, { transcripts: { ...transcripts, ...SILENT }, fresh: true })
  alone?.close()
  try {
    let [loops, facts] = [0, 0]
    const lost: Lost[] = []
    for (const id of inOrder(transcripts)) {
      const story = readable(transcripts.story(id))
      if (!story) {
        lost.push({ loop: id })
        continue
      }
      await replay(id, story, { store, ...(remake ? { remake } : {}) })
      loops += 1
      facts += story.facts.length
      if (story.facts.length < story.last) lost.push({ loop: id, facts: story.facts.length, of: story.last })
    }
    if (aside !== undefined) salvage(home, aside)
    const kept = new Set((await store.list({ limit: Number.MAX_SAFE_INTEGER })).rows.map(({ id }) => id))
    return { loops, facts, aside, lost: lost.filter(({ loop, of }) => of !== undefined || !kept.has(loop)) }
  } finally {
    await store.close()
  }
}

/** As far as it is readable: each fact depends on those before it. */
function readable(story: Story | undefined): Story | undefined {
  if (!story || faultOfBeginning(story.beginning)) return undefined
  const end = story.facts.findIndex((fact) => faultOfFact(fact) !== '')
  return { ...story, facts: (end < 0 ? story.facts : story.facts.slice(0, end)).map(readFact) }
}

type Remaking = { store: Store; remake?: Remake }

// What is read from the transcripts must not be written to them again.
const SILENT: Partial<LocalTranscripts> = {
  begin: () => {},
  addFact: () => {},
  lastFact: () => Number.MAX_SAFE_INTEGER,
}

function putAside(path: string, at: number): string | undefined {
  const aside = brokenName(path, at)
  const there = ['', '-wal', '-shm'].filter((suffix) => existsSync(path + suffix))
  try {
    for (const suffix of there) renameSync(path + suffix, aside + suffix)
  } catch (cause) {
    throw inPlainWords(cause, path)
  }
  return there.length > 0 ? aside : undefined
}

/** Oldest first, so that the newest loop of a vault's task is the one that the task has. */
function inOrder(transcripts: LocalTranscripts): string[] {
  const begun = transcripts.loops().map((id) => ({ id, at: transcripts.story(id)?.beginning.at ?? 0 }))
  return begun.sort((one, other) => one.at - other.at).map(({ id }) => id)
}

async function replay(id: string, { beginning, facts: told }: Story, { store, remake }: Remaking): Promise<void> {
  const { at, tree, queued } = beginning
  const { spec, facts } = upgradeStory({ ...beginning, facts: told })
  const begun = startLoop(id, spec, { at, ...(tree === undefined ? {} : { tree }), ...(queued ? { queued } : {}) })
  await store.create(begun)
  const loop = await visit<Loop>(id, {
    store,
    now: () => at,
    held(by) {
      throw new RalphError('loop-held', `Loop ${id} was picked up by ${by} in the meantime.`)
    },
    async work(held) {
      for (const fact of facts) await held.move(fact)
      return held.loop
    },
  })
  await remake?.(store, loop)
}

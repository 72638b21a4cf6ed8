/** Makes a lost or damaged database anew. The engine is pure: playing every loop's facts again gives what was. */
import { existsSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { ended, type Loop, startLoop, type VaultTask } from '../engine/loop.ts'
import { step } from '../engine/step.ts'
import { RalphError } from '../error.ts'
import { parseTaskState, type TaskState } from '../formats/task-state.ts'
import { brokenName, inPlainWords } from '../host/files.ts'
import { isLocked } from '../host/lock.ts'
import { type LocalStore, openStore, type TaskRecord } from '../host/sqlite.ts'
import { openTranscripts, type Story, type Transcripts } from '../host/transcript.ts'
import { isPlainFile } from '../host/vault.ts'

export type Rebuilt = { loops: number; facts: number; aside: string | undefined }

/** The old file is put aside, never removed. */
export async function rebuild(home: string, now: () => number): Promise<Rebuilt> {
  const transcripts = openTranscripts(home)
  const driven = transcripts.loops().find((id) => isLocked(home, id))
  if (driven)
    throw new RalphError(
      'loop-held',
      `Loop ${driven} is being driven. Pause or cancel it, then make the database anew.`,
    )
  const aside = putAside(join(home, 'ralph.db'), now())
  const store = openStore(home, now, { ...transcripts, ...SILENT })
  try {
    let [loops, facts] = [0, 0]
    for (const id of inOrder(transcripts)) {
      const story = transcripts.read(id)
      if (!story) continue
      await replay(id, story, store)
      loops += 1
      facts += story.facts.length
    }
    return { loops, facts, aside }
  } finally {
    await store.close()
  }
}

// What is read from the transcripts must not be written to them again.
const SILENT: Partial<Transcripts> = { begin: () => {}, addFact: () => {}, lastFact: () => Number.MAX_SAFE_INTEGER }

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
function inOrder(transcripts: Transcripts): string[] {
  const begun = transcripts.loops().map((id) => ({ id, at: transcripts.read(id)?.beginning.at ?? 0 }))
  return begun.sort((one, other) => one.at - other.at).map(({ id }) => id)
}

async function replay(id: string, { beginning, facts }: Story, store: LocalStore): Promise<void> {
  const { spec, at, tree } = beginning
  let loop = startLoop(id, spec, { at, ...(tree === undefined ? {} : { tree }) })
  await begin(loop, store)
  const lease = await store.lease(id)
  if ('heldBy' in lease) throw new RalphError('loop-held', `Loop ${id} was taken up by ${lease.heldBy} meanwhile.`)
  for (const fact of facts) {
    loop = step(loop, fact)
    await store.save(lease, loop, fact)
  }
  await lease.release()
  const { vault } = spec.work
  // What it changed is not known any more; its end was seen to long ago.
  if (vault && ended(loop))
    store.changeTask({ vault: vault.path, id: vault.id, loop: id }, (record) => ({ ...record, files: null }))
}

async function begin(loop: Loop, store: LocalStore): Promise<void> {
  const { vault } = loop.spec.work
  if (!vault) return store.create(loop)
  const earlier = store.loadTask(vault.path, vault.id)
  if (earlier) store.forgetTask(earlier)
  store.beginTask(loop, recordOf(loop, vault))
}

/** How far the work had come is told by the task's state file alone, if that is of this loop. */
function recordOf({ tally }: Loop, { path, state, id }: VaultTask): TaskRecord {
  const found = readState(join(path, state, `${id}.json`))
  if (!found || found.task_id !== id || Date.parse(found.started_at) !== Math.floor(tally.startedAt / 1_000) * 1_000)
    return {}
  const { steps_total: total, steps_completed: completed, current_step: step } = found.progress
  return total > 0 || step ? { progress: { total, completed, step, at: Date.parse(found.last_updated) } } : {}
}

function readState(path: string): TaskState | undefined {
  try {
    return isPlainFile(path) ? parseTaskState(readFileSync(path, 'utf8')) : undefined
  } catch {
    return undefined // it is not for us to read, so it tells nothing
  }
}

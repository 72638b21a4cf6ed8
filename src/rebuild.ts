/** Makes a lost or damaged database anew. The engine is pure: playing every loop's facts again gives what was. */
import { existsSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { startLoop } from './engine/loop.ts'
import { step } from './engine/step.ts'
import { RalphError } from './error.ts'
import { inPlainWords } from './host/files.ts'
import { isLocked } from './host/lock.ts'
import { type LocalStore, openStore } from './host/sqlite.ts'
import { openTranscripts, type Story, type Transcripts } from './host/transcript.ts'

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
    for (const id of transcripts.loops()) {
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
  const aside = `${path}.broken-${new Date(at).toISOString().replace(/[:.]/g, '-')}`
  const there = ['', '-wal', '-shm'].filter((suffix) => existsSync(path + suffix))
  try {
    for (const suffix of there) renameSync(path + suffix, aside + suffix)
  } catch (cause) {
    throw inPlainWords(cause, path)
  }
  return there.length > 0 ? aside : undefined
}

async function replay(id: string, { beginning, facts }: Story, store: LocalStore): Promise<void> {
  const { spec, at, tree } = beginning
  let loop = startLoop(id, spec, { at, ...(tree === undefined ? {} : { tree }) })
  await store.create(loop)
  const lease = await store.lease(id)
  if ('heldBy' in lease) throw new RalphError('loop-held', `Loop ${id} was taken up by ${lease.heldBy} meanwhile.`)
  for (const fact of facts) {
    loop = step(loop, fact)
    await store.save(lease, loop, fact)
  }
  await lease.release()
}

/** Makes a lost or damaged database anew. The engine is pure: playing every loop's facts again gives what was. */
import { existsSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { startLoop } from './engine/loop.ts'
import { step } from './engine/step.ts'
import { RalphError } from './error.ts'
import { type LocalStore, openStore } from './host/sqlite.ts'
import { openTranscripts, type Transcripts } from './host/transcript.ts'

export type Rebuilt = { loops: number; facts: number; aside: string | undefined }

/** The old file is put aside, never removed. */
export async function rebuild(home: string, now: () => number): Promise<Rebuilt> {
  const transcripts = openTranscripts(home)
  const aside = putAside(join(home, 'ralph.db'), now())
  const store = openStore(home, now, { ...transcripts, ...SILENT })
  try {
    let facts = 0
    const loops = transcripts.loops()
    for (const id of loops) facts += await replay(id, transcripts, store)
    return { loops: loops.length, facts, aside }
  } finally {
    await store.close()
  }
}

// What is read from the transcripts must not be written to them again.
const SILENT: Partial<Transcripts> = { begin: () => {}, addFact: () => {}, lastFact: () => Number.MAX_SAFE_INTEGER }

function putAside(path: string, at: number): string | undefined {
  const aside = `${path}.broken-${new Date(at).toISOString().replace(/[:.]/g, '-')}`
  const there = ['', '-wal', '-shm'].filter((suffix) => existsSync(path + suffix))
  for (const suffix of there) renameSync(path + suffix, aside + suffix)
  return there.length > 0 ? aside : undefined
}

async function replay(id: string, transcripts: Transcripts, store: LocalStore): Promise<number> {
  const story = transcripts.read(id)
  if (!story) return 0
  const { spec, at, tree } = story.beginning
  let loop = startLoop(id, spec, { at, ...(tree === undefined ? {} : { tree }) })
  await store.create(loop)
  const lease = await store.lease(id)
  if ('heldBy' in lease)
    throw new RalphError(
      'loop-held',
      `Loop ${id} is being driven by ${lease.heldBy}. Stop it, then make the database anew.`,
    )
  for (const fact of story.facts) {
    loop = step(loop, fact)
    await store.save(lease, loop, fact)
  }
  await lease.release()
  return story.facts.length
}

/** A loop in this process with an agent that answers instantly: everything else is real. */
import { randomUUID } from 'node:crypto'
import { drive } from '../src/drive/drive.ts'
import { type Fact, type Loop, startLoop } from '../src/engine/loop.ts'
import { type LocalStore, openStore } from '../src/host/sqlite.ts'
import type { Lease } from '../src/host/store.ts'

export type InstantLoop = {
  /** Runs this many more iterations and returns how long each took, in milliseconds. */
  advance(iterations: number): Promise<number[]>
  close(): Promise<void>
}

export async function openInstantLoop(home: string): Promise<InstantLoop> {
  const { store, lease, loop } = await openLoop(home, 0)
  let now = loop
  return {
    async advance(iterations) {
      const times: number[] = []
      let start = performance.now()
      now = await drive(now, lease, store, {
        turn: async ({ id }, { iteration }) => {
          if (times.length === iterations) return undefined
          const log = store.transcripts.openTurn(id, iteration)
          log.write([{ out: WORDS }])
          log.close()
          return work()
        },
        saw: () => {
          const end = performance.now()
          times.push(end - start)
          start = end
        },
      })
      return times
    },
    async close() {
      await lease.release()
      await store.close()
    },
  }
}

/** A turn that changed something and claims nothing. */
export function work(): Fact {
  const turn = { end: 'ok', claim: { kind: 'none' }, words: WORDS, ranTests: false, tokens: 1_000 } as const
  return { kind: 'turned', at: Date.now(), turn: { ...turn, tree: randomUUID() } }
}

const WORDS = 'The agent says what it did in a few sentences. '.repeat(20)

export async function openLoop(
  home: string,
  iterations: number,
): Promise<{ store: LocalStore; lease: Lease; loop: Loop }> {
  const store = openStore(home, Date.now)
  const loop = startLoop('bench', specFor(home, iterations), { at: Date.now(), tree: 'start' })
  await store.create(loop)
  const lease = await store.lease(loop.id)
  if ('heldBy' in lease) throw new Error(`The loop of the bench is held by ${lease.heldBy}.`)
  return { store, lease, loop }
}

export function specFor(dir: string, iterations: number): Loop['spec'] {
  return {
    prompt: 'There is nothing to do.',
    promise: 'COMPLETE',
    signals: [],
    checks: [],
    until: false,
    stages: [],
    limits: { iterations, noProgress: 3, sameError: 5 },
    work: {
      dir,
      agent: 'command:instant',
      agentArgs: [],
      permissions: 'bypass',
      context: 'fresh',
      silenceMinutes: 10,
      checkMinutes: 10,
    },
  }
}

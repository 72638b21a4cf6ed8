/** A loop that other processes watch while this one runs it: each iteration is checked and leaves some failures. */
import { type Fact, type Loop, startLoop } from '../src/engine/loop.ts'
import { step } from '../src/engine/step.ts'
import { openStore } from '../src/host/sqlite.ts'
import { openRecords } from '../src/host/transcript.ts'
import { specFor } from './instant-loop.ts'

const ID = 'watched'
const CHECKS = ['npm test', 'npm run lint']
const FAILURES = 40
const PART_LINES = 1_200

export type WatchedLoop = { id: string; advance(iterations: number): Promise<void>; close(): Promise<void> }

export async function openWatchedLoop(home: string): Promise<WatchedLoop> {
  const store = openStore(home, Date.now)
  const limits = { iterations: 0, noProgress: 1_000_000, sameError: 1_000_000 }
  const spec = { ...specFor(home, 0), checks: CHECKS, until: true, limits }
  let loop: Loop = startLoop(ID, spec, { at: Date.now(), tree: 'start' })
  await store.create(loop)
  const lease = await store.lease(ID)
  if ('heldBy' in lease) throw new Error(`The loop of the bench is held by ${lease.heldBy}.`)
  const add = async (fact: object) => {
    const whole = { at: Date.now(), ...fact } as Fact // as the literals below say
    loop = step(loop, whole)
    await store.save(lease, loop, whole)
  }
  const iterate = async () => {
    if (loop.next.kind === 'turn') await add(turned(loop.next.iteration))
    if (loop.next.kind === 'check') await add(checked(loop.tally.iteration))
  }
  return {
    id: ID,
    async advance(iterations) {
      const end = loop.tally.iteration + iterations
      while (loop.tally.iteration < end || loop.next.kind === 'check') await iterate()
    },
    async close() {
      await lease.release()
      await store.close()
    },
  }
}

const WORDS = 'The agent says what it did in a few sentences. '.repeat(20)

function turned(n: number): object {
  const usage = { input: 2_000, cached: 40_000, output: 900 }
  const seen = { tree: `tree ${n}`, ranTests: true, diff: { files: 2, added: 30, removed: 4 } }
  const said = { end: 'ok', claim: { kind: 'none' }, words: `${n}. ${WORDS}` }
  return { kind: 'turned', turn: { ...said, tokens: 42_900, costUsd: 0.12, usage, ...seen } }
}

function checked(n: number): object {
  const failures = 1 + ((n * 7) % FAILURES)
  const verdict = (check: string) => ({ check, result: 'fail', failures, tail: `${failures} of iteration ${n} failed` })
  return { kind: 'checked', verdicts: CHECKS.map(verdict), findings: [], ms: 1_000 }
}

/** What its first iteration said. */
export function writeTranscript(home: string, megabytes: number): void {
  const log = openRecords(home).openTurn(ID, 1)
  const line = (n: number) => `${n} The agent says what it did and what it is about to do, in a line like this one.\n`
  for (let part = 0; part < megabytes * 10; part += 1)
    log.write([{ out: Array.from({ length: PART_LINES }, (_, n) => line(part * PART_LINES + n)).join('') }])
  log.close()
}

/**
 * When the crash tests kill ralph. `RALPH_CRASH_POINTS=100 RALPH_CRASH_SEED=7 npx vitest run <file>` tries a hundred
 * points, drawn from seed 7. In these tests both override RALPH_TEST_RUNS and RALPH_TEST_SEED, which are the defaults.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Chance, drawChance } from '../src/host/chance.test-support.ts'
import { carriers, type Place, query, type Running, until } from './ralph.ts'

export function crashChance(usually: Chance): Chance {
  const { runs, seed } = drawChance(usually)
  const { RALPH_CRASH_POINTS: points, RALPH_CRASH_SEED: own } = process.env
  return { runs: Number(points ?? runs), seed: Number(own ?? seed) }
}

/** Mulberry32: small, and the same everywhere. */
export function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/**
 * When ralph is killed: after a fraction of the time of an undisturbed run, or when the nth of something first appears.
 */
export type Moment<Sight extends string> =
  | { kind: 'time'; share: number }
  | { kind: Sight; nth: number; thenMs: number }

export type Point<Sight extends string> = { name: string; moments: Moment<Sight>[] }

/**
 * `most`: how many of each an undisturbed run has. Every fourth point is two kills, the second after the work resumes.
 */
export function drawPoints<Sight extends string>(
  { runs, seed }: Chance,
  kinds: readonly ('time' | Sight)[],
  most: Readonly<Record<Sight, number>>,
): Point<Sight>[] {
  const random = generator(seed)
  const upTo = (limit: number) => 1 + Math.floor(random() * limit)
  const draw = (): Moment<Sight> => {
    const kind = kinds[Math.floor(random() * kinds.length)] ?? 'time'
    if (kind === 'time') return { kind: 'time', share: random() }
    return { kind, nth: upTo(most[kind]), thenMs: random() < 0.5 ? 0 : upTo(25) }
  }
  return Array.from({ length: runs }, (_, index) => {
    const moments = index % 4 === 3 ? [draw(), draw()] : [draw()]
    return { name: `${index + 1}: ${moments.map(words).join(', and ')}`, moments }
  })
}

function words<Sight extends string>(moment: Moment<Sight>): string {
  if ('share' in moment) return `after ${Math.round(moment.share * 100)}% of its time`
  return `${moment.thenMs} ms after ${moment.kind} ${moment.nth}`
}

/** `ms`: how long an undisturbed run takes. `countSeen`: how many of something exist by now. */
export async function killAt<Sight extends string>(
  moment: Moment<Sight>,
  { child, ended }: Running,
  { ms, countSeen }: { ms: number; countSeen: (kind: Sight) => number },
): Promise<void> {
  let over = false
  const end = ended.then(
    () => (over = true),
    () => (over = true), // the last line of --json may be cut off
  )
  // Parallel runs take longer than one alone.
  if ('share' in moment) await Promise.race([sleep(moment.share * ms * 1.5), end])
  else {
    const seen = countSeen(moment.kind) + 1
    while (!over && countSeen(moment.kind) < Math.max(seen, moment.nth)) await sleep(2)
    await sleep(moment.thenMs)
  }
  child.kill('SIGKILL')
  await end
}

/** One second after the kill, nothing that the agent started is alive. */
export async function expectSilence(place: Place): Promise<void> {
  const loops = askEarly(place, 'SELECT id FROM loop').map(({ id }) => `RALPH_LOOP_ID=${id}`)
  await until('silence', () => loops.every((loop) => carriers(loop).length === 0), 1_000)
}

/** Before its first save there is no database, or one without tables. */
export function askEarly(place: Place, sql: string): Record<string, unknown>[] {
  try {
    return query(place, sql)
  } catch {
    return []
  }
}

export function hasLoop(place: Place): boolean {
  return askEarly(place, 'SELECT id FROM loop').length > 0
}

export function hasEnded(place: Place): boolean {
  return askEarly(place, 'SELECT status FROM loop').some(({ status }) => status === 'completed')
}

/** How often a check that logs its runs has started. */
export function countChecks({ root }: Place): number {
  const file = join(root, 'checks')
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').length : 0
}

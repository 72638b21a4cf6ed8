/** An iteration as shown to programs and people: its row, its claim and why it was refused, its cost, its commit. */
import { refusalsOf } from '../drive/refusals.ts'
import type { Loop } from '../engine/loop.ts'
import { failedWords } from '../formats/proof-words.ts'
import type { IterationRow, Store } from '../host/store.ts'
import { given } from '../request/given.ts'
import { changesOf } from './changes-of.ts'

export type Iteration = IterationRow & {
  durationMs: number
  /** Why its claim was refused. */
  refused?: string
  /** `reported`: by the agent itself. */
  costSource: 'reported' | 'unknown'
  /** Its checkpoint; of a fleet task, the pushed commit. */
  commit?: string
}

export async function viewIterations(store: Store, loop: Loop, rows: readonly IterationRow[]): Promise<Iteration[]> {
  if (rows.length === 0) return []
  const commits = await (await changesOf(store, loop)).commits(rows.map(({ n }) => n))
  const refusalOf = await findRefusals(store, loop)
  return rows.map((row) => ({
    ...row,
    durationMs: row.endedAt - row.startedAt,
    costSource: row.costUsd === undefined ? 'unknown' : 'reported',
    ...given({ refused: refusalOf(row.n) ?? refusedBy(row), commit: commits.get(row.n) }),
  }))
}

/** Why claims were refused although the checks pass. Most loops have no such claim, and then nothing is replayed. */
async function findRefusals(store: Store, loop: Loop): Promise<(iteration: number) => string | undefined> {
  const { bent, unproven, questioned } = loop.tally
  if (!bent && !unproven && !questioned) return () => undefined
  const refusals = refusalsOf(loop)
  for (const event of await store.events(0, loop.id)) refusals.see(event)
  return refusals.of
}

function refusedBy({ claim, verdicts }: IterationRow): string | undefined {
  const failed = verdicts.filter(({ result }) => result !== 'pass')
  return claim !== 'clear' || failed.length === 0 ? undefined : `refused: ${failedWords(failed)}`
}

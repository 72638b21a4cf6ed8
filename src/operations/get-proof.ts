/** Shows what the grade of a loop is based on: each check before, after and in every experiment, and on which files. */

import { startOf } from '../drive/look-at-means.ts'
import { shownFolder } from '../engine/home-folder.ts'
import {
  type Finding,
  type Grade,
  type Loop,
  type Ran,
  type Run,
  type Status,
  statusOf,
  type Tally,
} from '../engine/loop.ts'
import { allChecks } from '../engine/stages.ts'
import { allowedNow, trialsOf, unsealedPaths } from '../engine/trials.ts'
import type { StoredEvent } from '../host/store.ts'
import { given } from '../request/given.ts'
import { type Changes, changesOf } from './changes-of.ts'
import { findLoop } from './find-loop.ts'
import type { Operation } from './operation.ts'
import { adviceFor } from './proof-advice.ts'
import { standingOf } from './standing.ts'

export type FoundProof = {
  loop: string
  status: Status
  /** Absent: the loop is not complete. */
  grade?: Grade
  sentence: string
  /** What would give a better grade. Absent: nothing would. */
  advice?: string
  /** Graded by the rules of an older ralph. */
  older?: true
  require?: Grade
  /** Which experiments the loop runs. */
  experiments: 'off' | 'seal' | 'full'
  dir: string
  iterations: number
  /** When the checks ran last. */
  at?: number
  /** The files that the checks saw last, and the original ones. */
  seen?: Files
  start?: Files
  /** The files have changed since the checks ran. */
  stale?: true
  checks: ProvenCheck[]
  findings: Finding[]
  allowed: { path: string; by: string }[]
  flaky: string[]
}

/** `head`: the checked-out commit. `commit`: the commit with exactly these files: `head`, or the pushed one. */
export type Files = { tree: string; head?: string; commit?: string }

export type ProvenCheck = { check: string; before?: Ran; after?: Ran } & Partial<Record<Run, Tried>>

/** How a check ended in an experiment, or why it was not run. */
export type Tried = Ran | { check: string; why: string }

export const getProof: Operation<{ loop?: string }, FoundProof> = {
  name: 'get_proof',
  effect: 'read',
  summary: 'Shows what the grade of a loop is based on: each check before and after, experiments, and files.',
  report: true,
  async run(context, { loop: name }) {
    const store = context.store()
    const id = await findLoop(context, name)
    const loop = await store.load(id)
    const { spec, tally, next } = loop
    const { at, seen } = lastSeen(loop, await store.events(0, id))
    const changes = await changesOf(store, loop)
    const isComplete = next.kind === 'complete'
    return {
      loop: id,
      status: statusOf(loop),
      ...(isComplete ? { grade: next.proof } : {}),
      sentence: isComplete ? next.sentence : standingOf(loop).sentence,
      ...given({ advice: adviceFor(loop) }),
      ...(isComplete && next.older ? { older: true } : {}),
      ...given({ require: spec.require }),
      experiments: spec.proof ?? 'full',
      dir: shownFolder(loop),
      iterations: tally.iteration,
      ...given({ at, seen: await filesOf(changes, seen), start: await filesOf(changes, startOf(loop)) }),
      ...(isStale(loop, seen) ? { stale: true } : {}),
      checks: allChecks(spec).map((check) => provenCheck(loop, check)),
      findings: tally.findings,
      allowed: allowedIn(tally),
      flaky: tally.flaky ?? [],
    }
  },
}

/** What a person allowed, and the sealed run therefore kept. */
function allowedIn(tally: Tally): FoundProof['allowed'] {
  const paths = unsealedPaths(tally)
  return allowedNow(tally).flatMap(({ path, by }) => (paths.includes(path) ? [{ path, by }] : []))
}

/** When the last checks after work of the loop ran, and on which files. */
export function lastSeen({ tally }: Loop, events: readonly StoredEvent[]): { at?: number; seen?: string } {
  const worked = events.findIndex(({ fact }) => fact.kind === 'turned')
  const last = events.findLast(({ fact }, at) => fact.kind === 'checked' && at > worked)
  const state = last?.fact.kind === 'checked' ? last.fact.tree : undefined
  return given({ at: last?.at, seen: state ?? (tally.after ? undefined : tally.tree) })
}

function isStale({ tally, next }: Loop, seen: string | undefined): boolean {
  return next.kind !== 'complete' && tally.after !== undefined && seen !== tally.tree
}

async function filesOf(changes: Changes, state: string | undefined): Promise<Files | undefined> {
  if (state === undefined) return undefined
  const [tree = '', commit] = state.split(' ')
  const head = commit === 'no-commit' ? undefined : commit
  if (head === undefined) return { tree }
  return { tree, head, ...given({ commit: await changes.holder(tree, head) }) }
}

function provenCheck({ tally, next }: Loop, check: string): ProvenCheck {
  const trials = trialsOf(tally)
  const known = (all: readonly Ran[] | undefined) => all?.find((ran) => ran.check === check)
  const tried = (run: Run): Tried | undefined => {
    const trial = trials[run]
    return known(trial?.ran) ?? (trial && { check, why: trial.why ?? 'not run' })
  }
  return {
    check,
    ...given({
      before: known(tally.before),
      // A command that passes before any work completes its loop at once.
      after: known(tally.after ?? (next.kind === 'complete' ? tally.before : undefined)),
      start: tried('start'),
      sealed: tried('sealed'),
      reversed: tried('reversed'),
      control: tried('control'),
    }),
  }
}

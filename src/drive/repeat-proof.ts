/**
 * Repeats the proof of a loop: the checks on its files and on the original ones, then the experiments that its grade
 * needs.
 */
import type { Grade, Loop, Ran, Run, Trial } from '../engine/loop.ts'
import { alteredTogether, appraise } from '../engine/proof.ts'
import { type Again, type Experiments, inNewPlace } from './again.ts'

/** `bent`: only the loop's changes to these files turn the checks green. `fails`: these checks do not pass. */
export type Repeated =
  | { kind: 'graded'; grade: Grade; sentence: string }
  | { kind: 'bent'; paths: string[] }
  | { kind: 'fails'; checks: string[] }
  | { kind: 'stopped' }
  | { kind: 'cannot'; why: string }

export type Repeating = Again & {
  /** The outcome of each experiment. */
  saw(run: Run, trial: Trial): void
}

export async function repeatProof(asked: { loop: Loop; seen: string }, tools: Repeating): Promise<Repeated> {
  const repeated = await inNewPlace(tools, asked, (experiments) => repeat(experiments, tools.saw))
  return 'cannot' in repeated ? { kind: 'cannot', why: repeated.cannot } : repeated
}

async function repeat({ loop: bare, run }: Experiments, saw: Repeating['saw']): Promise<Repeated> {
  let loop = bare
  const next = async (kind: Run): Promise<Trial | undefined> => {
    const trial = await run(loop, kind)
    if (!trial) return undefined
    saw(kind, trial)
    loop = withTrial(loop, kind, trial)
    return trial
  }
  const control = await next('control')
  if (!control) return { kind: 'stopped' }
  if (control.why !== undefined) return { kind: 'cannot', why: control.why }
  const failing = control.ran.filter(({ result }) => result !== 'pass')
  if (failing.length > 0) return { kind: 'fails', checks: failing.map(({ check }) => check) }
  const start = await next('start')
  if (!start) return { kind: 'stopped' }
  loop = { ...loop, tally: { ...loop.tally, before: start.ran.filter(isKnown), after: control.ran } }
  for (;;) {
    const appraisal = appraise(loop)
    if (appraisal.kind === 'together') return alteredTogether(loop, appraisal.paths)
    if (appraisal.kind !== 'prove') return appraisal
    if (!(await next(appraisal.next.run))) return { kind: 'stopped' }
  }
}

function isKnown({ result }: Ran): boolean {
  return result === 'pass' || result === 'fail'
}

function withTrial(loop: Loop, run: Run, trial: Trial): Loop {
  const { tally } = loop
  return { ...loop, tally: { ...tally, trials: { ...tally.trials, tree: tally.tree ?? '', [run]: trial } } }
}

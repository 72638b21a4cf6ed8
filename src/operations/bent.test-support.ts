/** A loop that waits for a person to allow its changed tests, built from the facts that lead there. */
import { visit } from '../drive/visit.ts'
import { type Fact, type Finding, type Loop, type Ran, type Spec, startLoop, type Verdict } from '../engine/loop.ts'
import { specOf } from '../engine/stories.test-support.ts'
import type { Context } from './operation.ts'

/** `check` runs from then on, and may fail by now. */
export type Bending = { paths?: string[]; check?: string }

export async function bentLoop(
  context: Pick<Context, 'store' | 'now'>,
  id: string,
  { paths = ['test/a.test.ts'], check = 'true', ...change }: Partial<Spec> & Bending = {},
): Promise<Loop> {
  const store = context.store()
  const spec = specOf({ checks: [check], ...change })
  await store.create(startLoop(id, spec, { at: context.now(), tree: 'tree 0' }))
  return visit<Loop>(id, {
    store,
    now: context.now,
    held: () => Promise.reject(new Error(`Another process is running ${id}.`)),
    async work(held) {
      for (const fact of factsOf({ paths, check })) await held.move({ ...fact, at: held.now() })
      return held.loop
    },
  })
}

/** The check failed at first, then passed twice only because of the changed tests, which pass without any work. */
function factsOf({ paths, check }: Required<Bending>): Fact[] {
  const findings = paths.map((path): Finding => ({ kind: 'tests-changed', path, words: 'was changed' }))
  const ran = (result: Ran['result']): Ran => ({ check, result })
  const verdicts = (result: Ran['result']): Verdict[] => [{ ...ran(result), tail: '' }]
  const bends = (round: number): Fact[] => [
    { at: 0, kind: 'turned', turn: { ...TURN, tree: `tree ${round}` } },
    { at: 0, kind: 'checked', verdicts: verdicts('pass'), findings, tree: `tree ${round}` },
    { at: 0, kind: 'proved', run: 'sealed', ran: [ran('fail')] },
    { at: 0, kind: 'proved', run: 'control', ran: [ran('pass')] },
    { at: 0, kind: 'proved', run: 'reversed', ran: [ran('pass')] },
  ]
  const start: Fact = { at: 0, kind: 'checked', verdicts: verdicts('fail'), findings: [], tree: 'tree 0' }
  return [start, ...bends(1), ...bends(2)]
}

const TURN = { end: 'ok', claim: { kind: 'clear' }, words: 'It is done.', ranTests: false, tokens: 0 } as const

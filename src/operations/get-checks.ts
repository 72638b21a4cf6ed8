/** Shows the result of every check of a loop, before any work and in each iteration. */
import type { Ran, Verdict } from '../engine/loop.ts'
import { allChecks } from '../engine/stages.ts'
import { given } from '../request/given.ts'
import { findLoop } from './find-loop.ts'
import type { Operation } from './operation.ts'

/** `before`: absent if it did not run. `stage`: the one it proves. */
export type CheckHistory = { check: string; stage?: string; before?: Ran; rounds: Round[] }

type Round = Pick<Verdict, 'result' | 'failures'> & { iteration: number }

export const getChecks: Operation<{ loop: string }, { loop: string; checks: CheckHistory[] }> = {
  name: 'get_checks',
  effect: 'read',
  summary: 'Shows the result of every check of a loop, before any work and in each iteration.',
  report: true,
  async run(context, { loop: name }) {
    const store = context.store()
    const { id, spec, tally } = await store.load(await findLoop(context, name))
    const rows = await store.iterations(id)
    const ran = rows.flatMap(({ n, verdicts }) => verdicts.map((verdict) => ({ iteration: n, ...verdict })))
    const names = new Set([...allChecks(spec), ...ran.map(({ check }) => check)])
    const rounds = Map.groupBy(ran, ({ check }) => check)
    return {
      loop: id,
      checks: [...names].map((check) => ({
        check,
        ...given({
          stage: spec.stages.find((stage) => stage.check === check)?.name,
          before: tally.before?.find((one) => one.check === check),
        }),
        rounds: (rounds.get(check) ?? []).map(({ iteration, result, failures }) => ({
          iteration,
          result,
          ...given({ failures }),
        })),
      })),
    }
  },
}

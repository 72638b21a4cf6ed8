/** Shows the agent inside a loop its state: task, stages, checks and feedback. */
import { iterationLimit } from '../engine/limits.ts'
import type { Ran } from '../engine/loop.ts'
import { allChecks } from '../engine/stages.ts'
import { given } from '../request/given.ts'
import type { Operation } from './operation.ts'
import { passOf } from './pass.ts'

/** `of`: the iteration limit; null: no limit. `output`: the end of the output of a failed check. */
export type InsideContext = {
  task: string
  promise: string
  iteration: number
  of: number | null
  stages: { name: string; passed: boolean; check?: string }[]
  checks: { check: string; before?: Ran['result']; last?: Ran['result']; failures?: number; output?: string }[]
  feedback: string[]
}

export const getInsideContext: Operation<Record<never, never>, InsideContext> = {
  name: 'get_context',
  effect: 'read',
  summary: 'Shows the state of your loop: task, iteration, stages, checks with their last results, feedback.',
  async run(context) {
    const { loop, turn } = await passOf(context)
    const { spec, tally } = loop
    const rows = await context.store().iterations(loop.id, { after: tally.iteration - 1, limit: 1 })
    const find = (ran: readonly Ran[] | undefined, check: string) => ran?.find((one) => one.check === check)
    return {
      task: spec.prompt,
      promise: spec.promise,
      iteration: turn.iteration,
      of: iterationLimit(spec.limits, tally) || null,
      stages: spec.stages.map(({ name, check }) => ({
        name,
        passed: tally.passed.includes(name),
        ...given({ check }),
      })),
      checks: allChecks(spec).map((check) => {
        const last = find(tally.after, check)
        const printed = rows[0]?.verdicts.find((verdict) => verdict.check === check)
        return {
          check,
          ...given({
            before: find(tally.before, check)?.result,
            last: last?.result,
            failures: last?.failures,
            output: printed && printed.result !== 'pass' ? printed.tail : undefined,
          }),
        }
      }),
      feedback: tally.feedback,
    }
  },
}

/** The agent inside a loop reports what blocks it. */
import { mask } from '../host/mask.ts'
import type { Operation } from './operation.ts'
import { type Heard, keepReport, passOf } from './pass.ts'

export const reportBlocked: Operation<{ reason: string }, Heard> = {
  name: 'report_blocked',
  effect: 'write',
  summary: 'Reports that you are blocked until a person helps, and why. The loop then waits.',
  async run(context, { reason }) {
    const report = { at: context.now(), kind: 'blocked', reason: mask(reason) } as const
    await keepReport(context, await passOf(context), report)
    return { recorded: true, next: 'End your turn now: the loop waits for a person.' }
  },
}

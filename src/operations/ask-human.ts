/** The agent inside a loop asks a person something that only they can decide. */
import { mask } from '../host/mask.ts'
import type { Operation } from './operation.ts'
import { type Heard, keepReport, passOf } from './pass.ts'

export const askHuman: Operation<{ question: string }, Heard> = {
  name: 'ask_human',
  effect: 'write',
  summary: 'Asks a person what only they can decide. The loop waits; your next turn gets the answer.',
  async run(context, { question }) {
    const report = { at: context.now(), kind: 'question', question: mask(question) } as const
    await keepReport(context, await passOf(context), report)
    return { recorded: true, next: 'End your turn now: the next one gets the answer.' }
  },
}

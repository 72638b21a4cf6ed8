/** The agent inside a loop reports that a stage, or the whole task, is done. */
import { openStages } from '../engine/stages.ts'
import { RalphError } from '../error.ts'
import { mask } from '../host/mask.ts'
import { given } from '../request/given.ts'
import type { Operation } from './operation.ts'
import { type Heard, keepReport, passOf } from './pass.ts'

/** `stage`: absent, or the promise of the loop: the whole task. */
export type ReportingStage = { stage?: string; evidence: string }

export const reportStage: Operation<ReportingStage, Heard> = {
  name: 'report_stage',
  effect: 'write',
  summary: 'Reports that a stage is done, or the whole task if no stage is given.',
  agent: { description: 'ralph runs the checks itself when your turn ends. Report only what is really done.' },
  async run(context, { stage: name, evidence }) {
    const pass = await passOf(context)
    const { spec, tally } = pass.loop
    const open = openStages(spec, tally).map((stage) => stage.name)
    const stage = name === spec.promise ? undefined : name
    if (stage !== undefined && !open.includes(stage))
      throw new RalphError('input-invalid', unknownStage(stage, open), { field: 'stage' })
    const report = { at: context.now(), kind: 'stage', evidence: mask(evidence) } as const
    await keepReport(context, pass, { ...report, ...given({ stage }) })
    return { recorded: true, next: 'End your turn now: ralph runs its checks.' }
  },
}

function unknownStage(stage: string, open: readonly string[]): string {
  const there = open.length > 0 ? `The open stages are ${open.join(', ')}.` : 'No stage is open.'
  return `"${stage}" is not an open stage. ${there} Omit the stage to report the whole task.`
}

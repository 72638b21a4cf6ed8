/** The operations for the agent inside a loop: it can only report. They have no route, and need the pass of its turn. */
import { askHuman } from './ask-human.ts'
import { getInsideContext } from './inside-context.ts'
import { createInsideTask } from './inside-task.ts'
import { reportBlocked } from './report-blocked.ts'
import { reportStage } from './report-stage.ts'

export const INSIDE: InsideTable = {
  report_stage: reportStage,
  report_blocked: reportBlocked,
  ask_human: askHuman,
  create_task: createInsideTask,
  get_context: getInsideContext,
}

export type InsideTable = {
  report_stage: typeof reportStage
  report_blocked: typeof reportBlocked
  ask_human: typeof askHuman
  create_task: typeof createInsideTask
  get_context: typeof getInsideContext
}

export type InsideName = keyof InsideTable

/** The table of operations: everything that can be done to ralph from outside, by name. */
import { accept } from './accept.ts'
import { allow } from './allow.ts'
import { briefVault } from './brief-vault.ts'
import { cancel } from './cancel.ts'
import { getIteration } from './get-iteration.ts'
import { getLoop } from './get-loop.ts'
import { getProject } from './get-project.ts'
import { getProof } from './get-proof.ts'
import { importTasks } from './import-tasks.ts'
import { initProject } from './init-project.ts'
import { listEvents } from './list-events.ts'
import { listLoops } from './list-loops.ts'
import { pause } from './pause.ts'
import { prune } from './prune.ts'
import { rebuild } from './rebuild.ts'
import { resume } from './resume.ts'
import { rollback } from './rollback.ts'
import { start } from './start-loop.ts'
import { stats } from './stats.ts'
import { steer } from './steer.ts'
import {
  approveTask,
  completeTask,
  exhaustTask,
  getTask,
  isTaskComplete,
  iterateTask,
  listTasks,
  rejectTask,
  reportProgress,
  startTask,
  timeOutTask,
} from './tasks.ts'
import { undo } from './undo.ts'

export const OPERATIONS: Table = {
  start_loop: start,
  list_loops: listLoops,
  get_loop: getLoop,
  get_iteration: getIteration,
  get_proof: getProof,
  list_events: listEvents,
  cancel,
  pause,
  resume,
  steer,
  allow,
  rollback,
  undo,
  accept,
  stats,
  prune,
  rebuild,
  init_project: initProject,
  import_tasks: importTasks,
  get_project: getProject,
  start_task: startTask,
  is_task_complete: isTaskComplete,
  iterate_task: iterateTask,
  get_task: getTask,
  report_progress: reportProgress,
  complete_task: completeTask,
  time_out_task: timeOutTask,
  exhaust_task: exhaustTask,
  approve_task: approveTask,
  reject_task: rejectTask,
  list_tasks: listTasks,
  brief_vault: briefVault,
}

export type Table = {
  start_loop: typeof start
  list_loops: typeof listLoops
  get_loop: typeof getLoop
  get_iteration: typeof getIteration
  get_proof: typeof getProof
  list_events: typeof listEvents
  cancel: typeof cancel
  pause: typeof pause
  resume: typeof resume
  steer: typeof steer
  allow: typeof allow
  rollback: typeof rollback
  undo: typeof undo
  accept: typeof accept
  stats: typeof stats
  prune: typeof prune
  rebuild: typeof rebuild
  init_project: typeof initProject
  import_tasks: typeof importTasks
  get_project: typeof getProject
  start_task: typeof startTask
  is_task_complete: typeof isTaskComplete
  iterate_task: typeof iterateTask
  get_task: typeof getTask
  report_progress: typeof reportProgress
  complete_task: typeof completeTask
  time_out_task: typeof timeOutTask
  exhaust_task: typeof exhaustTask
  approve_task: typeof approveTask
  reject_task: typeof rejectTask
  list_tasks: typeof listTasks
  brief_vault: typeof briefVault
}

export type OperationName = keyof Table

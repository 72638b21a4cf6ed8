/** The table of operations: everything that can be done to ralph from outside, by name. */
import { accept } from './accept.ts'
import { addAgent, removeAgent } from './add-agent.ts'
import { dropTask, giveTask, retryAgent, seeAgent } from './agent-tasks.ts'
import { listAgents } from './agents.ts'
import { allow } from './allow.ts'
import { briefVault } from './brief-vault.ts'
import { cancel } from './cancel.ts'
import { getIteration } from './get-iteration.ts'
import { getLoop } from './get-loop.ts'
import { getProject } from './get-project.ts'
import { getProof } from './get-proof.ts'
import { importTasks } from './import-tasks.ts'
import { initProject } from './init-project.ts'
import { listChanges } from './list-changes.ts'
import { listEvents } from './list-events.ts'
import { listLoops } from './list-loops.ts'
import { pause } from './pause.ts'
import { prune } from './prune.ts'
import { rebuild } from './rebuild.ts'
import { resume } from './resume.ts'
import { rollback } from './rollback.ts'
import { setLimits } from './set-limits.ts'
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
  list_agents: listAgents,
  list_changes: listChanges,
  give_task: giveTask,
  drop_task: dropTask,
  see_agent: seeAgent,
  retry_agent: retryAgent,
  add_agent: addAgent,
  remove_agent: removeAgent,
  set_limits: setLimits,
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
  list_agents: typeof listAgents
  list_changes: typeof listChanges
  give_task: typeof giveTask
  drop_task: typeof dropTask
  see_agent: typeof seeAgent
  retry_agent: typeof retryAgent
  add_agent: typeof addAgent
  remove_agent: typeof removeAgent
  set_limits: typeof setLimits
}

export type OperationName = keyof Table

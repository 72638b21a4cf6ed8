/** The table of operations: everything that can be done to ralph from outside, by name. */
import { accept } from './accept.ts'
import { addAgent, removeAgent } from './add-agent.ts'
import { addDependency } from './add-dependency.ts'
import { dropTask, giveTask, retryAgent, seeAgent } from './agent-tasks.ts'
import { listAgents } from './agents.ts'
import { allow } from './allow.ts'
import { answer } from './answer.ts'
import { briefVault } from './brief-vault.ts'
import { cancel } from './cancel.ts'
import { addComments, listComments, removeComment } from './comments.ts'
import { createTask } from './create-task.ts'
import { drainWorker } from './drain-worker.ts'
import { exportLoops } from './export-loops.ts'
import { fork } from './fork.ts'
import { getActivity } from './get-activity.ts'
import { getAnalytics } from './get-analytics.ts'
import { getChecks } from './get-checks.ts'
import { getContext } from './get-context.ts'
import { getDiff } from './get-diff.ts'
import { getFleet } from './get-fleet.ts'
import { getFleetTask } from './get-fleet-task.ts'
import { getForecast } from './get-forecast.ts'
import { getIteration } from './get-iteration.ts'
import { getLoop } from './get-loop.ts'
import { getOverview } from './get-overview.ts'
import { getProject } from './get-project.ts'
import { getProof } from './get-proof.ts'
import { getTask, getTaskPrompt } from './get-task.ts'
import { getTranscript } from './get-transcript.ts'
import { listGroups, setGroup } from './groups.ts'
import { importBoard } from './import-board.ts'
import { importTasks } from './import-tasks.ts'
import { initProject } from './init-project.ts'
import { listChanges } from './list-changes.ts'
import { listEvents } from './list-events.ts'
import { listExecutors } from './list-executors.ts'
import { listFleetTasks } from './list-fleet-tasks.ts'
import { listIterations } from './list-iterations.ts'
import { listLoops } from './list-loops.ts'
import { listNeeds } from './list-needs.ts'
import { listStrips } from './list-strips.ts'
import { listTasks } from './list-tasks.ts'
import { markSeen } from './mark-seen.ts'
import { pause } from './pause.ts'
import { prune } from './prune.ts'
import { rebuild } from './rebuild.ts'
import { resume } from './resume.ts'
import { retry } from './retry.ts'
import { retryFleetTask } from './retry-fleet-task.ts'
import { rollback } from './rollback.ts'
import { setBudget } from './set-budget.ts'
import { setFleet } from './set-fleet.ts'
import { setLimits } from './set-limits.ts'
import { start } from './start-loop.ts'
import { steer } from './steer.ts'
import { submitTasks } from './submit-tasks.ts'
import { trustConfig } from './trust-config.ts'
import { tryChecks } from './try-checks.ts'
import { undo } from './undo.ts'
import { deleteTask, updateTask } from './update-task.ts'
import {
  approveTask as approveVaultTask,
  completeTask as completeVaultTask,
  exhaustTask as exhaustVaultTask,
  getTask as getVaultTask,
  isTaskComplete as isVaultTaskComplete,
  iterateTask as iterateVaultTask,
  listTasks as listVaultTasks,
  rejectTask as rejectVaultTask,
  reportProgress as reportVaultProgress,
  startTask as startVaultTask,
  timeOutTask as timeOutVaultTask,
} from './vault-tasks.ts'
import { waitLoop } from './wait-loop.ts'

export const OPERATIONS: Table = {
  start_loop: start,
  list_loops: listLoops,
  list_strips: listStrips,
  list_needs: listNeeds,
  get_overview: getOverview,
  get_loop: getLoop,
  wait_loop: waitLoop,
  list_iterations: listIterations,
  get_iteration: getIteration,
  get_diff: getDiff,
  get_transcript: getTranscript,
  get_activity: getActivity,
  get_checks: getChecks,
  get_proof: getProof,
  try_checks: tryChecks,
  trust_config: trustConfig,
  list_events: listEvents,
  mark_seen: markSeen,
  cancel,
  pause,
  resume,
  steer,
  allow,
  rollback,
  undo,
  accept,
  fork,
  retry,
  answer,
  add_comments: addComments,
  list_comments: listComments,
  remove_comment: removeComment,
  get_analytics: getAnalytics,
  get_forecast: getForecast,
  export_loops: exportLoops,
  prune,
  rebuild,
  init_project: initProject,
  import_tasks: importTasks,
  import_board: importBoard,
  get_project: getProject,
  start_vault_task: startVaultTask,
  is_vault_task_complete: isVaultTaskComplete,
  iterate_vault_task: iterateVaultTask,
  get_vault_task: getVaultTask,
  report_vault_progress: reportVaultProgress,
  complete_vault_task: completeVaultTask,
  time_out_vault_task: timeOutVaultTask,
  exhaust_vault_task: exhaustVaultTask,
  approve_vault_task: approveVaultTask,
  reject_vault_task: rejectVaultTask,
  list_vault_tasks: listVaultTasks,
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
  get_context: getContext,
  list_executors: listExecutors,
  create_task: createTask,
  get_task: getTask,
  get_task_prompt: getTaskPrompt,
  list_tasks: listTasks,
  update_task: updateTask,
  delete_task: deleteTask,
  add_dependency: addDependency,
  list_groups: listGroups,
  set_group: setGroup,
  submit_tasks: submitTasks,
  list_fleet_tasks: listFleetTasks,
  get_fleet_task: getFleetTask,
  get_fleet: getFleet,
  retry_fleet_task: retryFleetTask,
  drain_worker: drainWorker,
  set_budget: setBudget,
  set_fleet: setFleet,
}

export type Table = {
  start_loop: typeof start
  list_loops: typeof listLoops
  list_strips: typeof listStrips
  list_needs: typeof listNeeds
  get_overview: typeof getOverview
  get_loop: typeof getLoop
  wait_loop: typeof waitLoop
  list_iterations: typeof listIterations
  get_iteration: typeof getIteration
  get_diff: typeof getDiff
  get_transcript: typeof getTranscript
  get_activity: typeof getActivity
  get_checks: typeof getChecks
  get_proof: typeof getProof
  try_checks: typeof tryChecks
  trust_config: typeof trustConfig
  list_events: typeof listEvents
  mark_seen: typeof markSeen
  cancel: typeof cancel
  pause: typeof pause
  resume: typeof resume
  steer: typeof steer
  allow: typeof allow
  rollback: typeof rollback
  undo: typeof undo
  accept: typeof accept
  fork: typeof fork
  retry: typeof retry
  answer: typeof answer
  add_comments: typeof addComments
  list_comments: typeof listComments
  remove_comment: typeof removeComment
  get_analytics: typeof getAnalytics
  get_forecast: typeof getForecast
  export_loops: typeof exportLoops
  prune: typeof prune
  rebuild: typeof rebuild
  init_project: typeof initProject
  import_tasks: typeof importTasks
  import_board: typeof importBoard
  get_project: typeof getProject
  start_vault_task: typeof startVaultTask
  is_vault_task_complete: typeof isVaultTaskComplete
  iterate_vault_task: typeof iterateVaultTask
  get_vault_task: typeof getVaultTask
  report_vault_progress: typeof reportVaultProgress
  complete_vault_task: typeof completeVaultTask
  time_out_vault_task: typeof timeOutVaultTask
  exhaust_vault_task: typeof exhaustVaultTask
  approve_vault_task: typeof approveVaultTask
  reject_vault_task: typeof rejectVaultTask
  list_vault_tasks: typeof listVaultTasks
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
  get_context: typeof getContext
  list_executors: typeof listExecutors
  create_task: typeof createTask
  get_task: typeof getTask
  get_task_prompt: typeof getTaskPrompt
  list_tasks: typeof listTasks
  update_task: typeof updateTask
  delete_task: typeof deleteTask
  add_dependency: typeof addDependency
  list_groups: typeof listGroups
  set_group: typeof setGroup
  submit_tasks: typeof submitTasks
  list_fleet_tasks: typeof listFleetTasks
  get_fleet_task: typeof getFleetTask
  get_fleet: typeof getFleet
  retry_fleet_task: typeof retryFleetTask
  drain_worker: typeof drainWorker
  set_budget: typeof setBudget
  set_fleet: typeof setFleet
}

export type OperationName = keyof Table

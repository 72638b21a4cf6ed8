/** The library: every public name. */
export type { Agent, AgentEvent, Outcome, Parser, Request } from './agents/agent.ts'
export { drive, type Hands } from './drive/drive.ts'
export { type Claimable, readAsk, readClaim } from './engine/claim.ts'
export { type GraphTask, graphProblem, readyTasks } from './engine/graph.ts'
export {
  type Claim,
  ended,
  type Fact,
  type HaltReason,
  type Limits,
  type Loop,
  type Next,
  type Order,
  type Spec,
  type Stage,
  type Status,
  startLoop,
  statusOf,
  type Turn,
  type Verdict,
} from './engine/loop.ts'
export { step } from './engine/step.ts'
export { type ErrorCode, RalphError } from './error.ts'
export { type BoardFields, type BoardTask, toPrompt } from './formats/board-task.ts'
export { type Obstacle, printObstacles, readObstacles } from './formats/obstacles.ts'
export { type Entry, printProgress, readProgress } from './formats/progress.ts'
export type { HistoryEntry, TaskProgress, TaskState, VaultStatus } from './formats/task-state.ts'
export { parseTasks, printTasks, readTasks, type Task, type TaskList, type TaskStatus } from './formats/tasks.ts'
export { unwrapPrompt, wrapPrompt } from './formats/wrapped-prompt.ts'
export { openStore } from './host/sqlite.ts'
export type { Held, Lease, Store } from './host/store.ts'
export { type At, type NamedTask, parseExecute, parseInit, parseInterview } from './project/templates.ts'
export { ActionExecutor, type ActionStep } from './vault/action-executor.ts'
export type {
  CompletedTask,
  CountedIteration,
  StartedTask,
  StoppedTask,
  TaskMetrics,
  VaultOptions,
} from './vault/contract.ts'
export {
  MaxIterationsError,
  StateCorruptedError,
  StateFileError,
  type TaskErrorResponse,
  TaskNotFoundError,
  TimeoutError,
} from './vault/errors.ts'
export { RalphWiggum } from './vault/ralph-wiggum.ts'

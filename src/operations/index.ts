/** The table of operations: everything that can be done to ralph from outside, by name. */
import { accept } from './accept.ts'
import { cancel } from './cancel.ts'
import { getLoop } from './get-loop.ts'
import { listLoops } from './list-loops.ts'
import { pause } from './pause.ts'
import { prune } from './prune.ts'
import { resume } from './resume.ts'
import { rollback } from './rollback.ts'
import { start } from './start-loop.ts'
import { stats } from './stats.ts'
import { steer } from './steer.ts'
import { undo } from './undo.ts'

export const OPERATIONS: Table = {
  start_loop: start,
  list_loops: listLoops,
  get_loop: getLoop,
  cancel,
  pause,
  resume,
  steer,
  rollback,
  undo,
  accept,
  stats,
  prune,
}

export type Table = {
  start_loop: typeof start
  list_loops: typeof listLoops
  get_loop: typeof getLoop
  cancel: typeof cancel
  pause: typeof pause
  resume: typeof resume
  steer: typeof steer
  rollback: typeof rollback
  undo: typeof undo
  accept: typeof accept
  stats: typeof stats
  prune: typeof prune
}

export type OperationName = keyof Table

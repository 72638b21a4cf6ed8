/** The table of commands, in the order of the help. */
import { accept } from './accept.ts'
import { allow } from './allow.ts'
import { board } from './board.ts'
import { briefing } from './briefing.ts'
import { cancel } from './cancel.ts'
import type { Command } from './context.ts'
import { onDatabase } from './database.ts'
import { demo } from './demo.ts'
import { dispatch } from './dispatch.ts'
import { doctor } from './doctor.ts'
import { execute } from './execute.ts'
import { fleet } from './fleet.ts'
import { fork } from './fork.ts'
import { hook } from './hook.ts'
import { importFile } from './import.ts'
import { init } from './init.ts'
import { install, uninstall } from './install.ts'
import { interview } from './interview.ts'
import { mcp } from './mcp.ts'
import { pause } from './pause.ts'
import { proof } from './proof.ts'
import { prune } from './prune.ts'
import { resume } from './resume.ts'
import { retry } from './retry.ts'
import { rollback } from './rollback.ts'
import { run } from './run.ts'
import { serve } from './serve.ts'
import { show } from './show.ts'
import { stats } from './stats.ts'
import { status } from './status.ts'
import { steer } from './steer.ts'
import { submit } from './submit.ts'
import { task } from './task.ts'
import { trust } from './trust.ts'
import { undo } from './undo.ts'
import { watch } from './watch.ts'
import { worker } from './worker.ts'

export const COMMANDS: Readonly<Record<string, Command>> = {
  run,
  init,
  interview,
  execute,
  import: importFile,
  dispatch,
  watch,
  task,
  briefing,
  submit: onDatabase(submit),
  worker: onDatabase(worker),
  fleet: onDatabase(fleet),
  board: onDatabase(board),
  serve: onDatabase(serve),
  status: onDatabase(status),
  show: onDatabase(show),
  proof: onDatabase(proof),
  cancel: onDatabase(cancel),
  pause: onDatabase(pause),
  resume: onDatabase(resume),
  steer: onDatabase(steer),
  allow: onDatabase(allow),
  trust,
  rollback: onDatabase(rollback),
  undo: onDatabase(undo),
  accept: onDatabase(accept),
  fork: onDatabase(fork),
  retry: onDatabase(retry),
  stats: onDatabase(stats),
  doctor: onDatabase(doctor),
  mcp: onDatabase(mcp),
  install,
  uninstall,
  demo,
  prune: onDatabase(prune),
  hook,
}

/** The verbs of `ralph task`, each with its options and its help. */
import type { CommandSpec, Option } from './args.ts'

export const SHARED: Readonly<Record<'vault' | 'json', Option>> = {
  vault: { value: 'DIR', help: 'vault folder (or RALPH_VAULT)' },
  json: { help: 'print the API response as one line of JSON' },
}

export type VerbName =
  | 'start'
  | 'check-complete'
  | 'iterate'
  | 'state'
  | 'progress'
  | 'complete'
  | 'timeout'
  | 'max-iterations'
  | 'approve'
  | 'reject'
  | 'list'

export const verbs: Readonly<Record<VerbName, CommandSpec>> = {
  start: verb('start', 'FILE', 'Starts work on a file in a vault.', {
    'max-iterations': { value: 'N', help: 'iteration limit (default: 10)' },
    'timeout-minutes': {
      value: 'N',
      help: 'time limit in minutes, not counting time spent waiting for you (default: 30)',
    },
  }),
  'check-complete': verb(
    'check-complete',
    'ID',
    'Checks whether the file is in Done. Exit codes: 0 yes, 1 no, 2 no such task.',
  ),
  iterate: verb(
    'iterate',
    'ID --action TEXT',
    'Records a finished iteration. If the file is in Done, the task is completed.',
    {
      action: { value: 'TEXT', help: 'what was done' },
      result: { value: 'TEXT', help: 'the outcome (default: success)' },
      duration: {
        value: 'SECONDS',
        help: 'how long it took (default: the time since the last call that changed the task)',
      },
    },
  ),
  state: verb('state', 'ID', 'Shows the state of a task and its iterations.', {
    history: { value: 'N', help: 'show only the last N iterations' },
  }),
  progress: verb(
    'progress',
    'ID --total N --completed N --step TEXT',
    'Records the progress of a task and changes nothing else.',
    {
      total: { value: 'N', help: 'total number of steps' },
      completed: { value: 'N', help: 'number of completed steps' },
      step: { value: 'TEXT', help: 'the current step' },
    },
  ),
  complete: verb('complete', 'ID', 'Ends a task whose file is in Done.', {
    'exit-reason': { value: 'TEXT', help: 'how it ended (default: completed)' },
  }),
  timeout: verb(
    'timeout',
    'ID',
    'Ends a task that ran out of time, by its own limit or yours, and calls notify_webhook.',
    {
      notify: { help: 'terminal bell and desktop notification, even if no webhook is set' },
    },
  ),
  'max-iterations': verb('max-iterations', 'ID', 'Reports that a task has used all its iterations.'),
  approve: verb('approve', 'ID', 'Approves a task that is waiting for you; its file leaves Pending_Approval.', {
    note: { value: 'TEXT', help: 'message for the next iteration' },
  }),
  reject: verb('reject', 'ID', 'Rejects a task that is waiting for you: it fails, and its file moves to Failed.', {
    reason: { value: 'TEXT', help: 'the reason, kept next to the file' },
  }),
  list: verb('list', '', 'Lists the tasks of the vault, oldest first.', {
    status: { value: 'S', help: 'only tasks with this status, such as in_progress' },
  }),
}

function verb(name: string, word: string, summary: string, options: Record<string, Option> = {}): CommandSpec {
  return { name: `task ${name}`, words: `${word} [options]`.trim(), summary, options: { ...options, ...SHARED } }
}

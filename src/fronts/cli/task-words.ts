/** The verbs of `ralph task`, each with its options and its help. */
import type { CommandSpec, Option } from './args.ts'

export const SHARED: Readonly<Record<'vault' | 'json', Option>> = {
  vault: { value: 'DIR', help: 'the vault (or RALPH_VAULT)' },
  json: { help: "print the API's object on one line" },
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
  start: verb('start', 'FILE', 'Begins to work on a file of a vault.', {
    'max-iterations': { value: 'N', help: 'how many iterations it may take (default 10)' },
    'timeout-minutes': { value: 'N', help: 'how long it may take, while nobody is waited for (default 30)' },
  }),
  'check-complete': verb(
    'check-complete',
    'ID',
    'Is the file in Done? Exit code 0: yes, 1: no, 2: there is no such task.',
  ),
  iterate: verb(
    'iterate',
    'ID --action TEXT',
    'Counts an iteration that is over; with the file in Done the task is completed.',
    {
      action: { value: 'TEXT', help: 'what was done' },
      result: { value: 'TEXT', help: 'what came of it (default success)' },
      duration: { value: 'SECONDS', help: 'how long it took (default: since the task last moved)' },
    },
  ),
  state: verb('state', 'ID', 'Shows how a task stands, and its iterations.', {
    history: { value: 'N', help: 'only the last N iterations' },
  }),
  progress: verb(
    'progress',
    'ID --total N --completed N --step TEXT',
    'Notes how far the work has come. It changes nothing else.',
    {
      total: { value: 'N', help: 'how many steps there are' },
      completed: { value: 'N', help: 'how many of them are done' },
      step: { value: 'TEXT', help: 'the one under way' },
    },
  ),
  complete: verb('complete', 'ID', 'Ends a task whose file is in Done.', {
    'exit-reason': { value: 'TEXT', help: 'a word for how it ended (default completed)' },
  }),
  timeout: verb(
    'timeout',
    'ID',
    'Ends a task whose time is over, by your clock or by its own; notify_webhook hears of it.',
    {
      notify: { help: 'bell and desktop message, also where no webhook is set' },
    },
  ),
  'max-iterations': verb('max-iterations', 'ID', 'Tells of a task that has used all its iterations.'),
  approve: verb('approve', 'ID', 'Lets a task go on that waits for you; its file comes back from Pending_Approval.', {
    note: { value: 'TEXT', help: 'words for the next iteration' },
  }),
  reject: verb('reject', 'ID', 'Ends a task that waits for you as failed; its file goes to Failed.', {
    reason: { value: 'TEXT', help: 'why; it stands beside the file' },
  }),
  list: verb('list', '', 'Lists the tasks of the vault, oldest first.', {
    status: { value: 'S', help: 'only those with this status, such as in_progress' },
  }),
}

function verb(name: string, word: string, summary: string, options: Record<string, Option> = {}): CommandSpec {
  return { name: `task ${name}`, words: `${word} [options]`.trim(), summary, options: { ...options, ...SHARED } }
}

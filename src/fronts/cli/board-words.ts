/** The verbs of `ralph board`, each with its options and help. */
import type { CommandSpec, Option } from './args.ts'

const json: Option = { help: 'print JSON' }

const FIELDS: Readonly<Record<string, Option>> = {
  description: { value: 'TEXT', help: 'the details, after the title' },
  file: { value: 'F', help: 'read the description from a file' },
  agent: {
    value: 'A[,B…]',
    help: 'agent to use (default: auto); with several, the next takes over while one is rate-limited',
  },
  verify: { value: 'CMD', many: true, help: 'check that must pass; may be repeated' },
  stage: {
    value: 'NAME[=CMD]',
    many: true,
    help: 'named part of the task with its own check; may be repeated',
  },
  once: { help: 'run the plain prompt once, without looping' },
  'max-iterations': { value: 'N', help: 'iteration limit (default: 10; 0: no limit)' },
  'completion-promise': {
    value: 'TEXT',
    help: 'text inside <promise>…</promise> that claims the task is done (default: COMPLETE)',
  },
  timeout: { value: 'MIN', help: 'time limit in minutes' },
  'max-cost': { value: 'USD', help: 'cost limit, if the agent reports its cost' },
  'max-tokens': { value: 'N', help: 'token limit' },
  repo: { value: 'DIR', help: "folder to work in (default: its group's, or the one it is started in)" },
  worktree: { help: 'work in a linked worktree on its own branch; `ralph accept` merges it' },
  'depends-on': { value: 'TASK', many: true, help: 'task that must be done first; may be repeated' },
  priority: { value: 'N', help: 'priority; higher starts first (default: 0)' },
  project: { value: 'ID', help: 'group it belongs to' },
  type: { value: 'TEXT', help: 'kind of work, such as feature, bug or docs' },
  label: { value: 'TEXT', many: true, help: 'label; may be repeated' },
}

export type BoardVerb = 'list' | 'new' | 'show' | 'set' | 'start' | 'prompt' | 'delete' | 'groups' | 'group'

export const boardVerbs: Readonly<Record<BoardVerb, CommandSpec>> = {
  list: {
    name: 'board list',
    words: '[options]',
    summary: 'Lists the tasks, newest first.',
    options: {
      status: {
        value: 'S',
        many: true,
        help: 'only tasks with this status: todo, in-progress, in-review, done or cancelled; may be repeated',
      },
      project: { value: 'ID', help: 'only tasks of this group' },
      text: { value: 'TEXT', help: 'only tasks with TEXT in the title or description' },
      archived: { help: 'only archived tasks' },
      json,
    },
  },
  new: {
    name: 'board new',
    words: 'TITLE [options]',
    summary: 'Adds a task.',
    options: { ...FIELDS, start: { help: 'start it at once' }, json },
    examples: [['ralph board new "Fix the login" --verify "npm test" --start', 'add a task and start it']],
  },
  show: { name: 'board show', words: 'TASK', summary: 'Shows a task and its loop.', options: { json } },
  set: {
    name: 'board set',
    words: 'TASK [options]',
    summary: 'Changes a task.',
    options: {
      title: { value: 'TEXT', help: 'new title' },
      status: { value: 'S', help: 'new status: todo, in-progress, in-review, done or cancelled' },
      ...FIELDS,
      loop: { help: 'loop again (the opposite of --once)' },
      archive: { help: 'hide it from lists' },
      unarchive: { help: 'show it in lists again' },
      clear: { value: 'FIELD', many: true, help: 'reset a field to its default; may be repeated' },
      json,
    },
    examples: [
      [
        'ralph board set k3f9x2ab --clear limits --priority 5',
        'reset the limits to their defaults, and raise the priority',
      ],
    ],
  },
  start: {
    name: 'board start',
    words: 'TASK',
    summary: 'Starts a task, here or in the queue of a running `ralph serve`.',
    options: {
      notify: { help: 'when it stops: terminal bell, desktop notification and the configured webhook' },
      json,
    },
  },
  prompt: {
    name: 'board prompt',
    words: 'TASK',
    summary: 'Prints the full prompt of a task, as the agent gets it.',
    options: {},
  },
  delete: {
    name: 'board delete',
    words: 'TASK',
    summary: 'Deletes a task. Its loops and their history are kept.',
    options: { json },
  },
  groups: { name: 'board groups', words: '', summary: 'Lists the groups of tasks.', options: { json } },
  group: {
    name: 'board group',
    words: 'ID [options]',
    summary: 'Creates or changes a group of tasks. ID is the project_id of its tasks.',
    options: {
      name: { value: 'TEXT', help: 'name of the group' },
      repo: { value: 'DIR', help: 'folder its tasks work in' },
      json,
    },
  },
}

/** What `ralph board` can be told, verb by verb. */
import type { CommandSpec, Option } from './args.ts'

const json: Option = { help: 'print JSON' }

const FIELDS: Readonly<Record<string, Option>> = {
  description: { value: 'TEXT', help: 'the details, after the title' },
  file: { value: 'F', help: 'read the description from a file' },
  agent: {
    value: 'A[,B…]',
    help: 'agent to use (default auto); with several, the next takes over while one is limited',
  },
  verify: { value: 'CMD', many: true, help: 'a check that must pass; may be given several times' },
  stage: {
    value: 'NAME[=CMD]',
    many: true,
    help: 'a named part of done, with its own check; may be given several times',
  },
  once: { help: 'run the plain prompt once, without looping' },
  'max-iterations': { value: 'N', help: 'default 10; 0 for no limit' },
  'completion-promise': { value: 'TEXT', help: 'the text inside <promise>…</promise> (default COMPLETE)' },
  timeout: { value: 'MIN', help: 'time limit in minutes' },
  'max-cost': { value: 'USD', help: 'cost limit, if the agent reports its cost' },
  'max-tokens': { value: 'N', help: 'token limit' },
  repo: { value: 'DIR', help: 'folder to work in (default: the one of its project, or where it is started)' },
  worktree: { help: 'work in a worktree and branch of its own; `ralph accept` merges it' },
  'depends-on': { value: 'TASK', many: true, help: 'a task that must be done first; may be given several times' },
  priority: { value: 'N', help: 'higher starts first (default 0)' },
  project: { value: 'ID', help: 'the project_id of the group it belongs to' },
  type: { value: 'TEXT', help: 'kind of work, such as feature, bug or docs' },
  label: { value: 'TEXT', many: true, help: 'a label; may be given several times' },
}

export type BoardVerb = 'list' | 'new' | 'show' | 'set' | 'start' | 'prompt' | 'delete' | 'groups' | 'group'

export const boardVerbs: Readonly<Record<BoardVerb, CommandSpec>> = {
  list: {
    name: 'board list',
    words: '[options]',
    summary: 'List the tasks, newest first.',
    options: {
      status: { value: 'S', many: true, help: 'todo, in-progress, in-review, done or cancelled' },
      project: { value: 'ID', help: 'only those of a group' },
      text: { value: 'TEXT', help: 'only those with this text in title or description' },
      archived: { help: 'the archived ones' },
      json,
    },
  },
  new: {
    name: 'board new',
    words: 'TITLE [options]',
    summary: 'Add a task.',
    options: { ...FIELDS, start: { help: 'start it at once' }, json },
    examples: [['ralph board new "Fix the login" --verify "npm test" --start', 'add a task and work on it']],
  },
  show: { name: 'board show', words: 'TASK', summary: 'Show a task and its loop.', options: { json } },
  set: {
    name: 'board set',
    words: 'TASK [options]',
    summary: 'Change a task.',
    options: {
      title: { value: 'TEXT', help: 'a new title' },
      status: { value: 'S', help: 'todo, in-progress, in-review, done or cancelled' },
      ...FIELDS,
      loop: { help: 'loop again (the opposite of --once)' },
      archive: { help: 'hide it from lists' },
      unarchive: { help: 'show it in lists again' },
      clear: { value: 'FIELD', many: true, help: 'reset a field to its default; may be given several times' },
      json,
    },
    examples: [['ralph board set k3f9x2ab --clear limits --priority 5', 'no limits but the iterations, and sooner']],
  },
  start: {
    name: 'board start',
    words: 'TASK',
    summary: 'Start a task: here, or in the queue of a running `ralph serve`.',
    options: { notify: { help: 'bell, desktop message and webhook when it stops' }, json },
  },
  prompt: { name: 'board prompt', words: 'TASK', summary: 'Print the wrapped prompt of a task.', options: {} },
  delete: {
    name: 'board delete',
    words: 'TASK',
    summary: 'Delete a task. Its loops and their history stay.',
    options: { json },
  },
  groups: { name: 'board groups', words: '', summary: 'List the groups of tasks.', options: { json } },
  group: {
    name: 'board group',
    words: 'ID [options]',
    summary: 'Create or change a group of tasks; its ID is their project_id.',
    options: {
      name: { value: 'TEXT', help: 'its name' },
      repo: { value: 'DIR', help: 'folder that its tasks work in' },
      json,
    },
  },
}

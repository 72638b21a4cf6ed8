/** What `ralph submit` can be told. */
import type { CommandSpec } from './args.ts'
import { PROOF_OPTIONS } from './request.ts'
import { runSpec } from './run-options.ts'

/** The same as for a loop on this machine. */
const AS_RUN = [
  ...['file', 'model', 'type', 'permissions', 'context', 'verify', 'until', 'stage', 'max-iterations'],
  ...['completion-promise', 'signal', 'timeout', 'max-cost', 'max-tokens', 'no-progress', 'same-error', 'overload'],
  ...['on-limit', 'silence', 'check-timeout', ...PROOF_OPTIONS, 'sandbox', 'sandbox-allow'],
]

export const submitSpec: CommandSpec = {
  name: 'submit',
  words: '[PROMPT] [options] [-- arguments for the agent]',
  summary: 'Submits a task to the fleet: a worker on any machine runs it.',
  about: `A worker clones the repository, works on the branch ralph/<task>, and pushes it after every iteration. Workers see
only what is pushed, so push first. With --project, all tasks of .artefacts/NAME/tasks.json are submitted; each is merged into the
base branch once it is complete. Exit codes with --wait: 0 all done, 1 not all, 4 the rest waits for a person, 130 stopped waiting (the tasks go on).`,
  options: {
    repo: {
      value: 'URL',
      help: 'the repository (default: origin of the one in this folder); none: an empty folder, which is removed in the end',
    },
    agent: {
      value: 'A[,B…]',
      help: 'agents that may work on it: a worker with one of them takes it (default: any agent)',
    },
    base: { value: 'BRANCH', help: 'the branch to begin at (default: the one checked out here, else main)' },
    project: { value: 'NAME', help: 'submit the tasks of a project in this folder, with their dependencies' },
    title: { value: 'TEXT', help: 'a short title (default: the beginning of the prompt)' },
    'depends-on': { value: 'TASK', many: true, help: 'a task that must be done first; may be given several times' },
    priority: { value: 'N', help: 'higher starts first, among your own tasks (default 0)' },
    labels: { value: 'A[,B…]', help: 'run only on workers with all of these labels' },
    touches: {
      value: 'GLOB',
      many: true,
      help: 'files it will change: tasks that overlap do not run at the same time; may be given several times',
    },
    submitter: { value: 'NAME', help: 'whose share and budget it uses (default: your git user.email)' },
    wait: { help: 'print every change until all are over; Ctrl-C only stops waiting' },
    ...Object.fromEntries(AS_RUN.flatMap((name) => (runSpec.options[name] ? [[name, runSpec.options[name]]] : []))),
    json: { help: 'print one JSON object per line' },
  },
  examples: [
    ['ralph submit "Make the tests pass" --verify "npm test" --wait', 'the repository and branch of this folder'],
    [
      'ralph submit "Update the docs" --repo git@example.com:shop.git --base main --agent claude,codex --labels linux',
      'any repository',
    ],
    ['ralph submit --project shop --verify "npm test"', 'a whole project, merged task by task'],
  ],
}

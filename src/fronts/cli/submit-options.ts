/** The options and help of `ralph submit`. */
import type { CommandSpec } from './args.ts'
import { PROOF_OPTIONS } from './request.ts'
import { runSpec } from './run-options.ts'

/** The same as for `ralph run`. */
const AS_RUN = [
  ...['file', 'model', 'type', 'permissions', 'context', 'verify', 'until', 'stage', 'max-iterations'],
  ...['completion-promise', 'signal', 'timeout', 'max-cost', 'max-tokens', 'no-progress', 'same-error', 'overload'],
  ...['on-limit', 'silence', 'check-timeout', ...PROOF_OPTIONS, 'sandbox', 'sandbox-allow'],
]

export const submitSpec: CommandSpec = {
  name: 'submit',
  words: '[PROMPT] [options] [-- arguments for the agent]',
  summary: 'Submits a task to the fleet: a worker on any machine runs it.',
  about: `A worker clones the repository, works on the branch ralph/<task>, and pushes it after every iteration. Workers see only what is
pushed, so push first. With --project, all tasks of .artefacts/NAME/tasks.json are submitted; each is merged into the base branch
once it is complete.
Exit codes with --wait: 0 all done, 1 some failed or were cancelled, 4 some are waiting for you, 130 stopped waiting (the tasks continue).`,
  options: {
    repo: {
      value: 'URL',
      help: "repository to work on (default: this repository's origin); none: an empty folder, removed at the end",
    },
    agent: {
      value: 'A[,B…]',
      help: 'agents that may run it; a worker with one of them takes it (default: any agent)',
    },
    base: { value: 'BRANCH', help: 'branch to start from (default: the one checked out here, or main)' },
    project: { value: 'NAME', help: 'submit the tasks of a project in this folder, with their dependencies' },
    title: { value: 'TEXT', help: 'short title (default: the start of the prompt)' },
    'depends-on': { value: 'TASK', many: true, help: 'task that must be done first; may be repeated' },
    priority: { value: 'N', help: 'priority among your own tasks; higher starts first (default: 0)' },
    labels: { value: 'A[,B…]', help: 'run only on workers that have all these labels' },
    touches: {
      value: 'GLOB',
      many: true,
      help: 'files the task will change; tasks that overlap do not run at the same time; may be repeated',
    },
    submitter: { value: 'NAME', help: 'submitter whose share and budget it uses (default: your git user.email)' },
    wait: { help: 'print every change until all tasks have ended; Ctrl-C only stops waiting' },
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

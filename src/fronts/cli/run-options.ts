/** The options and help of `ralph run`. */
import type { CommandSpec } from './args.ts'

export const runSpec: CommandSpec = {
  name: 'run',
  words: '[PROMPT] [options] [-- arguments for the agent]',
  summary: 'Runs an agent again and again on one task until its checks pass.',
  about: `PROMPT is a single quoted argument, or - for standard input; --file reads it from a file. When the agent claims to be done,
ralph runs the checks. The loop ends when they pass; if it stops earlier, ralph says why.
Settings without a flag or environment variable come from ralph.config.json or the ralph: section of config.yaml, first in the
working folder, then in RALPH_HOME.
Exit codes: 0 complete, 1 stopped before it was done, 2 usage error, 3 agent missing or unusable, 4 needs your input, 130 paused or cancelled.`,
  options: {
    file: { value: 'F', help: 'read the prompt from a file' },
    agent: {
      value: 'A[,B…]',
      help: 'agent to use: a name from `ralph doctor`, command:"program with arguments", or auto (default: auto, or RALPH_AGENT); with several, the next takes over while one is rate-limited',
    },
    model: { value: 'M', help: 'model for the agent to use' },
    type: {
      value: 'TEXT',
      help: 'kind of work, such as feature, bug or docs; `ralph stats` reports each kind separately',
    },
    permissions: {
      value: 'MODE',
      help: 'bypass (default: the agent never asks for permission) or ask (it may do only what its own settings allow)',
    },
    context: {
      value: 'KIND',
      help: 'fresh (default: a new session for every iteration) or same (one session for all iterations)',
    },
    verify: {
      value: 'CMD',
      many: true,
      help: "check that must pass, or auto for the project's own checks; runs without a shell; may be repeated",
    },
    until: { value: 'CMD', help: 'run CMD after every iteration, claimed done or not, and stop when it passes' },
    stage: {
      value: 'NAME[=CMD]',
      many: true,
      help: 'named part of the task with its own promise and check, completed in the given order; may be repeated',
    },
    'max-iterations': {
      value: 'N',
      help: 'stop after N iterations (default: 10; 0: no limit; auto: estimated from the task; auto:N: estimated, at most N)',
    },
    'completion-promise': {
      value: 'TEXT',
      help: 'text inside <promise>…</promise> that claims the task is done (default: COMPLETE)',
    },
    signal: {
      value: 'TEXT',
      many: true,
      help: 'other text that claims the task is done when alone on a line; may be repeated',
    },
    timeout: { value: 'MIN', help: 'stop after MIN minutes, waits included; a running check may finish' },
    'max-cost': { value: 'USD', help: 'stop after spending USD dollars, if the agent reports its cost' },
    'max-tokens': { value: 'N', help: 'stop when N tokens are used' },
    'no-progress': { value: 'N', help: 'stop after N iterations in a row that change nothing (default: 3)' },
    'same-error': { value: 'N', help: 'stop after the same failure N times in a row (default: 5)' },
    overload: {
      value: 'MIN',
      help: 'give up on an agent whose model service keeps failing for MIN minutes (default: 120)',
    },
    'on-limit': {
      value: 'WHAT',
      help: 'at a rate limit: wait (default: until it resets) or stop; with several agents, only once all of them are limited',
    },
    silence: { value: 'MIN', help: 'kill an agent that is silent for MIN minutes (default: 10)' },
    'check-timeout': { value: 'MIN', help: 'time limit for one check, in minutes (default: 10)' },
    require: { value: 'GRADE', help: 'refuse a claim whose proof is weaker than GRADE: verified, tested or kept' },
    protect: {
      value: 'GLOB',
      many: true,
      help: 'files to treat as tests, besides those ralph recognizes; may be repeated',
    },
    'may-change': {
      value: 'GLOB',
      many: true,
      help: 'tests or configuration the agent is allowed to change; may be repeated',
    },
    proof: {
      value: 'HOW',
      help: 'experiments to run for the proof: full (default), seal (only the one with the original tests) or off',
    },
    'proof-minutes': {
      value: 'MIN',
      help: 'time limit for all experiments, in minutes (default: 10, or twice as long as the checks take, if that is more)',
    },
    sandbox: {
      value: 'HOW',
      optional: true,
      help: 'let the agent write only to the worktree and its own settings (Linux, bubblewrap); strict: run the checks in it too, without network; off: no sandbox, even if the config sets one',
    },
    'sandbox-allow': {
      value: 'NAME',
      many: true,
      help: 'services the sandbox can reach, such as docker, ssh-agent or postgres; comma-separated; may be repeated',
    },
    mcp: {
      help: 'give the agent MCP tools for reporting: report_stage, report_blocked, ask_human, create_task, get_context',
    },
    worktree: { help: 'work in a linked worktree on its own branch; `ralph accept` merges it' },
    'on-halt': {
      value: 'WHAT',
      help: 'files to leave when the loop halts or is cancelled: keep (default: as they are), best (fewest failing checks) or restore (as before the loop)',
    },
    dir: { value: 'D', help: 'folder to work in (default: the current one)' },
    notify: { help: 'when it stops: terminal bell, desktop notification and the configured webhook' },
    json: { help: 'print one JSON object per line' },
  },
  examples: [
    [
      'ralph run "Make the tests pass" --agent command:./my-agent --verify "npm test"',
      'until the tests pass, at most ten iterations',
    ],
    [
      'ralph run --until "make lint" --agent command:./my-agent',
      'until the command passes, without waiting for a claim',
    ],
    ['ralph run --file task.md --agent command:./my-agent --stage TESTS="npm test" --stage DOCS', 'in two stages'],
  ],
}

/** What `ralph run` can be told. */
import type { CommandSpec } from './args.ts'

export const runSpec: CommandSpec = {
  name: 'run',
  words: '[PROMPT] [options] [-- arguments for the agent]',
  summary: 'Runs an agent again and again on one task until its checks pass.',
  about: `The prompt is one text in quotes, a file (--file), or - for standard input. The agent's word that it is done
only starts the checks; the loop ends when they pass, or with one sentence that says why it stopped.
What no flag or variable says comes from ralph.config.json or the ralph: section of config.yaml, in the folder, then in RALPH_HOME.
Exit codes: 0 complete, 1 stopped short of done, 2 wrong use, 3 agent missing or unusable, 4 needs your input, 130 paused or cancelled.`,
  options: {
    file: { value: 'F', help: 'read the prompt from a file' },
    agent: {
      value: 'A[,B…]',
      help: 'who works: auto (default), a name that `ralph doctor` lists, command:"program with arguments"; of several the next takes over while one is limited (or RALPH_AGENT)',
    },
    model: { value: 'M', help: 'the model the agent uses' },
    type: {
      value: 'TEXT',
      help: 'what kind of work it is, such as feature, bug or docs; `ralph stats` tells them apart',
    },
    permissions: {
      value: 'MODE',
      help: 'bypass (default: the agent asks for nothing) or ask (only what its own settings allow)',
    },
    context: {
      value: 'KIND',
      help: 'fresh (default: every iteration is a new session) or same (goes on in one session)',
    },
    verify: {
      value: 'CMD',
      many: true,
      help: 'a check that must pass, or auto for the ones of the project; may be given several times; started without a shell',
    },
    until: { value: 'CMD', help: 'check after every iteration, claim or not, and end when it passes' },
    stage: { value: 'NAME[=CMD]', many: true, help: 'a named part of done, in order, with its own promise and check' },
    'max-iterations': { value: 'N', help: 'default 10; 0 for no count limit; auto, or auto:N with a ceiling' },
    'completion-promise': { value: 'TEXT', help: 'the text inside <promise>…</promise> (default COMPLETE)' },
    signal: { value: 'TEXT', many: true, help: 'another text that claims the task when it stands alone on a line' },
    timeout: { value: 'MIN', help: 'time limit in minutes, waits included; a check under way may still end' },
    'max-cost': { value: 'USD', help: 'stop when this much is spent, where the agent reports it' },
    'max-tokens': { value: 'N', help: 'stop when this many tokens are used' },
    'no-progress': { value: 'N', help: 'stop after N iterations that changed nothing (default 3)' },
    'same-error': { value: 'N', help: 'stop when the same failure came N times in a row (default 5)' },
    overload: {
      value: 'MIN',
      help: "give up on an agent whose model's service keeps failing for this long (default 120)",
    },
    'on-limit': {
      value: 'WHAT',
      help: 'at a rate limit: wait (default: until it resets) or stop; with several agents the next takes over first',
    },
    silence: { value: 'MIN', help: 'end an agent that prints nothing for this long (default 10)' },
    'check-timeout': { value: 'MIN', help: 'time limit of one check (default 10)' },
    require: { value: 'GRADE', help: 'refuse a claim with a weaker proof: verified, tested or kept' },
    protect: {
      value: 'GLOB',
      many: true,
      help: 'files that count as tests, besides those that ralph knows; may be given several times',
    },
    'may-change': {
      value: 'GLOB',
      many: true,
      help: 'tests or configuration that the agent is meant to change; may be given several times',
    },
    proof: {
      value: 'HOW',
      help: 'which experiments back the proof: full (default), seal (only the one with the tests of the start) or off',
    },
    'proof-minutes': {
      value: 'MIN',
      help: 'time limit of all experiments (default 10, or twice the time of the checks where that is more)',
    },
    sandbox: {
      value: 'HOW',
      optional: true,
      help: 'the agent can write only the worktree and its own settings (Linux, bubblewrap); strict: the checks run inside, too, without a network; off: whatever the config says',
    },
    'sandbox-allow': {
      value: 'NAME',
      many: true,
      help: 'a service that can be reached from the sandbox, such as docker, ssh-agent or postgres; several with commas',
    },
    mcp: {
      help: 'give the agent MCP tools to report with: report_stage, report_blocked, ask_human, create_task, get_context',
    },
    worktree: { help: 'work in a linked worktree and branch; `ralph accept` merges it' },
    'on-halt': {
      value: 'WHAT',
      help: 'what a loop that halts or is cancelled leaves: keep (default: the last state), best (its checks saw), restore (the first)',
    },
    dir: { value: 'D', help: 'work in this folder' },
    notify: { help: 'bell, desktop message and the webhook of the config when it stops' },
    json: { help: 'print one JSON object per line' },
  },
  examples: [
    [
      'ralph run "Make the tests pass" --agent command:./my-agent --verify "npm test"',
      'until the tests pass, at most ten iterations',
    ],
    ['ralph run --until "make lint" --agent command:./my-agent', 'no claim needed: done when the command passes'],
    ['ralph run --file task.md --agent command:./my-agent --stage TESTS="npm test" --stage DOCS', 'in two stages'],
  ],
}

import { expect, test } from 'vitest'
import { type Config, parseConfig } from './config.ts'

const FULL: Required<Config> = {
  agent: 'command:./agent',
  max_iterations: 20,
  completion_promise: 'DONE',
  completion_signals: ['TASK_COMPLETE'],
  verify: ['npm test'],
  timeout_minutes: 30.5,
  max_cost_usd: 2.5,
  circuit_breaker: { no_progress_limit: 3, same_error_limit: 5, cooldown_minutes: 7.5 },
  overload_minutes: 30,
  on_limit: 'stop',
  notify_webhook: 'https://example.org/hook',
  worktree_files: ['.env'],
  worktree_setup: 'npm ci',
  proof: 'seal',
  require: 'tested',
  protect: ['fixtures/**'],
  may_change: ['test/new/**'],
  proof_minutes: 5,
  proof_setup: 'npm ci',
  mcp: true,
  sandbox: 'strict',
  sandbox_allow: ['docker'],
  transcript_mb: 50,
  state_dir: 'Ralph_State',
  done_folder: 'Done',
  check_interval_seconds: 0.5,
  quiet_seconds: 0.2,
}

test.each<[what: string, config: Config]>([
  ['everything', FULL],
  ['nothing', {}],
  ['an adaptive limit', { max_iterations: 'auto' }],
  ['no count limit', { max_iterations: 0 }],
  ['no checks', { verify: [] }],
  ['a part of the breaker', { circuit_breaker: { same_error_limit: 1 } }],
  ['no cooldown', { circuit_breaker: { cooldown_minutes: 0 } }],
])('%s is accepted', (_, config) => {
  expect(parseConfig(JSON.stringify(config), 'ralph.config.json')).toEqual(config)
})

const GLOBS = 'a list of globs such as "test/**" (every bracket closed, no "..")'
const SETUP = "a command, run without a shell (for && and the like, use a script or sh -c '…')"

test.each<[text: string, says: string]>([
  ['{"max_iteration": 3}', 'did you mean "max_iterations"?'],
  ['{"Verify": []}', 'did you mean "verify"?'],
  ['{"something": 1}', 'unknown key "something"'],
  ['{"__proto__": {}}', 'unknown key "__proto__"'],
  ['{"constructor": {}}', 'unknown key "constructor"'],
  ['{"circuit_breaker": {"no_progres_limit": 3}}', 'circuit_breaker.no_progres_limit'],
  ['{"circuit_breaker": {"no_progress_limit": 0}}', 'must be a whole number above 0, got 0'],
  [
    '{"circuit_breaker": {"cooldown_minutes": -1}}',
    'circuit_breaker.cooldown_minutes must be a non-negative number, got -1',
  ],
  ['{"circuit_breaker": {"cooldown": 5}}', 'unknown key "circuit_breaker.cooldown"'],
  ['{"circuit_breaker": null}', 'circuit_breaker must be an object, got null'],
  ['{"circuit_breaker": [3]}', 'circuit_breaker'],
  ['{"max_iterations": -1}', 'must be a whole number or "auto", got -1'],
  ['{"max_iterations": 1.5}', 'got 1.5'],
  ['{"max_iterations": "10"}', 'got "10"'],
  ['{"timeout_minutes": "30"}', 'timeout_minutes must be a non-negative number'],
  ['{"max_cost_usd": -2}', 'max_cost_usd must be a non-negative number'],
  ['{"max_cost_usd": 1e999}', 'max_cost_usd must be a non-negative number'],
  ['{"enabled": false}', 'unknown key "enabled"'],
  ['{"max_total_cost_usd": 3}', 'unknown key "max_total_cost_usd"'],
  ['{"agent": 3}', 'agent must be a string'],
  ['{"verify": "npm test"}', 'verify must be a list of commands, got "npm test"'],
  ['{"completion_signals": [1]}', 'completion_signals must be a list of strings'],
  ['{"notify_webhook": "file:///etc/passwd"}', 'notify_webhook must be an http URL'],
  ['{"require": "verifed"}', 'require must be verified, tested or kept, got "verifed"'],
  ['{"protect": [" "]}', `protect must be ${GLOBS}, got [" "]`],
  ['{"protect": ["["]}', `protect must be ${GLOBS}, got ["["]`],
  ['{"may_change": ["../x"]}', `may_change must be ${GLOBS}, got ["../x"]`],
  ['{"may_change": "test/**"}', `may_change must be ${GLOBS}, got "test/**"`],
  ['{"proof_minutes": 0}', 'proof_minutes must be a number above 0, got 0'],
  ['{"proof_setup": ""}', `proof_setup must be ${SETUP}, got ""`],
  ['{"proof_setup": "a && b"}', `proof_setup must be ${SETUP}, got "a && b"`],
  ['{"proof_setup": "sh -c \'npm ci"}', 'proof_setup must be a command'],
  ['{"state_dir": 3}', 'state_dir must be a folder in the vault, got 3'],
  ['{"done_folder": ["Done"]}', 'done_folder must be a folder in the vault, got ["Done"]'],
  ['{"check_interval_seconds": "5"}', 'check_interval_seconds must be a non-negative number, got "5"'],
  ['{"overload_minutes": -1}', 'overload_minutes must be a non-negative number, got -1'],
  ['{"on_limit": "never"}', 'on_limit must be wait or stop, got "never"'],
  ['{"quiet_seconds": "2"}', 'quiet_seconds must be a non-negative number, got "2"'],
  ['{"done_dir": "Done"}', 'unknown key "done_dir"'],
  ['', 'is not valid JSON'],
  ['{"agent": }', 'is not valid JSON'],
  ['[]', 'must contain one object'],
  ['null', 'must contain one object'],
  ['"text"', 'must contain one object'],
])('%s is refused by name and place', (text, says) => {
  expect(() => parseConfig(text, 'some/ralph.config.json')).toThrow(
    expect.objectContaining({
      code: 'input-invalid',
      message: expect.stringMatching(new RegExp(`^some/ralph\\.config\\.json: .*${literal(says)}`, 's')),
    }),
  )
})

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}

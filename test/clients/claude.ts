import { join } from 'node:path'
import type { Client } from '../clients.ts'
import { DONE, failure, type Reply } from '../model-server.ts'
import type { Scene } from '../scenes.ts'

const bash = (command: string): Reply => ({ tools: [claude.bash(command)] })
const BACKGROUND = { command: 'sleep 1; echo over', run_in_background: true }
const limit = {
  'anthropic-ratelimit-unified-status': 'rejected',
  'anthropic-ratelimit-unified-reset': '4102444800',
  'anthropic-ratelimit-unified-representative-claim': 'five_hour',
}

export const claude: Client = {
  name: 'claude',
  model: 'claude-sonnet-5',
  pin: '@anthropic-ai/claude-code@2.1.325',
  program: 'claude',
  prepare: (home, url) => ({
    CLAUDE_CONFIG_DIR: join(home, '.claude'),
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'dummy-key',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
    IS_SANDBOX: '1',
    CLAUDE_CODE_MAX_RETRIES: '0',
  }),
  bash: (command) => ({ name: 'Bash', input: { command, description: 'a step' } }),
  contextFull: {
    status: 400,
    error: { type: 'invalid_request_error', message: 'prompt is too long: 250000 tokens > 200000 maximum' },
  },
  get scenes(): Record<string, Scene> {
    return {
      billing: {
        replies: [failure(400, 'invalid_request_error', 'Your credit balance is too low to access the Anthropic API.')],
      },
      model: { replies: [failure(404, 'not_found_error', 'model: nope')] },
      'limited-with-reset': {
        replies: [{ ...failure(429, 'rate_limit_error', 'limit'), headers: limit }],
        env: { ANTHROPIC_API_KEY: undefined, CLAUDE_CODE_OAUTH_TOKEN: 'dummy-token' },
      },
      'max-turns': { replies: [bash('echo 1'), bash('echo 2'), DONE], request: { extraArgs: ['--max-turns', '1'] } },
      'max-budget': {
        replies: [bash('echo 1'), bash('echo 2'), DONE],
        request: { extraArgs: ['--max-budget-usd', '0.001'] },
      },
      'max-tokens': { replies: [{ text: 'Much to say', stopReason: 'max_tokens' }] },
      refusal: { replies: [{ text: 'I cannot.', stopReason: 'refusal' }] },
      'no-connection': { replies: [], env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:1' } },
      hang: { replies: [{ hang: true }], env: { API_TIMEOUT_MS: '2000' } },
      cut: { replies: [{ cut: true }, DONE], env: { CLAUDE_CODE_MAX_RETRIES: '1' } },
      'several-results': {
        replies: [
          { tools: [{ name: 'Bash', input: { ...BACKGROUND, description: 'a step' } }] },
          { text: 'It goes on in the background.' },
          DONE,
        ],
      },
      interrupted: { replies: [bash('touch begun; while :; do sleep 1; done')], signal: 'SIGINT' },
      'no-session': {
        replies: [DONE],
        request: { resume: { id: '11111111-1111-4111-8111-111111111111', costUsd: 0 } },
      },
      root: { replies: [DONE], env: { IS_SANDBOX: undefined } },
    }
  },
}

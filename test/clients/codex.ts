import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from '../clients.ts'
import { DONE, failure, type Reply } from '../model-server.ts'
import type { Scene } from '../scenes.ts'

const NOT_ALLOWED: Reply = { text: 'I was not allowed to.' }
const bash = (command: string): Reply => ({ tools: [codex.bash(command)] })
const ESCALATED = { cmd: 'touch x.txt', sandbox_permissions: 'require_escalated', justification: 'a step' }
const NOWHERE = 'model_providers.scripted.base_url="http://127.0.0.1:1/v1"'

/** A file change with Codex's own tool. */
export const PATCH = "apply_patch <<'X'\n*** Begin Patch\n*** Add File: a.txt\n+hi\n*** End Patch\nX"

/** The rate limit of a ChatGPT plan, as its service reports it. */
export function planLimit(resetsAt: number): Reply {
  return {
    status: 429,
    body: { error: { type: 'usage_limit_reached', message: 'limit', plan_type: 'plus', resets_at: resetsAt } },
  }
}

const config = (url: string) => `
model = "gpt-5.5"
model_provider = "scripted"
check_for_update_on_startup = false

[analytics]
enabled = false

# Plugins and apps are looked for on the network.
[features]
plugins = false
apps = false

[model_providers.scripted]
name = "Scripted"
base_url = "${url}/v1"
env_key = "SCRIPTED_API_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
stream_idle_timeout_ms = 5000
`

export const codex: Client = {
  name: 'codex',
  model: 'gpt-5.5',
  // In a terminal it asks for a title for every message of the user.
  isAside: (body) => JSON.stringify(body).includes('Do not answer the request.'),
  pin: '@openai/codex@0.166.0',
  program: 'codex',
  prepare(home, url) {
    const folder = join(home, '.codex')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'config.toml'), config(url))
    return { CODEX_HOME: folder, SCRIPTED_API_KEY: 'dummy-key', TZ: 'UTC' }
  },
  bash: (command) => ({ name: 'exec_command', input: { cmd: command } }),
  contextFull: { error: { type: 'context_length_exceeded', message: 'Your input exceeds the context window.' } },
  get scenes(): Record<string, Scene> {
    const retrying = ['-c', 'model_providers.scripted.stream_max_retries=1']
    return {
      billing: { replies: [failure(429, 'insufficient_quota', 'You exceeded your current quota.')] },
      'no-plan': { replies: [failure(429, 'usage_not_included', 'no')] },
      'no-key': { replies: [DONE], env: { SCRIPTED_API_KEY: undefined } },
      model: { replies: [failure(404, 'model_not_found', 'The model nope does not exist')] },
      'model-of-plan': {
        replies: [failure(400, 'invalid_request_error', 'The nope model is not supported with a ChatGPT account.')],
      },
      'limited-with-reset': { replies: [planLimit(4_102_444_800)] },
      'limited-in-stream': {
        replies: [{ error: { type: 'rate_limit_exceeded', message: 'Limit 30000. Please try again in 1.5s.' } }],
      },
      capacity: { replies: [failure(503, 'server_is_overloaded', 'Overloaded')] },
      'context-by-status': {
        replies: [failure(400, 'context_length_exceeded', 'Your input exceeds the context window of this model.')],
      },
      refusal: { replies: [{ error: { type: 'invalid_prompt', message: 'Invalid prompt: for safety reasons.' } }] },
      // By default it waits for the network forever.
      'no-connection': {
        replies: [],
        request: { extraArgs: ['-c', NOWHERE, '--disable', 'unbounded_connection_retries'] },
      },
      cut: { replies: [{ cut: true }] },
      reconnected: { replies: [{ cut: true }, DONE], request: { extraArgs: retrying } },
      patch: { replies: [bash(PATCH), DONE] },
      'patch-denied': { replies: [bash(PATCH), NOT_ALLOWED], request: { permissions: 'ask' } },
      'denied-escalation': {
        replies: [{ tools: [{ name: 'exec_command', input: ESCALATED }] }, NOT_ALLOWED],
        request: { permissions: 'ask' },
      },
      interrupted: { replies: [bash('touch begun; while :; do sleep 1; done')], signal: 'SIGINT' },
      'no-session': {
        replies: [DONE],
        request: { resume: { id: '11111111-1111-4111-8111-111111111111', costUsd: 0 } },
      },
    }
  },
}

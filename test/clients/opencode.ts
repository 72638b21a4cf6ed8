/** OpenCode, and Kilo, which is the same program under another name. */
import { join } from 'node:path'
import type { Client } from '../clients.ts'
import { DONE, failure, type Reply } from '../model-server.ts'

/** Without this, it retries after 2, 4, 8 … seconds. */
const SOON = { 'retry-after-ms': '100' }

const FULL = failure(
  400,
  'context_length_exceeded',
  "This model's maximum context length is 128000 tokens. However, your messages resulted in 250000.",
)
const SUMMARY: Reply = { text: 'A summary.' }

type Names = Pick<Client, 'name' | 'pin' | 'program'> & { prefix: 'OPENCODE' | 'KILO' }

function clientOf({ prefix, ...names }: Names): Client {
  const bash = (command: string) => ({ name: 'bash', input: { command, description: 'a step' } })
  const compacting = { [`${prefix}_DISABLE_AUTOCOMPACT`]: undefined }
  return {
    ...names,
    model: 'scripted/scripted',
    prepare: (home, url) => ({
      XDG_CONFIG_HOME: join(home, '.config'),
      XDG_DATA_HOME: join(home, '.local/share'),
      XDG_STATE_HOME: join(home, '.local/state'),
      XDG_CACHE_HOME: join(home, '.cache'),
      ...Object.fromEntries(
        [
          'AUTOUPDATE',
          'AUTOCOMPACT',
          'MODELS_FETCH',
          'LSP_DOWNLOAD',
          'DEFAULT_PLUGINS',
          'SHARE',
          'SESSION_INGEST',
          'PRESENCE',
        ].map((what) => [`${prefix}_DISABLE_${what}`, 'true']),
      ),
      [`${prefix}_TELEMETRY_LEVEL`]: 'off',
      [`${prefix}_NO_DAEMON`]: 'true',
      [`${prefix}_CONFIG_CONTENT`]: JSON.stringify(config(url)),
    }),
    bash,
    contextFull: FULL,
    errorHeaders: SOON,
    isAside: (body) => JSON.stringify(body).includes('title generator'),
    scenes: {
      limited: { replies: [{ ...failure(429, 'rate_limit_exceeded', 'slow down'), headers: SOON }] },
      overloaded: { replies: [{ ...failure(503, 'overloaded_error', 'Overloaded'), headers: SOON }] },
      server: { replies: [{ ...failure(500, 'api_error', 'Internal server error'), headers: SOON }] },
      billing: { replies: [failure(402, 'payment_required', 'You have no credits left.')] },
      model: { replies: [failure(404, 'model_not_found', 'The model `nope` does not exist.')] },
      'no-model': { replies: [DONE], request: { model: 'scripted/nope' } },
      // The client handles the first one itself; with the second it retries until its summary does not fit either.
      'context-compacted': { replies: [FULL, SUMMARY, { tools: [bash('echo x > x.txt')] }, DONE], env: compacting },
      'context-loop': { replies: [FULL, SUMMARY, FULL, SUMMARY, FULL, SUMMARY, FULL], env: compacting },
      'max-tokens': { replies: [{ text: 'Much to say', stopReason: 'length' }] },
      refusal: { replies: [{ text: 'I cannot.', stopReason: 'content_filter' }] },
      'limited-with-reset': {
        replies: [{ ...failure(429, 'rate_limit_exceeded', 'Please try again in 20 minutes.'), headers: SOON }],
      },
      'limited-then-ok': {
        replies: [{ ...failure(429, 'rate_limit_exceeded', 'slow down'), headers: SOON }, DONE],
      },
      interrupted: {
        replies: [{ tools: [bash('touch begun; while :; do sleep 1; done')] }],
        signal: 'SIGINT',
      },
      'no-session': { replies: [DONE], request: { resume: { id: 'ses_nonexistent', costUsd: 0 } } },
    },
  }
}

function config(url: string): object {
  return {
    model: 'scripted/scripted',
    small_model: 'scripted/scripted',
    autoupdate: false,
    share: 'disabled',
    permission: { bash: 'ask' },
    provider: {
      scripted: {
        npm: '@ai-sdk/openai-compatible',
        name: 'Scripted',
        options: { baseURL: `${url}/v1`, apiKey: 'dummy-key' },
        models: {
          scripted: { name: 'Scripted', cost: { input: 1, output: 10 }, limit: { context: 128_000, output: 8_000 } },
        },
      },
    },
  }
}

export const opencode: Client = clientOf({
  name: 'opencode',
  pin: 'opencode-ai@1.18.33',
  program: 'opencode',
  prefix: 'OPENCODE',
})

export const kilo: Client = clientOf({
  name: 'kilo',
  pin: '@kilocode/cli@7.7.7',
  program: 'kilo',
  prefix: 'KILO',
})

import { join, resolve } from 'node:path'
import type { Client } from '../clients.ts'
import { DONE, failure } from '../model-server.ts'

const SOON = { 'retry-after': '1' }

export const copilot: Client = {
  name: 'copilot',
  model: 'gpt-4o',
  pin: '@github/copilot@1.0.102',
  program: 'copilot',
  prepare: (home, url) => ({
    COPILOT_HOME: join(home, '.copilot'),
    COPILOT_CACHE_HOME: resolve('.clients/copilot/cache'), // it unpacks 235 MB of itself there
    COPILOT_OFFLINE: 'true',
    COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
    COPILOT_PROVIDER_API_KEY: 'dummy-key',
    COPILOT_MODEL: 'gpt-4.1',
    COPILOT_AUTO_UPDATE: 'false',
  }),
  bash: (command) => ({ name: 'bash', input: { command, description: 'a step' } }),
  errorHeaders: { 'retry-after': '1' },
  contextFull: {
    status: 400,
    error: {
      type: 'context_length_exceeded',
      message:
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 250000 tokens.",
    },
  },
  scenes: {
    // Its five retries take nearly a minute by default.
    limited: { replies: [{ ...failure(429, 'rate_limit_exceeded', 'slow down'), headers: SOON }] },
    billing: { replies: [failure(402, 'payment_required', 'You have no credits left.')] },
    quota: {
      replies: [
        {
          ...failure(
            429,
            'insufficient_quota',
            'You exceeded your current quota, please check your plan and billing details.',
          ),
          headers: SOON,
        },
      ],
    },
    model: { replies: [failure(404, 'model_not_found', 'The model `nope` does not exist.')] },
    'limited-with-reset': {
      replies: [{ ...failure(429, 'rate_limit_exceeded', 'Please try again in 20 minutes.'), headers: SOON }],
    },
    'limited-then-ok': { replies: [{ ...failure(429, 'rate_limit_exceeded', 'slow down'), headers: SOON }, DONE] },
    'max-tokens': { replies: [{ text: 'Much to say', stopReason: 'length' }] },
    refusal: { replies: [{ text: 'I cannot.', stopReason: 'content_filter' }] },
    'no-connection': { replies: [], env: { COPILOT_PROVIDER_BASE_URL: 'http://127.0.0.1:1/v1' } },
    cut: { replies: [{ cut: true }, DONE] },
    interrupted: {
      replies: [
        {
          tools: [
            { name: 'bash', input: { command: 'touch begun; while :; do sleep 1; done', description: 'a step' } },
          ],
        },
      ],
      signal: 'SIGINT',
    },
    'no-session': {
      replies: [DONE],
      request: { resume: { id: '11111111-1111-4111-8111-111111111111', costUsd: 0 } },
    },
    'no-login': {
      replies: [DONE],
      env: {
        COPILOT_OFFLINE: undefined,
        COPILOT_PROVIDER_BASE_URL: undefined,
        COPILOT_PROVIDER_API_KEY: undefined,
        HTTPS_PROXY: 'http://127.0.0.1:1',
      },
    },
  },
}

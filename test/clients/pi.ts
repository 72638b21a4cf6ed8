import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from '../clients.ts'
import { failure } from '../model-server.ts'
import type { Scene } from '../scenes.ts'

const MODEL = {
  id: 'scripted',
  name: 'Scripted',
  reasoning: false,
  input: ['text'],
  contextWindow: 128_000,
  maxTokens: 4_096,
  cost: { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 },
}

export const pi: Client = {
  name: 'pi',
  model: 'local/scripted',
  pin: '@earendil-works/pi-coding-agent@0.87.1',
  program: 'pi',
  prepare(home, url) {
    const folder = join(home, '.pi', 'agent')
    const provider = { baseUrl: `${url}/v1`, apiKey: 'dummy-key', api: 'openai-completions', models: [MODEL] }
    const settings = {
      defaultProvider: 'local',
      defaultModel: 'scripted',
      enableInstallTelemetry: false,
      retry: { enabled: true, maxRetries: 1, baseDelayMs: 100 },
    }
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'models.json'), JSON.stringify({ providers: { local: provider } }))
    writeFileSync(join(folder, 'settings.json'), JSON.stringify(settings))
    return { PI_CODING_AGENT_DIR: folder, PI_OFFLINE: '1', PI_TELEMETRY: '0' }
  },
  bash: (command) => ({ name: 'bash', input: { command } }),
  contextFull: {
    status: 400,
    error: {
      type: 'context_length_exceeded',
      message:
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 250000 tokens.",
    },
  },
  scenes: {
    billing: {
      replies: [failure(429, 'insufficient_quota', 'You exceeded your current quota, please check your plan.')],
    },
    model: { replies: [failure(404, 'model_not_found', 'The model `scripted` does not exist.')] },
    'unknown-model': { replies: [], request: { model: 'nope' } },
    'limited-with-reset': { replies: [failure(429, 'rate_limit_error', 'Limit reached. Please try again in 20s.')] },
    'max-tokens': { replies: [{ text: 'Much to say', stopReason: 'length' }] },
    refusal: { replies: [{ text: 'I cannot.', stopReason: 'content_filter' }] },
    retried: { replies: [failure(503, 'overloaded_error', 'Overloaded'), { text: 'All done.' }] },
    cut: { replies: [{ cut: true }] },
    'no-session': {
      replies: [],
      request: { resume: { id: '11111111-1111-4111-8111-111111111111', costUsd: 0 } },
    },
    'no-key': { replies: [], env: { PI_CODING_AGENT_DIR: 'nothing' } },
    // A command that ends by itself: after SIGINT it outlives the client.
    interrupted: {
      replies: [{ tools: [{ name: 'bash', input: { command: 'touch begun; sleep 5' } }] }],
      signal: 'SIGINT',
    },
  } satisfies Record<string, Scene>,
}

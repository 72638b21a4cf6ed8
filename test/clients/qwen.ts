import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from '../clients.ts'
import { DONE, failure, type Reply } from '../model-server.ts'
import type { Scene } from '../scenes.ts'

const bash = (command: string): Reply => ({ tools: [qwen.bash(command)] })

export const qwen: Client = {
  name: 'qwen',
  model: 'another',
  pin: '@qwen-code/qwen-code@0.24.4',
  program: 'qwen',
  prepare(home, url) {
    mkdirSync(join(home, '.qwen'), { recursive: true })
    const settings = {
      general: { enableAutoUpdate: false },
      // It builds its memory of a conversation with separate requests.
      memory: { enableManagedAutoMemory: false, enableManagedAutoDream: false },
      model: { generationConfig: { maxRetries: 0, retryInitialDelayMs: 1, retryMaxDelayMs: 1 } },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
      security: { auth: { selectedType: 'openai' } },
    }
    writeFileSync(join(home, '.qwen', 'settings.json'), JSON.stringify(settings))
    return { OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: 'dummy-key', OPENAI_MODEL: 'scripted' }
  },
  bash: (command) => ({
    name: 'run_shell_command',
    input: { command, description: 'a step', is_background: false },
  }),
  // In a terminal it predicts what the user types next.
  isAside: (body) => JSON.stringify(body).includes('[SUGGESTION MODE: '),
  // No setting shortens its seven attempts, which take over a minute; this does, for status 429 and 503.
  errorHeaders: { 'retry-after-ms': '20' },
  contextFull: failure(
    400,
    'context_length_exceeded',
    "This model's maximum context length is 131072 tokens. However, your messages resulted in 140000 tokens.",
  ),
  get scenes(): Record<string, Scene> {
    return {
      billing: { replies: [failure(402, 'insufficient_balance', 'Payment required: your balance is empty.')] },
      model: { replies: [failure(404, 'model_not_found', 'The model `nope` does not exist.')] },
      quota: {
        replies: [failure(429, 'quota_exceeded', 'Quota exceeded. It will reset at 2100-01-01 00:00:00 UTC.')],
      },
      'max-tokens': { replies: [{ text: 'Much to say', stopReason: 'length' }] },
      'max-turns': {
        replies: [bash('echo 1'), bash('echo 2'), DONE],
        request: { extraArgs: ['--max-session-turns', '1'] },
      },
      'max-tool-calls': {
        replies: [bash('echo 1'), bash('echo 2'), DONE],
        request: { extraArgs: ['--max-tool-calls', '1'] },
      },
      'several-texts': { replies: [{ text: 'First I look.', ...bash('echo 1') }, DONE] },
      'no-connection': { replies: [], env: { OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' } },
      'no-login': { replies: [DONE], env: { OPENAI_API_KEY: undefined } },
      'no-session': {
        replies: [DONE],
        request: { resume: { id: '11111111-1111-4111-8111-111111111111', costUsd: 0 } },
      },
    }
  },
}

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from '../clients.ts'
import { DONE, type Reply } from '../model-server.ts'
import type { Scene } from '../scenes.ts'

const bash = (command: string): Reply => ({ tools: [gemini.bash(command)] })

/** A 429 in Google's format, with `details` about the quota. */
function exhausted(message: string, ...details: object[]): Reply {
  return { status: 429, body: { error: { code: 429, message, status: 'RESOURCE_EXHAUSTED', details } } }
}

const quotaFailure = (quotaId: string) => ({
  '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
  violations: [{ quotaId }],
})
const retryInfo = (retryDelay: string) => ({ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay })

function invalid(message: string): Reply {
  return { status: 400, error: { type: 'INVALID_ARGUMENT', message } }
}

export const gemini: Client = {
  name: 'gemini',
  model: 'gemini-2.5-pro',
  pin: '@google/gemini-cli@0.61.0',
  program: 'gemini',
  prepare(home, url) {
    mkdirSync(join(home, '.gemini'), { recursive: true })
    const settings = {
      // Ten attempts take minutes; the model is named because choosing one takes another request.
      general: { maxAttempts: 1, enableAutoUpdate: false, enableAutoUpdateNotification: false },
      model: { name: 'gemini-2.5-flash' },
      privacy: { usageStatisticsEnabled: false },
      security: { auth: { selectedType: 'gemini-api-key' } },
    }
    writeFileSync(join(home, '.gemini', 'settings.json'), JSON.stringify(settings))
    return { GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: 'dummy-key', GEMINI_TELEMETRY_ENABLED: 'false' }
  },
  // In a terminal it first asks for a title for the session.
  isAside: (body) => JSON.stringify(body).includes("Summarize the user's primary intent or goal in this conversation"),
  bash: (command) => ({ name: 'run_shell_command', input: { command, description: 'a step' } }),
  contextFull: invalid('The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).'),
  get scenes(): Record<string, Scene> {
    return {
      'bad-key': { replies: [invalid('API key not valid. Please pass a valid API key.')] },
      model: { replies: [{ status: 404, error: { type: 'NOT_FOUND', message: 'models/nope is not found' } }] },
      'limited-with-reset': {
        replies: [exhausted('You exceeded your current quota.', quotaFailure('PerMinute'), retryInfo('34.07s'))],
      },
      quota: { replies: [exhausted('You exceeded your current quota.', quotaFailure('RequestsPerDay'))] },
      'max-tokens': { replies: [{ text: 'Much to say', stopReason: 'MAX_TOKENS' }] },
      refusal: { replies: [{ text: '', stopReason: 'SAFETY' }] },
      'no-connection': { replies: [], env: { GOOGLE_GEMINI_BASE_URL: 'http://127.0.0.1:1' } },
      cut: { replies: [{ cut: true }, DONE] },
      'several-texts': { replies: [{ text: 'First I look.', ...bash('echo 1') }, DONE] },
      'no-login': { replies: [DONE], env: { GEMINI_API_KEY: undefined } },
      'no-session': {
        replies: [DONE],
        request: { resume: { id: '11111111-1111-4111-8111-111111111111', costUsd: 0 } },
      },
    }
  },
}

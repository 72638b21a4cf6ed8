import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from '../clients.ts'
import { failure } from '../model-server.ts'

export const droid: Client = {
  name: 'droid',
  model: 'custom:scripted',
  pin: 'droid@0.215.0',
  program: 'droid',
  prepare(home, url) {
    const model = {
      id: 'custom:scripted',
      model: 'scripted',
      displayName: 'Scripted',
      provider: 'anthropic',
      baseUrl: url,
      apiKey: 'dummy-key',
      maxOutputTokens: 4_096,
    }
    const settings = {
      customModels: [model],
      sessionDefaultSettings: { model: 'custom:scripted' },
      cloudSessionSync: false,
    }
    mkdirSync(join(home, '.factory'), { recursive: true })
    writeFileSync(join(home, '.factory', 'settings.json'), JSON.stringify(settings))
    return {
      FACTORY_HOME_OVERRIDE: home,
      FACTORY_API_KEY: 'fk-dummy',
      FACTORY_AIRGAP_ENABLED: 'true',
      FACTORY_DROID_AUTO_UPDATE_ENABLED: 'false',
      OTEL_SDK_DISABLED: 'true',
      // Any other request it makes ends here.
      HTTP_PROXY: 'http://127.0.0.1:9',
      HTTPS_PROXY: 'http://127.0.0.1:9',
      NO_PROXY: '127.0.0.1',
    }
  },
  // In a terminal it asks for a title for every session.
  isAside: (body) => JSON.stringify(body).includes('generates concise session titles'),
  // Commands that the model itself rates as low risk run without permission.
  bash: (command) => ({
    name: 'Execute',
    input: { command, summary: 'a step', timeout: 60, riskLevel: 'high', riskLevelReason: 'a test' },
  }),
  contextFull: failure(400, 'invalid_request_error', 'prompt is too long: 250000 tokens > 200000 maximum'),
  scenes: {
    billing: {
      replies: [failure(400, 'invalid_request_error', 'Your credit balance is too low to access the Anthropic API.')],
    },
    model: { replies: [failure(404, 'not_found_error', 'model: nope')] },
    'unknown-model': { replies: [], request: { model: 'nope' } },
    refusal: { replies: [{ text: 'I cannot.', stopReason: 'refusal' }] },
    'no-session': {
      replies: [],
      request: { resume: { id: '11111111-1111-4111-8111-111111111111', costUsd: 0 } },
    },
    interrupted: {
      replies: [{ tools: [{ name: 'Execute', input: { command: 'touch begun; sleep 5' } }] }],
      signal: 'SIGINT',
    },
  },
}

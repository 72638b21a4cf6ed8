/** What a client must find so that it asks no questions about itself before it takes a prompt in a terminal. */
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Place } from './ralph.ts'

/** Writes it into the home of the place; returns environment variables for the client. */
export function seedsFor(client: string, place: Place): Record<string, string> {
  return SEEDS[client]?.(place) ?? {}
}

/** What the clients would otherwise ask first: whether to trust the folder, which colors, which key. */
const SEEDS: Readonly<Record<string, (place: Place) => Record<string, string>>> = {
  claude({ root, dir }) {
    const folder = join(root, 'home', '.claude')
    const known = {
      hasCompletedOnboarding: true,
      lastOnboardingVersion: '2.1.325',
      theme: 'dark',
      numStartups: 5,
      customApiKeyResponses: { approved: ['dummy-key'], rejected: [] },
      bypassPermissionsModeAccepted: true,
      projects: { [dir]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
    }
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, '.claude.json'), JSON.stringify(known))
    return {}
  },
  codex({ root, dir }) {
    const trusted = `[projects."${dir}"]\ntrust_level = "trusted"\n`
    const seen = `[notice.model_migrations]\n"gpt-5.5" = "gpt-6-sol"\n`
    appendFileSync(join(root, 'home', '.codex', 'config.toml'), `\n${trusted}\n${seen}`)
    return {}
  },
  gemini: () => ({ GEMINI_CLI_TRUST_WORKSPACE: 'true' }),
}

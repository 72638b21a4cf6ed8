/** The real agent clients: installed from npm into a folder git ignores, run with nothing of this machine but their own program. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** Versions that were tried; `npm run test:clients` installs these. */
export const CLIENTS = { claude: '@anthropic-ai/claude-code@2.1.325' } as const

export type ClientName = keyof typeof CLIENTS

/** The program of a client, installed when it is not there yet; undefined when it cannot be had. */
export function installClient(name: ClientName): { program: string } | { missing: string } {
  const folder = resolve('.clients', name)
  const program = join(folder, 'node_modules', '.bin', name)
  try {
    if (!existsSync(program) || !isPinned(folder, CLIENTS[name])) {
      mkdirSync(folder, { recursive: true })
      execFileSync(
        'npm',
        ['install', '--no-audit', '--no-fund', '--no-package-lock', '--prefix', folder, CLIENTS[name]],
        { stdio: 'pipe', timeout: 300_000 },
      )
    }
    execFileSync(program, ['--version'], { stdio: 'pipe', timeout: 60_000 })
    return { program }
  } catch (cause) {
    return {
      missing: `${CLIENTS[name]} cannot be installed here: ${cause instanceof Error ? cause.message.split('\n')[0] : cause}`,
    }
  }
}

function isPinned(folder: string, pin: string): boolean {
  const at = pin.lastIndexOf('@')
  const manifest = join(folder, 'node_modules', pin.slice(0, at), 'package.json')
  return existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).version === pin.slice(at + 1)
}

/** All that Claude Code gets besides PATH: a home of its own, a key that opens nothing, and a model on loopback. */
export function claudeEnvironment(home: string, url: string): Record<string, string> {
  return {
    CLAUDE_CONFIG_DIR: join(home, '.claude'),
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'dummy-key',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
    IS_SANDBOX: '1',
    CLAUDE_CODE_MAX_RETRIES: '0',
  }
}

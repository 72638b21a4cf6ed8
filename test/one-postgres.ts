/** Shares one Postgres among all test processes of a run. The first that needs it starts it; this stops it. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TestProject } from 'vitest/node'

export function setup({ config }: TestProject): () => Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'ralph-one-postgres-'))
  config.env = { ...config.env, RALPH_TEST_POSTGRES: folder, RALPH_TEST_OWNER: String(process.pid) }
  return async () => {
    const told = join(folder, 'server.json')
    const { pid } = existsSync(told) ? (JSON.parse(readFileSync(told, 'utf8')) as { pid?: number }) : {}
    if (pid !== undefined) while (signalled(pid)) await sleep(20)
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Whether it was still there. */
function signalled(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGTERM')
  } catch {
    return false
  }
}

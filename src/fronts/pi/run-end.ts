/** In an older Pi the end of a run may not be final: it may retry or compact by itself without saying so. */
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { retryDelayMs } from './version.ts'

export type RunWatch = {
  started(): void
  compacting(is: boolean): void
  /** Whether Pi continues by itself after the run that just ended, with this error or none. */
  continues(error: string | undefined, isIdle: () => boolean): Promise<boolean>
}

/** The errors that those versions retry, in their own words. */
const RETRIED =
  /overloaded|provider.?returned.?error|rate.?limit|too many requests|429|500|502|503|504|service.?unavailable|server.?error|internal.?error|network.?error|connection.?(?:error|refused|lost)|websocket.?(?:closed|error)|other side closed|fetch failed|upstream.?connect|reset before headers|socket hang up|ended without|stream ended before|http2 request|timed? out|timeout|terminated|retry delay/i
const LOOK_MS = 25
/** Pi starts its own run right after a wait or a compaction; this is enough time for it. */
const SOON_MS = 1_000
const COMPACTION_MS = 120_000

export function watchRuns(cwd: () => string, env: NodeJS.ProcessEnv): RunWatch {
  let runs = 0
  let failures = 0
  let compacts = false
  return {
    started() {
      runs += 1
    },
    compacting(is) {
      compacts = is
    },
    async continues(error, isIdle) {
      const before = runs
      const waitWhile = async (ms: number, holds: () => boolean) => {
        for (let left = ms; left > 0 && runs === before && holds(); left -= LOOK_MS) await sleep(LOOK_MS)
      }
      await sleep(LOOK_MS) // a compaction is announced after the end of the run
      const compacted = compacts
      await waitWhile(COMPACTION_MS, () => compacts || !isIdle())
      compacts = false
      const agentDir = env.PI_CODING_AGENT_DIR || join(homedir(), '.pi', 'agent')
      const settings = [join(agentDir, 'settings.json'), join(cwd(), '.pi', 'settings.json')]
      const isRetried = error !== undefined && RETRIED.test(error)
      failures = isRetried ? failures + 1 : 0
      const delayMs = isRetried ? retryDelayMs(settings, failures) : compacted ? 0 : undefined
      if (delayMs !== undefined) await waitWhile(delayMs + SOON_MS, () => true)
      if (runs === before) failures = 0
      return runs !== before
    },
  }
}

/** Prepares an agent's folder with the command from its config. */
import { RalphError } from '../error.ts'
import { runCheck } from '../host/check.ts'
import type { Pane } from './pane.ts'
import type { Site } from './site.ts'

const SETUP_MINUTES = 30

/** Runs before the agent starts in its folder for the first time. */
export async function setUp({ env, home }: Site, pane: Pane, signal: AbortSignal): Promise<void> {
  const { agent, setUp: done } = pane.record
  if (agent.setup === undefined || done === agent.setup) return
  const verdict = await runCheck(agent.setup, { dir: agent.dir, env, minutes: SETUP_MINUTES, signal, home })
  if (verdict && verdict.result !== 'pass')
    throw new RalphError(
      'setup-failed',
      `its setup (${agent.setup}) failed in ${agent.dir}:\n${verdict.tail.trimEnd()}\nFix it, then give it a task, or resume the one it has.`,
    )
  if (verdict) await pane.change({ setUp: agent.setup })
}

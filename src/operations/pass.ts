/** The pass of the calling agent: valid for one turn of one loop, while that turn runs. */
import { hashOf } from '../drive/pass.ts'
import type { Loop } from '../engine/loop.ts'
import type { Report } from '../engine/report.ts'
import { RalphError } from '../error.ts'
import type { TurnKey } from '../host/store.ts'
import type { Context } from './operation.ts'

export type Pass = { hash: string; turn: TurnKey; loop: Loop }

/** The answer to a report. `next`: what the agent should do now. */
export type Heard = { recorded: true; next: string }

export async function passOf({ env, store }: Pick<Context, 'env' | 'store'>): Promise<Pass> {
  const hash = hashOf(env.RALPH_MCP_TOKEN ?? '')
  const turn = await store().reports.turnOf(hash)
  if (!turn) throw notValid()
  return { hash, turn, loop: await store().load(turn.loop) }
}

const MOST = 100

/** Stores a report of the current turn. */
export async function keepReport(context: Context, { hash, turn }: Pass, report: Report): Promise<void> {
  const { reports } = context.store()
  if ((await reports.of(turn)).length >= MOST)
    throw new RalphError(
      'usage',
      `This turn has already reported ${MOST} times. End it so that ralph can check the work.`,
    )
  if (!(await reports.add(hash, report))) throw notValid()
}

function notValid(): RalphError {
  return new RalphError(
    'pass-invalid',
    'This pass is not valid: it works only during the turn it was made for. Nothing was recorded.',
  )
}

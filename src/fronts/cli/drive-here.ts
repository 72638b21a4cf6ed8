/** Drives a loop in this terminal: prints its progress, handles Ctrl-C, notifies at the end. */
import { homeFolder } from '../../engine/home-folder.ts'
import type { Loop, Next } from '../../engine/loop.ts'
import { loadConfig } from '../../host/config.ts'
import { onNotice } from '../../host/waiting.ts'
import { driveLoop } from '../../operations/drive-loop.ts'
import type { Forecasted } from '../../operations/get-forecast.ts'
import { given } from '../../request/given.ts'
import type { Context } from './context.ts'
import { onInterrupt } from './interrupt.ts'
import { notify, type Reaching } from './notify.ts'
import { type Found, openJsonView, openView } from './view.ts'

/** `why`: how `auto` chose the agent. `forecast`: estimate from past loops, for a new loop. */
export type Driving = { json: boolean; notify: boolean; why?: string; forecast?: Forecasted }

/** Returns the exit code. */
export async function driveHere(
  context: Context,
  id: string,
  { json, notify: tells, why, forecast }: Driving,
): Promise<number> {
  const store = context.store()
  const reaching = tells ? await reachOf(context, id) : undefined
  const view = json ? openJsonView(context.out) : openView(context.out, context.now)
  const silent = onNotice(view.say)
  const stopping = onInterrupt({
    pausing: `Pausing after this iteration. Press Ctrl-C again to stop at once. Resume later with: ralph resume ${id}`,
    say: view.say,
    pause: () => store.tell(id, 'Ctrl-C', { kind: 'pause' }),
  })
  try {
    const watching = {
      ...view,
      stop: stopping.stop,
      begin(begun: Loop, found: Found) {
        view.begin(begun, { ...found, ...given({ forecast }) })
        if (why !== undefined) view.say(why)
      },
    }
    const loop = await driveLoop(context, id, watching)
    view.end(loop)
    if (reaching) await notify(loop, reaching)
    return exitCode(loop.next)
  } finally {
    stopping.release()
    silent()
  }
}

/** Read before the agent can change it, from the user's own folder. */
async function reachOf(context: Context, id: string): Promise<Reaching> {
  const dir = homeFolder(await context.store().load(id))
  return { context, ...given({ webhook: loadConfig(context.home, dir).notify_webhook }) }
}

function exitCode(next: Next): number {
  switch (next.kind) {
    case 'complete':
      return 0
    case 'halt':
      return next.reason === 'cancelled' ? 130 : next.reason === 'agent-unusable' ? 3 : 1
    case 'wait':
      return next.why === 'person' ? 4 : 130
    case 'turn':
    case 'check':
    case 'prove':
    case 'restore':
      return 130
  }
}

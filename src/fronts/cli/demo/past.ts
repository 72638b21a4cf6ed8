/** The past of the demo: a context whose clock can be set back, so that work done in seconds seems days apart. */
import { openContext } from '../../../operations/context.ts'
import type { Context } from '../../../operations/operation.ts'

export type Past = {
  context: Context
  /** Sets the clock to this many hours before the board is shown. */
  goTo(hoursAgo: number): void
}

const HOUR_MS = 3_600_000

/** A script does in a second what takes an agent minutes, so time runs faster here. */
const SPEED = 200

/** `shownAt`: when the board is shown. */
export function openPast({ root, env, home, cwd }: Context, shownAt: number): Past {
  let [set, since] = [shownAt, performance.now()]
  const now = () => Math.round(set + (performance.now() - since) * SPEED)
  return {
    context: openContext({ root, env, home, cwd: () => cwd, note: () => {}, now }),
    goTo(hoursAgo) {
      set = shownAt - hoursAgo * HOUR_MS
      since = performance.now()
    },
  }
}

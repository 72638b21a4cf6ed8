/** The three ways in which Pi reports the end of a turn; each Pi uses the newest it has. */
import type { Desk } from './commands.ts'
import { isTurn } from './memory.ts'
import { watchRuns } from './run-end.ts'
import { findVersion, wayOf } from './version.ts'

export function onRuns({ pi, session, drive }: Desk): void {
  const way = wayOf(findVersion(process.argv[1], process.execPath))
  const watch = watchRuns(() => session.place().cwd, process.env)
  pi.on('agent_start', (_, context) => {
    session.use(context)
    session.busy(true)
    watch.started()
  })
  pi.on('message_start', ({ message }) => {
    if (isTurn(message)) drive.prompted()
  })
  pi.on('message_end', ({ message }) => drive.saw(message))
  pi.on('agent_before_settle', async ({ entries, outcome }, context) => {
    session.use(context)
    const drafts = await drive.boundary(outcome)
    return drafts && { entries: [...entries, ...drafts], continue: true }
  })
  pi.on('agent_settled', async (_, context) => {
    session.use(context)
    session.busy(false)
    // A run that reached the boundary has been judged by now; one that did not was stopped by the user.
    if (drive.phase() === 'turn') await drive.settle(way === 'boundary' ? 'aborted' : undefined)
  })
  pi.on('session_compact', () => {
    drive.compacted()
    watch.compacting(false)
  })
  if (way !== 'end') return
  pi.on('session_before_compact', () => watch.compacting(true))
  pi.on('agent_end', (_, context) => {
    session.use(context)
    session.busy(false)
    void drive.settleUnless((error) => watch.continues(error, session.isIdle))
  })
}

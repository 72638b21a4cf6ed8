/** `ralph watch`: takes up the files of a vault as they come, and works on several at once. */
import { join } from 'node:path'
import { RalphError } from '../error.ts'
import { watchFolder } from '../host/signal-file.ts'
import { openBell } from './bell.ts'
import { type Chore, openLedger, type WatchSite } from './chores.ts'
import { comeAlong } from './finding.ts'
import { type Inbox, openInbox } from './inbox.ts'
import { mustBePresent, NEEDS_ACTION, prepareFolders } from './place.ts'
import { type Found, look } from './queue.ts'
import { otherKeeper } from './state-file.ts'
import { noteTrouble, publish } from './tasks.ts'
import { PENDING } from './where.ts'

export type Watching = WatchSite & {
  /** How many tasks are worked on at once. */
  slots: number
  /** Ends when nothing is left to do, instead of waiting for more. */
  once: boolean
}

/** How many failed or were refused, and how many wait for a person. */
export type Watched = { failed: number; waiting: number }

/** Of a file that is written to all the time, `once` does not await the end. */
const LONGEST_WAIT_MS = 30_000

export async function watchVault(watching: Watching): Promise<Watched> {
  const { desk, once, rest, slots } = watching
  const { vault, settings, store } = desk
  if ((await store.tasks.open(vault)).length > 0) mustBePresent(vault, settings.doneFolder)
  prepareFolders(vault, [NEEDS_ACTION, PENDING, settings.doneFolder, settings.stateDir])
  await comeAlong(desk)
  // What a watcher that was killed has left untrue.
  for (const { id } of await store.tasks.open(vault))
    await noteTrouble(desk, async () => otherKeeper(desk, id) || publish(desk, id, 'file'))
  const broken = new AbortController()
  let failed = 0
  const site: WatchSite = {
    ...watching,
    stop: AbortSignal.any([watching.stop, broken.signal]),
    tell(event) {
      if (event.kind === 'refused' || (event.kind === 'ended' && event.status !== 'completed')) failed += 1
      watching.tell(event)
    },
  }
  const intervalMs = settings.checkIntervalSeconds * 1_000
  const [bell, ledger, readInbox] = [openBell(), openLedger(settings), openInbox(desk, () => performance.now())]
  const working = new Map<string, Promise<void>>()
  const start = ({ id, run }: Chore) => {
    const work = run().catch((cause) => broken.abort(cause))
    working.set(
      id,
      work.finally(() => {
        working.delete(id)
        bell.hurry()
      }),
    )
  }
  const see = async (): Promise<Seen> => {
    const inbox = readInbox()
    return { inbox, ...(await look(site, ledger, { inbox, working: new Set(working.keys()), slots })) }
  }
  const folders = [NEEDS_ACTION, PENDING].map((name) => watchFolder(join(vault, name), () => bell.ring()))
  const unwatch = store.onChange(bell.ring)
  for (const signal of [rest, site.stop]) signal.addEventListener('abort', bell.hurry)
  let idle = false
  try {
    while (!rest.aborted && !site.stop.aborted) {
      for (const folder of folders) folder.renew()
      const { inbox, chores, dueMs } = await see().catch((cause): Seen => {
        // A vault that cannot be read now may be put right again.
        if (!(cause instanceof RalphError) || (once && working.size === 0)) throw cause
        desk.note(cause.message)
        return { inbox: { ready: [], growing: [] }, chores: [], dueMs: intervalMs }
      })
      for (const chore of chores) start(chore)
      const growing = inbox.growing.filter(({ since }) => !once || performance.now() - since < LONGEST_WAIT_MS)
      const busy = working.size > 0
      if (once && !busy && growing.length === 0 && dueMs === undefined) {
        for (const { file } of inbox.growing) desk.note(`${NEEDS_ACTION}/${file} is still being written. It is left.`)
        break
      }
      if (!busy && !idle) site.tell({ kind: 'idle' })
      idle = !busy
      await bell.wait(Math.min(intervalMs, inbox.dueMs ?? intervalMs, dueMs ?? intervalMs))
    }
  } catch (cause) {
    broken.abort(cause) // nobody would hear of it before the agents at work are done
  } finally {
    unwatch()
    for (const folder of folders) folder.close()
    await Promise.all(working.values())
    for (const { lease, lock } of ledger.paused.values()) {
      await lease.release()
      lock.release()
    }
  }
  if (broken.signal.aborted) throw broken.signal.reason
  return { failed: failed + ledger.troubled.size, waiting: ledger.waiting.size + ledger.paused.size }
}

type Seen = Found & { inbox: Inbox }

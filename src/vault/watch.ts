/** `ralph watch`: picks up the files of a vault as they arrive, and works on several at once. */
import { RalphError } from '../error.ts'
import { type Bell, type News, openBell, ringOnNews } from './bell.ts'
import { type Chore, type Ledger, openLedger, type WatchSite } from './chores.ts'
import type { VaultDesk } from './desk.ts'
import { followMovedVault } from './finding.ts'
import { type Inbox, openInbox } from './inbox.ts'
import { mustBePresent, NEEDS_ACTION, prepareFolders } from './place.ts'
import { type Found, look } from './queue.ts'
import { otherKeeper } from './state-file.ts'
import { noteTrouble, publish } from './tasks.ts'
import { PENDING } from './where.ts'

export type Watching = WatchSite & {
  /** How many tasks to work on at once. */
  slots: number
  /** Stops when nothing is left to do, instead of waiting for more. */
  once: boolean
}

/** How many failed or were refused, and how many wait for a person. */
export type Watched = { failed: number; waiting: number }

/** `once` does not wait forever for a file that keeps being written. */
const LONGEST_WAIT_MS = 30_000

export async function watchVault(watching: Watching): Promise<Watched> {
  const { desk } = watching
  await prepareVault(desk)
  const broken = new AbortController()
  const failures = countFailures(watching.tell)
  const site: WatchSite = {
    ...watching,
    stop: AbortSignal.any([watching.stop, broken.signal]),
    tell: failures.tell,
  }
  const [bell, ledger] = [openBell(), openLedger(desk.settings)]
  const working = openWorking({ done: bell.hurry, failed: (cause) => broken.abort(cause) })
  const news = ringOnNews(site, bell)
  try {
    await pickUpFiles({ ...watching, site, bell, ledger, working, news })
  } catch (cause) {
    broken.abort(cause) // otherwise the error would only surface when the working agents are done
  } finally {
    news.close()
    await working.allDone()
    await releasePaused(ledger)
  }
  if (broken.signal.aborted) throw broken.signal.reason
  return { failed: failures.count() + ledger.troubled.size, waiting: ledger.waiting.size + ledger.paused.size }
}

/** Creates its folders, and repairs what a killed watcher left outdated. */
async function prepareVault(desk: VaultDesk): Promise<void> {
  const { vault, settings, store } = desk
  if ((await store.tasks.open(vault)).length > 0) mustBePresent(vault, settings.doneFolder)
  prepareFolders(vault, [NEEDS_ACTION, PENDING, settings.doneFolder, settings.stateDir])
  await followMovedVault(desk)
  for (const { id } of await store.tasks.open(vault))
    await noteTrouble(desk, async () => otherKeeper(desk, id) || publish(desk, id, 'file'))
}

function countFailures(tell: WatchSite['tell']): { tell: WatchSite['tell']; count(): number } {
  let failed = 0
  return {
    count: () => failed,
    tell(event) {
      if (event.kind === 'refused' || (event.kind === 'ended' && event.status !== 'completed')) failed += 1
      tell(event)
    },
  }
}

function intervalOf({ settings }: VaultDesk): number {
  return settings.checkIntervalSeconds * 1_000
}

/** The running chores, each with the id of its task. */
type Working = { ids(): ReadonlySet<string>; start(chore: Chore): void; allDone(): Promise<void> }

function openWorking({ done, failed }: { done: () => void; failed: (cause: unknown) => void }): Working {
  const working = new Map<string, Promise<void>>()
  return {
    ids: () => new Set(working.keys()),
    start({ id, run }) {
      const ended = () => {
        working.delete(id)
        done()
      }
      working.set(id, run().catch(failed).finally(ended))
    },
    allDone: async () => void (await Promise.all(working.values())),
  }
}

type Watch = Pick<Watching, 'slots' | 'once'> & {
  site: WatchSite
  bell: Bell
  ledger: Ledger
  working: Working
  news: News
}

/** Until it should stop; with `once`, until nothing is left to do. */
async function pickUpFiles(watch: Watch): Promise<void> {
  const { site, once, bell, working, news } = watch
  const intervalMs = intervalOf(site.desk)
  const readInbox = openInbox(site.desk, () => performance.now())
  let idle = false
  while (!site.rest.aborted && !site.stop.aborted) {
    news.renew()
    const { inbox, chores, dueMs } = await see(watch, readInbox)
    for (const chore of chores) working.start(chore)
    const busy = working.ids().size > 0
    if (once && !busy && dueMs === undefined && !mayBecomeWhole(inbox)) return noteGrowing(site.desk, inbox)
    if (!busy && !idle) site.tell({ kind: 'idle' })
    idle = !busy
    await bell.wait(Math.min(intervalMs, inbox.dueMs ?? intervalMs, dueMs ?? intervalMs))
  }
}

type Seen = Found & { inbox: Inbox }

/** A vault that cannot be read now may come back. */
async function see({ site, once, slots, ledger, working }: Watch, readInbox: () => Inbox): Promise<Seen> {
  try {
    const inbox = readInbox()
    return { inbox, ...(await look(site, ledger, { inbox, working: working.ids(), slots })) }
  } catch (cause) {
    if (!(cause instanceof RalphError) || (once && working.ids().size === 0)) throw cause
    site.desk.note(cause.message)
    return { inbox: { ready: [], growing: [] }, chores: [], dueMs: intervalOf(site.desk) }
  }
}

function mayBecomeWhole({ growing }: Inbox): boolean {
  return growing.some(({ since }) => performance.now() - since < LONGEST_WAIT_MS)
}

function noteGrowing({ note }: VaultDesk, { growing }: Inbox): void {
  for (const { file } of growing) note(`${NEEDS_ACTION}/${file} is still being written. It is skipped.`)
}

async function releasePaused({ paused }: Ledger): Promise<void> {
  for (const { lease, lock } of paused.values()) {
    await lease.release()
    lock.release()
  }
}

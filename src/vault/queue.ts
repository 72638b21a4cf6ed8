/** What a watcher has to do next: started tasks first, then the files in order. */
import { join } from 'node:path'
import { ended, type Loop } from '../engine/loop.ts'
import { targetOf } from '../host/person-file.ts'
import type { TaskRow } from '../host/store.ts'
import { begin, type Chore, close, type Ledger, resumeTask, type WatchSite } from './chores.ts'
import { followMovedVault } from './finding.ts'
import type { Arrival, Inbox } from './inbox.ts'
import { movedByHand } from './moved.ts'
import { NEEDS_ACTION } from './place.ts'
import { otherKeeper } from './state-file.ts'
import { isMissing } from './tasks.ts'
import { vaultOf } from './vault-task.ts'
import { whereIs } from './where.ts'

export type Now = { inbox: Inbox; working: ReadonlySet<string>; slots: number }

/** `dueMs`: when to look again at something doubtful. */
export type Found = { chores: Chore[]; dueMs?: number }

export async function look(site: WatchSite, ledger: Ledger, { inbox, working, slots }: Now): Promise<Found> {
  const { store, vault } = site.desk
  const rows: Open[] = []
  if ((await store.tasks.open(vault)).length === 0) await followMovedVault(site.desk) // it may have been moved away and back
  for (const row of await store.tasks.open(vault))
    if (!otherKeeper(site.desk, row.id)) rows.push({ row, loop: await store.load(row.loop) })
  const open = rows.filter(({ loop }) => !ended(loop))
  const chores: Chore[] = []
  const taken = new Set(working)
  const add = (chore: Chore) => {
    if (taken.has(chore.id) || taken.size >= slots) return false
    taken.add(chore.id)
    chores.push(chore)
    return true
  }
  for (const each of open) {
    if (working.has(each.row.id) || !(await wantsWork(site, ledger, each))) continue
    const isAdded = add({ id: each.row.id, run: () => resumeTask(site, ledger, each.row) })
    if (!isAdded) ledger.later.set(each.row.loop, 0) // its turn comes with the next free slot
  }
  for (const task of unseenEnds(ledger, rows))
    if (!working.has(task.id) && !isPutOff(ledger, task.loop) && stays(ledger, task.loop, true))
      add({ id: task.id, run: () => close(site, ledger, task) })
  for (const arrival of inbox.ready) {
    if (taken.size >= slots) break
    if (canBegin(site, ledger, arrival, open)) add({ id: arrival.id, run: () => begin(site, ledger, arrival) })
  }
  ledger.fresh = false
  tidy(ledger, inbox, rows)
  return { chores, ...(ledger.doubtful.size > 0 ? { dueMs: ledger.momentMs } : {}) }
}

type Open = { row: TaskRow; loop: Loop }

/** Forgets what no longer matters. */
function tidy({ doubtful, waiting, left, later }: Ledger, { ready }: Inbox, rows: readonly Open[]): void {
  const names = new Set([...ready.map(({ file }) => file), ...rows.map(({ row }) => row.loop)])
  for (const name of left.keys()) if (!names.has(name)) left.delete(name)
  for (const name of later.keys()) if (!names.has(name)) later.delete(name)
  for (const loop of doubtful.keys()) if (!names.has(loop) && !waiting.has(loop)) doubtful.delete(loop)
}

async function wantsWork(site: WatchSite, ledger: Ledger, { loop }: Open): Promise<boolean> {
  const { store, now } = site.desk
  const { next } = loop
  if (vaultOf(loop).by !== 'watch') return false
  if (next.kind === 'wait' && next.why === 'paused' && ledger.paused.has(loop.id))
    return (await store.nextOrder(loop.id)) !== undefined
  if (next.kind === 'wait' && next.why === 'person') {
    if (ledger.fresh) {
      site.tell({ kind: 'waiting', loop })
      ledger.waiting.set(loop.id, vaultOf(loop).id)
    }
    const gone = stays(ledger, loop.id, isMissing(vaultOf(loop)))
    return !isPutOff(ledger, loop.id) && (gone || movedByHand(loop, now()) !== undefined)
  }
  if (isPutOff(ledger, loop.id)) return false
  // A loop that appeared meanwhile is being worked on by whoever started it, unless it waited here.
  const isForeign = !ledger.fresh && !ledger.waiting.has(loop.id) && !ledger.later.has(loop.id)
  if (isForeign || (await store.isDriven(loop.id))) {
    ledger.putOff(loop.id)
    return false
  }
  return true
}

/** Ended tasks that waited here, or whose watcher was killed; whoever ended them gets a moment to clean up. */
function unseenEnds({ waiting }: Ledger, rows: readonly Open[]): { id: string; loop: string }[] {
  const known = new Set(rows.map(({ row }) => row.loop))
  return [
    ...rows.filter(({ loop }) => ended(loop)).map(({ row }) => row),
    ...[...waiting].map(([loop, id]) => ({ loop, id })).filter(({ loop }) => !known.has(loop)),
  ]
}

/** Whether a state has lasted long enough to be more than a moment between two steps of someone else. */
function stays({ doubtful, momentMs }: Ledger, loop: string, isSo: boolean): boolean {
  const since = doubtful.get(loop)
  if (!isSo) doubtful.delete(loop)
  else if (since === undefined) doubtful.set(loop, performance.now())
  else if (performance.now() - since >= momentMs) {
    doubtful.delete(loop)
    return true
  }
  return false
}

function isPutOff({ later }: Ledger, name: string): boolean {
  return (later.get(name) ?? 0) > performance.now()
}

function canBegin({ desk }: WatchSite, ledger: Ledger, arrival: Arrival, open: readonly Open[]): boolean {
  const { file, id, inode, isEmpty, stamp } = arrival
  if (ledger.left.get(file) === stamp || isPutOff(ledger, file)) return false
  if (isEmpty) {
    desk.note(`${NEEDS_ACTION}/${file} is empty. It is skipped until it has content.`)
    return false
  }
  // A renamed file waits until its task has ended.
  const before = open.find(({ row, loop }) => row.record.inode === inode && whereIs(vaultOf(loop)) === 'gone')
  if (before) return false
  const same = open.find(({ row }) => row.id === id)
  if (!same) return true
  const { by, from } = vaultOf(same.loop)
  // Needs_Action may be a link to another folder of the vault.
  const isIts = join(desk.vault, from) === join(targetOf(join(desk.vault, NEEDS_ACTION)), file)
  if (!isIts) desk.note(`${NEEDS_ACTION}/${file} waits until the task ${id} (${from}) has ended.`)
  else if (by === 'caller') desk.note(`${file} is skipped: a caller of the task API is working on it.`)
  return false
}

/** Keeps one agent in its pane going: its task is its loop, and when that ends, the next one starts. */
import { visit } from '../drive/visit.ts'
import { ended, type Loop } from '../engine/loop.ts'
import { isRalphError } from '../error.ts'
import { reap } from '../host/process-tree.ts'
import { secretsOf } from '../host/sealed.ts'
import type { StoredMail } from '../host/store.ts'
import { asText } from './as-text.ts'
import { converse, type Talked } from './converse.ts'
import type { Pane } from './pane.ts'
import { driveInPane, forget, reopened } from './pane-turn.ts'
import { setUp } from './set-up.ts'
import type { Site } from './site.ts'
import { startAgent } from './start-agent.ts'

/** An agent's pending tasks, oldest first. */
export type Tasks = () => Promise<StoredMail[]>

/** Returns when the dispatcher leaves, or when its agent is no longer wanted. */
export async function attend(
  site: Site,
  pane: Pane,
  { tasks, stop }: { tasks: Tasks; stop: AbortSignal },
): Promise<void> {
  while (!stop.aborted) {
    const loop = await current(site, pane)
    if (loop && isMovable(pane, loop)) await drive(site, pane, { id: loop.id, stop })
    else if (loop || !(await begin(site, pane, { tasks, stop }))) await idle(site, pane, stop)
  }
}

/** There is nothing to do: the agent is kept running anyway. */
async function idle(site: Site, pane: Pane, stop: AbortSignal): Promise<void> {
  const { facts, agent, restarts } = pane.record
  if (!agent.worktree && facts.dir === undefined) return comeUp(site, pane, { resume: false, stop })
  if (!agent.worktree && facts.ended && (await isToStay(site, pane))) {
    await pane.change({ restarts: restarts + 1 })
    return comeUp(site, pane, { resume: !facts.failed, stop })
  }
  await pane.news.wait(undefined, stop)
}

/** An agent that the user closed or told to quit stays closed. One that crashed, or died with its server, comes back. */
async function isToStay({ tmux }: Site, { record: { facts } }: Pane): Promise<boolean> {
  if (facts.ended?.closed) return (await tmux.look())?.server !== facts.server
  return facts.ended?.code !== 0 && (facts.failed ?? 0) < 3
}

async function comeUp(site: Site, pane: Pane, { resume, stop }: { resume: boolean; stop: AbortSignal }): Promise<void> {
  const { agent } = pane.record
  try {
    await setUp(site, pane, stop)
    if (stop.aborted) return
    await startAgent(site, pane, { dir: agent.dir, resume })
  } catch (cause) {
    if (!isRalphError(cause)) throw cause
    site.note(agent, cause.message)
    await pane.knows({ ...pane.record.facts, dir: agent.dir, ended: { code: 0 } })
  }
}

/** The loop it works on. A finished one is forgotten once the user has looked at it. */
async function current({ store }: Site, pane: Pane): Promise<Loop | undefined> {
  const { loop: id, last } = pane.record
  const loop = id === undefined ? undefined : await store.load(id)
  if (loop && !ended(loop)) {
    if (JSON.stringify(loop) !== JSON.stringify(pane.loop)) await pane.saw(loop)
    return loop
  }
  if (loop) await pane.change({ loop: undefined, last: loop.id, seen: undefined, paused: undefined })
  const known = pane.loop?.id === (id ?? last) ? pane.loop : undefined
  if (loop) await pane.saw(loop)
  else if (!known && last !== undefined) await pane.saw(await store.load(last))
  return undefined
}

/** A loop that waits for the user continues with what they type in the pane, or with an order from elsewhere. */
function isMovable({ record }: Pane, { next }: Loop): boolean {
  if (next.kind !== 'wait' || next.until !== undefined) return true
  return next.why === 'person' && record.facts.typed !== undefined
}

const SPENT =
  'The total cost limit for all agents (max_total_cost_usd) is reached. Raise it and restart the dispatcher.'

async function begin(site: Site, pane: Pane, { tasks, stop }: { tasks: Tasks; stop: AbortSignal }): Promise<boolean> {
  const [task] = await tasks()
  const { agent, facts, paused } = pane.record
  const spent = task && site.purse?.isSpent() ? { trouble: SPENT } : undefined
  if (typeof paused !== typeof spent) await pane.change({ paused: spent })
  if (task?.mail.kind !== 'task' || facts.at?.kind === 'theirs' || spent) return false
  if (!agent.enabled) return giveOnce(site, pane, { id: task.id, prompt: task.mail.prompt, tasks, stop })
  const loop = await made(site, pane, task.mail.prompt)
  if (!loop) {
    await site.store.panes.strike(task.id)
    return true
  }
  await pane.knows(reopened(pane.record.facts))
  await pane.begins(task.id, loop)
  return true
}

/** Undefined if it cannot become a loop; the user gets a note. */
async function made({ make, note }: Site, { record: { agent } }: Pane, prompt: string): Promise<Loop | undefined> {
  try {
    return await make(agent, prompt)
  } catch (cause) {
    if (!isRalphError(cause)) throw cause
    note(agent, `its task was dropped: ${cause.message}`)
    return undefined
  }
}

/** Without a loop: the agent gets the task as is, and the user judges the result. */
async function giveOnce(
  site: Site,
  pane: Pane,
  { id, prompt, tasks, stop }: { id: number; prompt: string; tasks: Tasks; stop: AbortSignal },
): Promise<boolean> {
  const mark = { loop: '', iteration: id, attempt: 1 }
  const { agent } = pane.record
  let talked: Talked
  try {
    await setUp(site, pane, stop)
    const isOff = async () => !(await tasks()).some((task) => task.id === id)
    const { open } = secretsOf(site.home, prompt)
    talked = await converse(site, pane, { mark, text: asText(prompt), open, dir: agent.dir, isOff }, stop)
  } catch (cause) {
    if (!isRalphError(cause)) throw cause
    site.note(agent, `its task was dropped: ${cause.message}`)
    await pane.knows(reopened(pane.record.facts), [id])
    return true
  }
  if (talked.kind === 'typed') {
    const { typed: _, ...facts } = pane.record.facts
    await pane.knows(facts)
  }
  if (talked.kind === 'closed' || talked.kind === 'lost') await forget(pane)
  if (talked.kind === 'cut' && !stop.aborted) {
    const { sent: _, ...facts } = pane.record.facts
    await pane.knows(facts)
  }
  if (talked.kind === 'over') await site.store.panes.strike(id)
  return true
}

async function drive(site: Site, pane: Pane, { id, stop }: { id: string; stop: AbortSignal }): Promise<void> {
  const { store, now } = site
  try {
    await visit<void>(id, {
      store,
      now,
      // An order is being given; it is free again at once.
      held: () => pane.news.wait(200, stop),
      takeUp: { reap, loss: async () => undefined },
      work: (held) => driveInPane(site, pane, { held, stop }),
    })
  } catch (cause) {
    if (!isRalphError(cause)) throw cause
    site.note(pane.record.agent, cause.message)
    await pane.change({ paused: { trouble: cause.message } })
    await giveUp(site, pane, id)
  }
}

/** A problem that the user must fix first, such as a failing setup, is not retried. */
async function giveUp({ store, now }: Site, pane: Pane, id: string): Promise<void> {
  await visit<void>(id, {
    store,
    now,
    held: async () => {},
    async work(held) {
      await held.move({ kind: 'told', at: held.now(), by: 'ralph', order: { kind: 'pause' } })
      await pane.saw(held.loop)
    },
  })
}

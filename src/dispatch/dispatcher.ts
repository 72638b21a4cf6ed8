/** The dispatcher: keeps the agents of a crew in their panes, receives their reports, and keeps each going on its task. */
import type { Mail, StoredMail } from '../host/store.ts'
import { attend } from './attend.ts'
import type { CrewAgent, PaneRecord } from './crew.ts'
import { lookAt } from './look.ts'
import { openPane, type Pane } from './pane.ts'
import { applyReport } from './pane-facts.ts'
import { type Crew, isTask, lastLoop, renewed, roll } from './roll.ts'
import type { Site } from './site.ts'

/** `changed`: the state of one of them has changed. */
export type Watching = { changed(pane: Pane, before: PaneRecord): void }

/** How often screens are read, while an agent is busy and while none is. */
const BUSY_MS = 2_000
const IDLE_MS = 10_000
const SHOWN_MS = 20

/** Returns when the site's signal fires. The agents stay. */
export async function dispatch(site: Site, crew: Crew, watching: Watching): Promise<void> {
  const { store, tmux, stop } = site
  const posts = new Map<string, Post>()
  const panes = () => [...posts.values()].map(({ pane }) => pane)
  const failed = new AbortController()
  let failure: unknown

  const take = (agent: CrewAgent, known?: PaneRecord) => {
    const { name } = agent
    const leave = new AbortController()
    const pane = openPane({ crew: crew.id, name }, renewed(crew, agent, known), { ...site, ...watching })
    const signal = AbortSignal.any([stop, leave.signal, failed.signal])
    const tasks = async () => (await store.panes.mail(crew.id)).filter((mail) => mail.name === name && isTask(mail))
    const done = lastLoop(store, pane.record)
      .then((loop) => pane.saw(loop))
      .then(() => attend(site, pane, { tasks, stop: signal }))
    done.catch((cause) => {
      failure ??= cause
      failed.abort()
    })
    posts.set(name, { pane, leave, done: done.catch(() => {}) })
  }

  for (const [agent, record] of await roll(site, crew)) take(agent, record)

  const deliver = oneByOne(async () => {
    for (const stored of await store.panes.mail(crew.id)) await dealWith(site, { crew, posts, take }, stored)
    for (const pane of panes()) pane.news.ring()
  })
  const look = oneByOne(async () => {
    const at = site.now()
    const terminals = await tmux.look()
    for (const pane of panes()) await lookAt(site, pane, { terminal: terminals?.panes.get(pane.tag), at })
  })

  const over = AbortSignal.any([stop, failed.signal])
  const guard = (work: () => Promise<void>) => () =>
    void work().catch((cause) => {
      failure ??= cause
      failed.abort()
    })
  const unwatch = onNews(store, guard(deliver))
  const clock = startClock(() => (panes().some(isBusy) ? BUSY_MS : IDLE_MS), guard(look))
  await new Promise<void>((resolve) => {
    if (over.aborted) return resolve()
    over.addEventListener('abort', () => resolve())
  })
  unwatch()
  clock.stop()
  for (const { leave } of posts.values()) leave.abort()
  await Promise.all([...posts.values()].map(({ done }) => done))
  if (failure !== undefined) throw failure
}

/** Runs now and after every change. With SQLite, a write becomes readable a moment after it is noticed. */
function onNews(store: Site['store'], look: () => void): () => void {
  let second: NodeJS.Timeout | undefined
  const unwatch = store.onChange(() => {
    look()
    clearTimeout(second)
    second = setTimeout(look, SHOWN_MS)
  })
  look()
  return () => {
    unwatch()
    clearTimeout(second)
  }
}

type Post = { pane: Pane; leave: AbortController; done: Promise<void> }

function isBusy({ record: { facts } }: Pane): boolean {
  return facts.at !== undefined || facts.asks !== undefined || facts.sent?.stalled === true || isComingUp(facts)
}

function isComingUp({ up, dir, ended }: PaneRecord['facts']): boolean {
  return !up && dir !== undefined && !ended
}

type Office = { crew: Crew; posts: Map<string, Post>; take(agent: CrewAgent): void }

async function dealWith(site: Site, { crew, posts, take }: Office, { id, name, at, mail }: StoredMail): Promise<void> {
  const { store } = site
  const post = posts.get(name)
  if (mail.kind === 'add') {
    take({ ...(mail.agent as CrewAgent), number: posts.size + 1, added: true }) // the operation has checked it
    await store.panes.strike(id)
    return
  }
  if (!post) return void (await store.panes.strike(id))
  if (mail.kind === 'remove') {
    post.leave.abort()
    await post.done
    posts.delete(name)
    await site.tmux.close(post.pane.tag)
    return store.panes.forget({ crew: crew.id, name })
  }
  await receive(post.pane, mail, { id, at })
}

async function receive(
  { record, change, knows }: Pane,
  mail: Mail,
  { id, at }: { id: number; at: number },
): Promise<void> {
  switch (mail.kind) {
    case 'task':
    case 'add':
    case 'remove':
      return
    case 'seen':
      // Looking at a busy agent does not count as seeing the outcome.
      return change(record.loop === undefined ? { seen: true } : {}, [id])
    case 'retry': {
      const { sent, ...facts } = record.facts
      // A prompt that is still on its way would arrive twice.
      return knows(sent?.stalled ? facts : record.facts, [id])
    }
    default:
      return knows(applyReport(record.facts, mail, at), [id])
  }
}

/** Calls during a running call become one more call after it. */
function oneByOne(work: () => Promise<void>): () => Promise<void> {
  let busy = false
  let again = false
  return async () => {
    again = true
    if (busy) return
    busy = true
    try {
      while (again) {
        again = false
        await work()
      }
    } finally {
      busy = false
    }
  }
}

/** `ms` is read again each time, as it may get smaller. */
function startClock(ms: () => number, ring: () => void): { stop(): void } {
  let rungAt = performance.now()
  ring()
  const timer = setInterval(() => {
    if (performance.now() - rungAt < ms()) return
    rungAt = performance.now()
    ring()
  }, BUSY_MS / 2)
  return { stop: () => clearInterval(timer) }
}

/** One agent in its pane, as its dispatcher sees it: what is known about it, saved with every change. */
import type { Agent } from '../agents/agent.ts'
import { parseAgent } from '../agents/index.ts'
import type { Loop } from '../engine/loop.ts'
import type { PaneKey, Store } from '../host/store.ts'
import { type Change, type PaneRecord, tagOf } from './crew.ts'
import { type News, openNews } from './news.ts'
import type { PaneFacts } from './pane-facts.ts'
import { standing } from './standing.ts'

export type Pane = {
  readonly key: PaneKey
  /** Its terminal. */
  readonly tag: string
  readonly record: PaneRecord
  readonly kind: Agent
  /** What follows the colon in its agent's name. */
  readonly target: string
  /** The loop it works on, otherwise the last one. */
  readonly loop: Loop | undefined
  /** Rings whenever anything about it may have changed. */
  readonly news: News
  /** `undefined` removes a field. `struck`: the mail that this has handled. */
  change(patch: Patch, struck?: readonly number[]): Promise<void>
  knows(facts: PaneFacts, struck?: readonly number[]): Promise<void>
  /** Its loop as it is now. */
  saw(loop: Loop | undefined): Promise<void>
  /** Starts this loop for a task of its queue, unless that was just removed. */
  begins(task: number, loop: Loop): Promise<void>
  /** Whether somebody is typing in it right now. */
  typing(is: boolean): Promise<void>
  /** When that was last the case. */
  readonly typedAt: number
}

type Patch = { [Field in keyof PaneRecord]?: PaneRecord[Field] | undefined }

type Opening = {
  store: Pick<Store, 'panes'>
  now: () => number
  /** Called when its state has changed. */
  changed(pane: Pane, before: PaneRecord): void
}

export function openPane(key: PaneKey, loaded: PaneRecord, { store, now, changed }: Opening): Pane {
  let record = loaded
  /** Its initial data may be new, such as another number. */
  let saved = false
  let loop: Loop | undefined
  let typing = false
  let typedAt = 0
  const news = openNews()
  const { agent: kind, target } = parseAgent(loaded.agent.agent)

  const patched = (patch: Patch, its: Loop | undefined) => patchedBy(record, patch, { loop: its, typing, at: now() })

  async function change(patch: Patch, struck: readonly number[] = []): Promise<void> {
    const before = record
    record = patched(patch, loop)
    const isNew = record.state !== before.state
    const isOther = !saved || isNew || JSON.stringify(record) !== JSON.stringify(before)
    saved = true
    if (isOther || struck.length > 0)
      await store.panes.save(key, record, { struck, ...(isNew ? { change: changeOf(record, loop) } : {}) })
    if (isNew) changed(pane, before)
    news.ring()
  }

  const pane: Pane = {
    key,
    tag: tagOf(key),
    kind,
    target,
    news,
    change,
    get record() {
      return record
    },
    get loop() {
      return loop
    },
    knows: (facts, struck) => change({ facts }, struck),
    async saw(seen) {
      loop = seen
      await change({})
    },
    async begins(task, begun) {
      const patch = { loop: begun.id, last: undefined, seen: undefined, paused: undefined }
      if (!(await store.panes.begin(task, begun, key, patched(patch, begun)))) return
      loop = begun
      await change(patch)
    },
    get typedAt() {
      return typedAt
    },
    async typing(is) {
      if (is) typedAt = now()
      if (typing === is) return
      typing = is
      await change({})
    },
  }
  return pane
}

type Around = { loop: Loop | undefined; typing: boolean; at: number }

/** Adds its state, which follows from the rest. */
function patchedBy(record: PaneRecord, patch: Patch, { loop, typing, at }: Around): PaneRecord {
  const merged = without({ ...record, ...patch }) as PaneRecord // a patch never removes a required field
  const { until: _, ...rest } = merged
  const stands = standing(merged, loop, { typing })
  return { ...rest, ...stands, since: stands.state === record.state ? record.since : at }
}

function without(patch: object): object {
  return Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined))
}

function changeOf({ state, words, until, loop: id }: PaneRecord, loop: Loop | undefined): Change {
  return {
    state,
    words,
    ...(until === undefined ? {} : { until }),
    ...(id === undefined ? {} : { loop: id }),
    ...(loop ? { loop: loop.id, iteration: loop.tally.iteration } : {}),
  }
}

/** The list of loops, a page at a time, with their strips. A page is read again when something happens to a loop on it. */
import { type ReadonlySignal, signal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { connection, onMessage } from './live.ts'
import { call, type InputOf, type OutputOf } from './source.ts'

export type Row = OutputOf<'list_loops'>['loops'][number]
export type Bars = OutputOf<'list_strips'>['strips'][number]['bars']
export type Filter = Pick<InputOf<'list_loops'>, 'status' | 'owner' | 'dir' | 'text'>

export type Listed = { rows: readonly Row[]; ended: boolean; error?: Error; loading: boolean }

export type LoopPages = {
  listed: ReadonlySignal<Listed>
  bars: ReadonlySignal<ReadonlyMap<string, Bars>>
  more(): void
  again(): void
}

type Page = { after?: string; rows: Row[]; next?: string }

const PAGE = 60
const SHORTEST_MS = 400

export function useLoopPages(filter: Filter): LoopPages {
  const key = JSON.stringify(filter)
  const open = useMemo(() => openPages(filter), [key])
  useEffect(() => {
    open.again()
    const stop = onMessage((message) => {
      if (message.type === 'loop-start') open.changed('')
      if (message.type === 'loop-event') open.changed(message.loop)
    })
    // Whatever happened while nobody told us is read again.
    let wasLost = false
    const watch = connection.subscribe(({ kind }) => {
      if (kind === 'live' && wasLost) open.again()
      wasLost = kind === 'lost'
    })
    return () => {
      stop()
      watch()
    }
  }, [open])
  return open
}

function openPages(filter: Filter): LoopPages & { changed(loop: string): void } {
  const listed = signal<Listed>({ rows: [], ended: false, loading: true })
  const bars = signal<ReadonlyMap<string, Bars>>(new Map())
  const pages: Page[] = []
  const waiting = new Set<number>()
  let busy = false
  let planned = false

  function show(change: Partial<Listed> = {}): void {
    const seen = new Set<string>()
    const rows = pages.flatMap((page) => page.rows).filter(({ id }) => !seen.has(id) && seen.add(id))
    const ended = pages.length > 0 && pages.at(-1)?.next === undefined
    const { error: _, ...before } = listed.peek()
    listed.value = { ...before, rows, ended, loading: false, ...change }
  }

  async function read(at: number): Promise<void> {
    const after = at === 0 ? undefined : pages[at - 1]?.next
    const { loops, next } = await call('list_loops', { ...filter, limit: PAGE, ...(after ? { after } : {}) })
    const before = pages[at]?.rows ?? []
    pages[at] = { ...(after ? { after } : {}), rows: loops, ...(next ? { next } : {}) }
    // What left this page is on the next one now.
    if (!next) pages.splice(at + 1)
    else if (pages[at + 1] && pages[at + 1]?.after !== next) waiting.add(at + 1)
    show()
    await readBars(loops, before)
  }

  async function readBars(rows: readonly Row[], before: readonly Row[]): Promise<void> {
    const known = new Map(before.map(({ id, updatedAt }) => [id, updatedAt]))
    const changed = rows.filter(({ id, updatedAt }) => known.get(id) !== updatedAt || !bars.peek().has(id))
    if (changed.length === 0) return
    const { strips } = await call('list_strips', { loops: changed.map(({ id }) => id) })
    const all = new Map(bars.peek())
    for (const { loop, bars: found } of strips) all.set(loop, found)
    bars.value = all
  }

  async function work(): Promise<void> {
    if (busy) return
    busy = true
    try {
      for (let [at] = waiting; at !== undefined; [at] = waiting) {
        waiting.delete(at)
        await read(at)
      }
    } catch (cause) {
      waiting.clear()
      show({ error: cause as Error })
    } finally {
      busy = false
    }
  }

  function soon(): void {
    if (planned) return
    planned = true
    setTimeout(() => {
      planned = false
      void work()
    }, SHORTEST_MS)
  }

  return {
    listed,
    bars,
    more() {
      if (listed.peek().ended || waiting.has(pages.length) || pages.length === 0) return
      waiting.add(pages.length)
      void work()
    },
    again() {
      for (const at of pages.length ? pages.keys() : [0]) waiting.add(at)
      void work()
    },
    changed(loop) {
      const at = pages.findIndex(({ rows }) => rows.some(({ id }) => id === loop))
      // A loop that is not on any page may belong on the first one now.
      waiting.add(Math.max(0, at))
      soon()
    },
  }
}

/** A long list, read page by page. A page is read again when one of its rows changes. */
import { type ReadonlySignal, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { connection, onMessage } from './live.ts'
import type { LiveMessage } from './source.ts'

export type Listed<Row> = { rows: readonly Row[]; ended: boolean; error?: Error; loading: boolean }

export type Pages<Row> = {
  listed: ReadonlySignal<Listed<Row>>
  more(): void
  again(): void
  /** Soon reads the page of this row again, or the first page if no page has it. */
  changed(isIt: (row: Row) => boolean): void
}

/** `onRead` is called with the new and the previous contents of a page. */
type Reading<Row> = {
  list(after: { after?: string }): Promise<{ rows: Row[]; next?: string | undefined }>
  onRead?(rows: readonly Row[], before: readonly Row[]): Promise<void>
}

type Page<Row> = { after?: string; rows: Row[]; next?: string }

const SHORTEST_MS = 400

export function openPages<Row extends { id: string }>({ list, onRead }: Reading<Row>): Pages<Row> {
  const listed = signal<Listed<Row>>({ rows: [], ended: false, loading: true })
  const pages: Page<Row>[] = []
  const waiting = new Set<number>()
  let busy = false
  let planned = false

  function show(change: Partial<Listed<Row>> = {}): void {
    const seen = new Set<string>()
    const rows = pages.flatMap((page) => page.rows).filter(({ id }) => !seen.has(id) && seen.add(id))
    const ended = pages.length > 0 && pages.at(-1)?.next === undefined
    const { error: _, ...before } = listed.peek()
    listed.value = { ...before, rows, ended, loading: false, ...change }
  }

  async function read(at: number): Promise<void> {
    const after = at === 0 ? undefined : pages[at - 1]?.next
    const from = after ? { after } : {}
    const { rows, next } = await list(from)
    const before = pages[at]?.rows ?? []
    pages[at] = { ...from, rows, ...(next ? { next } : {}) }
    // Rows that left this page are now on the next one.
    if (!next) pages.splice(at + 1)
    else if (pages[at + 1] && pages[at + 1]?.after !== next) waiting.add(at + 1)
    show()
    await onRead?.(rows, before)
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
    more() {
      if (listed.peek().ended || waiting.has(pages.length) || pages.length === 0) return
      waiting.add(pages.length)
      void work()
    },
    again() {
      for (const at of pages.length ? pages.keys() : [0]) waiting.add(at)
      void work()
    },
    changed(isIt) {
      waiting.add(
        Math.max(
          0,
          pages.findIndex(({ rows }) => rows.some(isIt)),
        ),
      )
      soon()
    },
  }
}

/** Reads what is open now, and all of it again after a lost connection. */
export function usePages(open: { again(): void }, hear: (message: LiveMessage) => void): void {
  useEffect(() => {
    open.again()
    const stop = onMessage(hear)
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
}

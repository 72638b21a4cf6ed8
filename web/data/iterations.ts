/** Summaries of a loop's iterations: all of them once, then only new ones. */
import { type ReadonlySignal, signal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { connection, onMessage } from './live.ts'
import { call, type OutputOf } from './source.ts'

export type Iteration = OutputOf<'list_iterations'>['iterations'][number]

export type Iterations = { rows: readonly Iteration[]; error?: Error; loading: boolean }

const PAGE = 1_000
const SHORTEST_MS = 300

export function useIterations(loop: string): ReadonlySignal<Iterations> {
  const open = useMemo(() => openIterations(loop), [loop])
  useEffect(() => {
    open.read()
    const stop = onMessage((message) => {
      if (message.type === 'loop-event' && message.loop === loop) open.soon()
    })
    let wasLost = false
    const watch = connection.subscribe(({ kind }) => {
      if (kind === 'live' && wasLost) open.soon()
      wasLost = kind === 'lost'
    })
    return () => {
      stop()
      watch()
    }
  }, [open])
  return open.shown
}

function openIterations(loop: string) {
  const shown = signal<Iterations>({ rows: [], loading: true })
  let busy = false
  let again = false
  let planned = false

  async function readPages(): Promise<void> {
    const known = shown.peek().rows
    // The last one may still change: its checks come after it.
    let after = Math.max(0, (known.at(-2)?.n ?? 0) - 1)
    const rows = known.filter(({ n }) => n <= after)
    for (let more = true; more; ) {
      const page = await call('list_iterations', { loop, brief: true, limit: PAGE, ...(after > 0 ? { after } : {}) })
      rows.push(...page.iterations)
      more = page.next !== undefined
      after = page.next ?? after
    }
    shown.value = { rows, loading: false }
  }

  function read(): void {
    again = busy
    if (busy) return
    busy = true
    void readPages()
      .catch((error: Error) => {
        shown.value = { ...shown.peek(), error, loading: false }
      })
      .finally(() => {
        busy = false
        if (again) soon()
      })
  }

  function soon(): void {
    if (planned) return
    planned = true
    setTimeout(() => {
      planned = false
      read()
    }, SHORTEST_MS)
  }

  return { shown, read, soon }
}

/** How many failures its checks left open; undefined if none ran. */
export function openFailures(verdicts: readonly { result: string; failures?: number }[]): number | undefined {
  if (verdicts.length === 0) return undefined
  return verdicts.reduce((sum, { result, failures }) => sum + (result === 'pass' ? 0 : (failures ?? 1)), 0)
}

/** The list of loops, a page at a time, with their strips. */
import { type ReadonlySignal, signal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { openPages, type Pages, usePages } from './pages.ts'
import { call, type InputOf, type OutputOf } from './source.ts'

export type Row = OutputOf<'list_loops'>['loops'][number]
export type Bars = OutputOf<'list_strips'>['strips'][number]['bars']
export type Filter = Pick<InputOf<'list_loops'>, 'status' | 'owner' | 'dir' | 'text'>

type LoopPages = Pages<Row> & { bars: ReadonlySignal<ReadonlyMap<string, Bars>> }

const PAGE = 60

export function useLoopPages(filter: Filter): LoopPages {
  const open = useMemo(() => openLoopPages(filter), [JSON.stringify(filter)])
  usePages(open, (message) => {
    // A loop that is on no page may now belong on the first one.
    if (message.type === 'loop-start') open.changed(() => false)
    if (message.type === 'loop-event') open.changed(({ id }) => id === message.loop)
  })
  return open
}

function openLoopPages(filter: Filter): LoopPages {
  const bars = signal<ReadonlyMap<string, Bars>>(new Map())

  async function readBars(rows: readonly Row[], before: readonly Row[]): Promise<void> {
    const known = new Map(before.map(({ id, updatedAt }) => [id, updatedAt]))
    const changed = rows.filter(({ id, updatedAt }) => known.get(id) !== updatedAt || !bars.peek().has(id))
    if (changed.length === 0) return
    const { strips } = await call('list_strips', { loops: changed.map(({ id }) => id) })
    const all = new Map(bars.peek())
    for (const { loop, bars: found } of strips) all.set(loop, found)
    bars.value = all
  }

  const pages = openPages<Row>({
    async list(after) {
      const { loops, next } = await call('list_loops', { ...filter, limit: PAGE, ...after })
      return { rows: loops, next }
    },
    onRead: readBars,
  })
  return { ...pages, bars }
}

/** What the agent is doing now: the end of its transcript. */
import { useEffect, useState } from 'preact/hooks'
import { call, isRecorded, type OutputOf } from '../data/source.ts'
import { NOWHERE } from './portions.ts'

type Row = OutputOf<'get_activity'>['rows'][number]

const EVERY_MS = 1_000
const LOOK_BACK = 16_384
const SHOWN = 12

export function Now({ loop, n }: { loop: string; n: number }) {
  const [rows, setRows] = useState<readonly Row[]>([])
  useEffect(() => {
    if (isRecorded()) return
    let gone = false
    let known = -1
    const look = async () => {
      try {
        const { size } = await call('get_activity', { loop, iteration: n, from: NOWHERE, to: NOWHERE + 1 })
        if (size !== known) {
          known = size
          const found = await call('get_activity', { loop, iteration: n, from: Math.max(0, size - LOOK_BACK) })
          if (!gone) setRows(found.rows.slice(-SHOWN))
        }
      } catch {
        // it has not started, or the server is unreachable: the page says so elsewhere
      }
      if (!gone) timer = setTimeout(() => void look(), EVERY_MS)
    }
    let timer = setTimeout(() => void look(), 0)
    return () => {
      gone = true
      clearTimeout(timer)
    }
  }, [loop, n])
  return (
    <div class="now">
      <p class="muted">Running. The end of its transcript:</p>
      <ol class="now-rows">
        {rows.map((row, at) => (
          <li key={at} class={row.kind} dir="auto">
            {row.name && <strong>{row.name} </strong>}
            {row.text}
          </li>
        ))}
      </ol>
    </div>
  )
}

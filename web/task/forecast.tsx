/** What past loops suggest about this task, shown while it is being written. */
import { useRef } from 'preact/hooks'
import { promptOf } from '../../src/formats/board-task.ts'
import { useQuery } from '../data/query.ts'
import { useSettled } from '../data/settled.ts'
import type { InputOf } from '../data/source.ts'
import { type Draft, fieldsOf } from './draft.ts'

export function ForecastLine({ draft, dir }: { draft: Draft; dir: string }) {
  const { error, value } = useQuery('get_forecast', useSettled(askingOf(draft, dir)))
  const last = useRef(value)
  if (value) last.current = value
  if (!draft.title.trim()) return null
  if (error) return <p class="callout amber">{error.message}</p>
  const { sentence, size, limit, enough } = last.current ?? {}
  const isAdaptive = draft.adaptive && draft.use_ralph_wiggum && size
  return (
    <p class={`callout ${enough ? 'blue' : 'gray'}`}>
      {sentence ?? '…'}
      {isAdaptive && (
        <small>
          Size {size}, estimated from the task: it starts with {limit} iterations.
        </small>
      )}
    </p>
  )
}

function askingOf(draft: Draft, dir: string): InputOf<'get_forecast'> | undefined {
  const {
    title,
    description,
    agent,
    type,
    stages,
    use_ralph_wiggum,
    ralph_max_iterations: most,
    limits,
  } = fieldsOf(draft)
  if (!title || !dir) return undefined
  return {
    prompt: promptOf({ title, description }),
    agent,
    dir,
    ...(type === null ? {} : { type }),
    ...(use_ralph_wiggum ? { stages: stages.filter(({ name }) => name), iterations: most } : { iterations: 1 }),
    ...(use_ralph_wiggum && limits.adaptive && most > 0 ? { adaptive: true } : {}),
  }
}

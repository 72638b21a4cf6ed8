/** The answers that were recorded in a report: a summary at once, what belongs to one iteration when it is looked at. */
import { RalphError } from '../../src/error.ts'
import { keyOf } from './query.ts'
import type { InputOf, Recorded, Source } from './source.ts'

type Filter = InputOf<'get_analytics'>
type Summary = { kind: 'loop' | 'stats'; loop?: string; filter?: Filter; made_at: number; answers: Answers }
type Answers = { key: string; value: unknown }[]

let filter: Filter = {}

/** The loops that the statistics of this report are about. */
export function recordedFilter(): Filter {
  return filter
}

export async function openRecorded(): Promise<Source> {
  const summary = (await unpack('summary')) as Summary
  filter = summary.filter ?? {}
  const known = new Map(summary.answers.map(({ key, value }) => [key, value]))
  const opened = new Set<number>()
  const details = async (iteration: unknown) => {
    if (typeof iteration !== 'number' || opened.has(iteration)) return
    opened.add(iteration)
    const found = ((await unpack(`detail-${iteration}`)) ?? { answers: [] }) as { answers: Answers }
    for (const { key, value } of found.answers) known.set(key, value)
  }
  return {
    recorded: recordedOf(summary),
    async call(name, input) {
      const key = keyOf(name, input)
      if (!known.has(key)) await details((input as { iteration?: unknown }).iteration)
      if (known.has(key)) return known.get(key) as never // recorded as the answer of this operation
      throw new RalphError('usage', 'This is not part of the report. The board of `ralph serve` shows all of it.')
    },
  }
}

function recordedOf({ kind, loop = '', made_at: madeAt }: Summary): Recorded {
  return kind === 'loop' ? { kind, loop, madeAt } : { kind, madeAt }
}

async function unpack(id: string): Promise<unknown> {
  const element = document.getElementById(id)
  if (!(element instanceof HTMLTemplateElement)) return undefined
  const packed = Uint8Array.from(atob(element.content.textContent ?? ''), (letter) => letter.charCodeAt(0))
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'))
  return JSON.parse(await new Response(stream).text())
}

/** The answers recorded in a report: the summary at once, the details of an iteration when it is opened. */
import { RalphError } from '../../src/error.ts'
import { type Answer, answerKey, type Recorded } from '../../src/formats/recorded.ts'
import type { InputOf, Source } from './source.ts'

let filter: InputOf<'get_analytics'> = {}

/** The loops behind the statistics of this report. */
export function recordedFilter(): InputOf<'get_analytics'> {
  return filter
}

export async function openRecorded(): Promise<Source> {
  const recorded = (await unpack('summary')) as Recorded // as `ralph show -o` wrote it
  if (recorded.kind === 'stats') filter = recorded.filter
  const known = new Map(recorded.answers.map(({ key, value }) => [key, value]))
  const opened = new Map<number, Promise<void>>()
  const open = async (iteration: number) => {
    const found = (await unpack(`detail-${iteration}`)) as { answers: Answer[] } | undefined
    for (const { key, value } of found?.answers ?? []) known.set(key, value)
  }
  return {
    recorded,
    async call(name, input) {
      const key = answerKey(name, input)
      const { iteration } = input as { iteration?: number }
      if (!known.has(key) && iteration !== undefined) {
        const opening = opened.get(iteration) ?? open(iteration)
        opened.set(iteration, opening)
        await opening
      }
      if (known.has(key)) return known.get(key) as never // recorded as the answer of this operation
      throw new RalphError('usage', 'This is not part of the report. `ralph serve` shows everything.')
    },
  }
}

async function unpack(id: string): Promise<unknown> {
  const element = document.getElementById(id)
  if (!(element instanceof HTMLTemplateElement)) return undefined
  const packed = Uint8Array.from(atob(element.content.textContent ?? ''), (letter) => letter.charCodeAt(0))
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'))
  return JSON.parse(await new Response(stream).text())
}

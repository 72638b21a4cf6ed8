/** How many loops started, and what they cost, day by day. */
import { Columns } from '../parts/charts.tsx'
import { money } from '../words.ts'
import { Card } from './cards.tsx'
import type { Analytics } from './tiles.tsx'

type Day = Pick<Analytics['days'][number], 'loops' | 'completed' | 'halted' | 'costUsd'>
type Span = Day & { name: string }

const DAY_MS = 86_400_000
const MOST = 42

export function DayCards({ analytics: { days } }: { analytics: Analytics }) {
  const { size, spans } = spansOf(days)
  const per = size === 1 ? 'day' : `${size} days`
  return (
    <>
      <Card title={`Loops per ${per}`} words="By start day (UTC).">
        <Columns
          label={`Loops per ${per}`}
          heads={['Day', 'Completed', 'Halted', 'Open or cancelled']}
          fills={['pass', 'fail', 'none']}
          columns={spans.map(({ name, completed, halted, loops }) => ({
            name,
            parts: [completed, halted, loops - completed - halted],
          }))}
        />
      </Card>
      <Card title={`Cost per ${per}`} words="Cost of the loops that started then, as far as agents report it.">
        <Columns
          label={`Cost per ${per}`}
          heads={['Day', 'Spent']}
          fills={['plain']}
          columns={spans.map(({ name, costUsd }) => ({ name, parts: [costUsd] }))}
          words={money}
          least={0}
        />
      </Card>
    </>
  )
}

/** Without gaps; long spans are grouped so that everything fits. */
function spansOf(days: Analytics['days']): { size: number; spans: Span[] } {
  const first = Date.parse(days[0]?.day ?? '')
  const total = (Date.parse(days.at(-1)?.day ?? '') - first) / DAY_MS + 1 || 0
  const size = [1, 7, 28, 91].find((one) => total / one <= MOST) ?? 364
  const spans = Array.from({ length: Math.ceil(total / size) }, (_, at): Span => {
    const from = first + at * size * DAY_MS
    const here = days.filter(({ day }) => Date.parse(day) >= from && Date.parse(day) < from + size * DAY_MS)
    const sum = (field: keyof Day) => here.reduce((all, day) => all + day[field], 0)
    return {
      name: new Date(from).toLocaleDateString(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' }),
      loops: sum('loops'),
      completed: sum('completed'),
      halted: sum('halted'),
      costUsd: sum('costUsd'),
    }
  })
  return { size, spans }
}

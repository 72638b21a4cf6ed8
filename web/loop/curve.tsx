/** Open failures per iteration, and what past loops suggest about the rest. */
import type { Loop } from '../../src/engine/loop.ts'
import { type Iteration, openFailures } from '../data/iterations.ts'
import { useQuery, type Wakes } from '../data/query.ts'
import { count } from '../words.ts'

const WIDTH = 330
const HEIGHT = 96
const LEFT = 28
const MOST_POINTS = 200

/** A new iteration starts: the one before was checked. */
function eachTurn(id: string): Wakes {
  return (message) => message.type === 'loop-event' && message.loop === id && message.data.next.kind === 'turn'
}

type Point = { n: number; failures: number }

export function Curve({ loop, rows }: { loop: Loop; rows: readonly Iteration[] }) {
  const points = pointsOf(loop, rows)
  const isOpen = loop.next.kind !== 'complete' && loop.next.kind !== 'halt'
  const forecast = useQuery('get_forecast', isOpen ? { loop: loop.id } : undefined, eachTurn(loop.id)).value
  return (
    <section class="card failures" aria-label="Open failures">
      <div class="body">
        <h2>Open failures</h2>
        <p class="muted">{trend(points)}</p>
        {points.length > 1 && <Line points={points} />}
        {forecast && <p class="forecast">{forecast.sentence}</p>}
      </div>
    </section>
  )
}

function Line({ points }: { points: readonly Point[] }) {
  const most = Math.max(1, ...points.map(({ failures }) => failures))
  const first = points[0]?.n ?? 0
  const span = Math.max(1, (points.at(-1)?.n ?? 1) - first)
  const x = ({ n }: Point) => LEFT + ((n - first) / span) * (WIDTH - LEFT - 10)
  const y = ({ failures }: Point) => 10 + (1 - failures / most) * (HEIGHT - 28)
  const path = points.map((point, at) => `${at ? 'L' : 'M'}${x(point).toFixed(1)} ${y(point).toFixed(1)}`).join('')
  const words = points.map(({ n, failures }) => `${n === 0 ? 'start' : `iteration ${n}`}: ${failures}`).join(', ')
  return (
    <svg class="curve-chart" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`Open failures. ${words}`}>
      {[0, most].map((value) => (
        <g key={value}>
          <line
            class="curve-grid"
            x1={LEFT}
            x2={WIDTH}
            y1={y({ n: 0, failures: value })}
            y2={y({ n: 0, failures: value })}
          />
          <text class="curve-axis" x={LEFT - 6} y={y({ n: 0, failures: value }) + 3.5} text-anchor="end">
            {value}
          </text>
        </g>
      ))}
      <path class="curve-line" d={path} />
      {points.length <= 40 &&
        points.map((point) => <circle key={point.n} class="curve-dot" cx={x(point)} cy={y(point)} r="2.6" />)}
      <text class="curve-axis" x={LEFT} y={HEIGHT - 3}>
        {first === 0 ? 'start' : `#${first}`}
      </text>
      <text class="curve-axis" x={WIDTH - 4} y={HEIGHT - 3} text-anchor="end">
        #{points.at(-1)?.n}
      </text>
    </svg>
  )
}

function pointsOf({ tally }: Loop, rows: readonly Iteration[]): Point[] {
  const before = tally.before ? openFailures(tally.before) : undefined
  const all = [
    ...(before === undefined ? [] : [{ n: 0, failures: before }]),
    ...rows.flatMap(({ n, verdicts }) => {
      const failures = openFailures(verdicts)
      return failures === undefined ? [] : [{ n, failures }]
    }),
  ]
  return all.slice(-MOST_POINTS)
}

function trend(points: readonly Point[]): string {
  const now = points.at(-1)
  const before = points.at(-2)
  if (!now) return 'No check has run yet.'
  const left = now.failures === 0 ? 'None left.' : `${count(now.failures, 'failure')} left.`
  if (!before || now.failures === 0) return left
  if (now.failures < before.failures) return `Falling: ${before.failures} → ${now.failures}.`
  return now.failures > before.failures ? `Rising: ${before.failures} → ${now.failures}.` : `Unchanged. ${left}`
}

/** The iteration strip: one bar per iteration, so that progress, false claims and stalls show at a glance. */
import type { OutputOf } from '../data/source.ts'
import { count } from '../words.ts'

export type Bar = OutputOf<'list_strips'>['strips'][number]['bars'][number]

const STEP = 10
const WIDTH = 8
const HEIGHT = 34
const FLOOR = 26
const MOST_LEFT = 12

/** `limit`: 0 means none. `now`: an iteration is running. */
export function Strip({
  bars,
  limit,
  iteration,
  now,
}: {
  bars: readonly Bar[] | undefined
  limit: number
  iteration: number
  now: boolean
}) {
  const shown = bars ?? []
  const longest = Math.max(1, ...shown.map(({ ms }) => ms))
  const left = limit === 0 ? 0 : Math.min(MOST_LEFT, Math.max(0, limit - iteration - (now ? 1 : 0)))
  const columns = shown.length + (now ? 1 : 0) + left
  if (!bars) return <span class="strip" aria-hidden="true" />
  return (
    <svg class="strip" width={columns * STEP} height={HEIGHT} role="img" aria-label={stripWords(shown, now)}>
      {shown.map((bar, at) => (
        <BarShape key={bar.n} bar={bar} x={at * STEP} height={heightOf(bar.ms, longest)} />
      ))}
      {now && <rect class="bar now" x={shown.length * STEP} y={FLOOR - 10} width={WIDTH} height={10} rx="2" />}
      {Array.from({ length: left }, (_, at) => (
        <rect
          key={at}
          class="bar left"
          x={(columns - left + at) * STEP + 0.5}
          y={FLOOR - 5}
          width={WIDTH - 1}
          height={5}
          rx="1.5"
        />
      ))}
    </svg>
  )
}

function BarShape({ bar, x, height }: { bar: Bar; x: number; height: number }) {
  const top = FLOOR - height
  return (
    <g>
      <rect
        class={`bar ${bar.result}${bar.idle && bar.result === 'none' ? ' idle' : ''}`}
        x={x}
        y={top}
        width={WIDTH}
        height={height}
        rx="2"
      />
      {bar.result === 'crash' && (
        <path class="bar-hatch" d={`M${x + 1} ${FLOOR - 2}l6 -6M${x + 1} ${FLOOR - 8}l6 -6`} />
      )}
      {bar.claimed && (
        <rect
          class={`claim ${bar.refused ? 'refused' : 'taken'}`}
          x={x}
          y={top - 4}
          width={WIDTH}
          height="2.5"
          rx="1"
        />
      )}
      {bar.worse && <path class="worse" d={`M${x + 1} ${FLOOR + 2.5}h6l-3 4.5z`} />}
      {bar.weakened && <path class="weakened" d={`M${x + 4} ${FLOOR + 1.5}l3.2 3.2l-3.2 3.2l-3.2 -3.2z`} />}
    </g>
  )
}

/** Long iterations stand out without making short ones vanish. */
function heightOf(ms: number, longest: number): number {
  return Math.round(5 + 15 * Math.sqrt(ms / longest))
}

function stripWords(bars: readonly Bar[], now: boolean): string {
  const told = [
    [bars.filter(({ result }) => result === 'fail').length, 'with failing checks'],
    [bars.filter(({ result }) => result === 'pass').length, 'with passing checks'],
    [bars.filter(({ result }) => result === 'crash').length, 'crashed'],
    [bars.filter(({ refused }) => refused).length, 'with a refused claim'],
    [bars.filter(({ worse }) => worse).length, 'made it worse'],
    [bars.filter(({ weakened }) => weakened).length, 'weakened the proof'],
  ].flatMap(([number, words]) => (number ? [`${number} ${words}`] : []))
  const head = bars.length === 0 ? 'No iteration yet' : count(bars.length, 'iteration')
  return [head, ...told, ...(now ? ['one running'] : [])].join(', ')
}

export function StripLegend() {
  return (
    <p class="legend">
      <span>
        <i class="key fail" /> checks fail
      </span>
      <span>
        <i class="key pass" /> checks pass
      </span>
      <span>
        <i class="key none" /> not checked
      </span>
      <span>
        <i class="key crash" /> crashed
      </span>
      <span>
        <i class="key claim" /> claimed done (red: refused)
      </span>
      <span>
        <i class="key worse" /> got worse
      </span>
      <span>
        <i class="key weakened" /> tests changed
      </span>
      <span class="muted">Height: time. Dashed: iterations left.</span>
    </p>
  )
}

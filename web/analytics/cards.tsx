/** What happens along the way: how long loops take, whether continuing pays off, why they stop, what fails. */
import type { ComponentChildren } from 'preact'
import { intervalOf } from '../../src/analytics/share.ts'
import { Rows } from '../parts/bar-rows.tsx'
import { type Column, Columns, Curve } from '../parts/charts.tsx'
import { capital, percent, plain } from '../words.ts'
import type { Analytics } from './tiles.tsx'

export function Card({
  title,
  words,
  wide = false,
  children,
}: {
  title: string
  words: string
  wide?: boolean
  children: ComponentChildren
}) {
  return (
    <section class={`card chart-card${wide ? ' wide' : ''}`}>
      <h2>{title}</h2>
      <p class="muted">{words}</p>
      {children}
    </section>
  )
}

const MOST_COLUMNS = 15

export function IterationsCard({ analytics: { iterations } }: { analytics: Analytics }) {
  return (
    <Card title="Iterations per loop" words="How many iterations loops took until they completed or stopped.">
      <Columns
        label="Iterations per loop"
        heads={['Iterations', 'Completed', 'Stopped']}
        fills={['pass', 'fail']}
        columns={columnsOf(iterations.histogram)}
      />
    </Card>
  )
}

/** One bar per number of iterations, without gaps; the few long ones share the last. */
function columnsOf(histogram: Analytics['iterations']['histogram']): Column[] {
  const last = histogram.at(-1)?.iterations ?? 0
  const first = Math.min(1, histogram[0]?.iterations ?? 1)
  return Array.from({ length: Math.min(last, MOST_COLUMNS) - first + 1 }, (_, index) => {
    const at = first + index
    const isRest = at === MOST_COLUMNS && last > at
    const here = histogram.filter(({ iterations }) => (isRest ? iterations >= at : iterations === at))
    const sum = (kind: 'completed' | 'stopped') => here.reduce((all, bin) => all + bin[kind], 0)
    return { name: isRest ? `${at}+` : String(at), parts: [sum('completed'), sum('stopped')] }
  })
}

const MOST_POINTS = 30

export function FinishingCard({ analytics: { finishing } }: { analytics: Analytics }) {
  // Nothing is known beyond the longest loop.
  const points = finishing.slice(0, MOST_POINTS).flatMap(({ iteration, still }, at) => {
    const beyond = finishing[at + 1]?.reached ?? 0
    return beyond > 0 ? [{ name: String(iteration), rate: still, ...intervalOf(still, beyond) }] : []
  })
  const low = points.find(({ rate }) => rate < 0.25)
  return (
    <Card
      title="Chance of still finishing"
      words={
        low
          ? `Of the loops not done by iteration ${low.name}, fewer than one in four still finish.`
          : 'Of the loops not done by iteration n, how many complete later. The band is the 95% interval.'
      }
    >
      {points.length > 1 ? (
        <Curve
          label="Chance of still finishing if not done by iteration n"
          points={points}
          table={{
            head: ['Iteration', 'Loops that reached it', 'Completed in it', 'Done by then', 'Finish later'],
            rows: finishing.map((row) => [
              row.iteration,
              row.reached,
              row.finished,
              percent(row.by),
              percent(row.still),
            ]),
          }}
        />
      ) : (
        <p class="nothing">Too few loops have gone beyond their first iteration to say.</p>
      )}
    </Card>
  )
}

export function StopsCard({ analytics: { stops, success } }: { analytics: Analytics }) {
  const rows = [{ reason: 'completed', loops: success.count }, ...stops]
  const most = Math.max(1, ...rows.map(({ loops }) => loops))
  return (
    <Card title="Why loops stopped" words="What ended them, with completed loops for comparison.">
      <Rows
        label="Why loops stopped"
        heads={['End', 'Loops']}
        rows={rows.map(({ reason, loops }) => ({
          name: capital(plain(reason)),
          share: loops / most,
          fill: reason === 'completed' ? 'pass' : reason === 'cancelled' ? 'none' : 'fail',
          words: String(loops),
        }))}
      />
    </Card>
  )
}

const MOST_CHECKS = 10

export function ChecksCard({ analytics: { checks } }: { analytics: Analytics }) {
  return (
    <Card
      title="Checks that fail most"
      words="How often each failed, out of its runs. Runs before any work do not count."
    >
      {checks.length === 0 ? (
        <p class="nothing">No check has failed.</p>
      ) : (
        <Rows
          label="Checks that fail most"
          heads={['Check', 'Share', 'Failed']}
          rows={checks.slice(0, MOST_CHECKS).map(({ check, rate, failures, runs }) => ({
            name: check,
            share: rate,
            fill: 'fail',
            words: percent(rate),
            more: `${failures} of ${runs}`,
          }))}
        />
      )}
    </Card>
  )
}

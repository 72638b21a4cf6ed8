/** Statistics of past loops: how they end, what they take and cost, which claims were false. */
import { isOver } from '../../src/engine/loop.ts'
import { ChecksCard, FinishingCard, IterationsCard, StopsCard } from '../analytics/cards.tsx'
import { DayCards } from '../analytics/days.tsx'
import { Filters, filterOf } from '../analytics/filters.tsx'
import { GroupCard } from '../analytics/groups.tsx'
import { type Analytics, Grades, Tiles } from '../analytics/tiles.tsx'
import { useQuery, type Wakes } from '../data/query.ts'
import { recordedFilter } from '../data/recorded.ts'
import { go, route } from '../data/route.ts'
import { call, type InputOf, isRecorded } from '../data/source.ts'
import { Button, Code, Empty, Loading, Problem } from '../parts/common.tsx'
import { saveFile } from '../parts/save-file.ts'
import { count, timeOf } from '../words.ts'

const ended: Wakes = (message) =>
  message.type === 'loop-start' || (message.type === 'loop-event' && isOver(message.data.status))

export function AnalyticsScreen() {
  const filter = isRecorded() ? recordedFilter() : filterOf(route.value.query)
  const { value, error, refresh } = useQuery('get_analytics', filter, ended)
  return (
    <div class="screen analytics">
      <header class="screen-head">
        <h1>Analytics</h1>
        {isRecorded() ? <p class="muted">{filterWords(filter)}</p> : <Filters />}
        {value && value.loops > 0 && <Export analytics={value} filter={filter} />}
      </header>
      {error && <Problem error={error} retry={refresh} />}
      {!value && !error && <Loading lines={6} />}
      {value && value.loops > 0 && <Numbers analytics={value} />}
      {value?.loops === 0 && <Nothing />}
    </div>
  )
}

function Numbers({ analytics }: { analytics: Analytics }) {
  const { byAgent, byType, bySize } = analytics
  return (
    <>
      <Tiles analytics={analytics} />
      <Grades analytics={analytics} />
      <div class="charts">
        <IterationsCard analytics={analytics} />
        <FinishingCard analytics={analytics} />
        <StopsCard analytics={analytics} />
        <ChecksCard analytics={analytics} />
        <GroupCard
          what="agent"
          groups={byAgent}
          words="How many completed (the line is the 95% interval), and what was spent per completed loop. Agents got different tasks: do not compare where the lines overlap."
        />
        <GroupCard what="type" groups={byType} words="The same by type of work, as given in the task." />
        <GroupCard what="size" groups={bySize} words="The same by size, which is estimated before any work." />
        <DayCards analytics={analytics} />
      </div>
    </>
  )
}

function Export({ analytics, filter }: { analytics: Analytics; filter: InputOf<'get_analytics'> }) {
  const day = new Date().toISOString().slice(0, 10)
  const csv = async () => saveFile(`ralph-loops-${day}.csv`, 'text/csv', (await call('export_loops', filter)).csv)
  const json = () => saveFile(`ralph-analytics-${day}.json`, 'application/json', JSON.stringify(analytics, null, 2))
  return (
    <>
      {!isRecorded() && (
        <Button run={csv} title="One row per loop, for a spreadsheet">
          Export CSV
        </Button>
      )}
      <Button run={json} title="The numbers on this page">
        JSON
      </Button>
    </>
  )
}

/** The scope of a report. */
function filterWords(filter: InputOf<'get_analytics'>): string {
  const words = Object.entries(filter).map(
    ([name, value]) => `${name} ${typeof value === 'number' ? timeOf(value) : value}`,
  )
  return words.join(' · ') || 'All loops'
}

function Nothing() {
  const loops = useQuery('get_overview', isRecorded() ? undefined : {}).value?.loops ?? 0
  if (loops > 0)
    return (
      <Empty title="No loop matches">
        <p>There {loops === 1 ? 'is one loop' : `are ${count(loops, 'loop')}`} in total.</p>
        <Button run={() => go('/analytics?since=all', { replace: true })}>Show all loops</Button>
      </Empty>
    )
  return (
    <Empty title="No loops yet">
      <p>
        Once loops have ended, this shows how many succeed and how well that is proven, how many iterations and how much
        money they take, why others stop, and how often an agent said “done” too early.
      </p>
      <Code>ralph run "Make the tests pass" --verify "npm test"</Code>
      <p>
        The same numbers in a terminal: <code>ralph stats</code>
      </p>
    </Empty>
  )
}

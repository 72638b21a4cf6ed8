/** The same numbers per agent, type or size. */
import { Rows } from '../parts/bar-rows.tsx'
import { agentName, capital, money, percent } from '../words.ts'
import { Card } from './cards.tsx'
import { type Analytics, intervalWords } from './tiles.tsx'

type Group = Analytics['byAgent'][number]

const MOST = 12

export function GroupCard({
  what,
  words,
  groups,
}: {
  what: 'agent' | 'type' | 'size'
  words: string
  groups: readonly Group[]
}) {
  const known = groups.some(({ name }) => name !== null)
  return (
    <Card title={`By ${what}`} words={words} wide={what === 'agent'}>
      {known ? (
        <Rows
          label={`Success and cost by ${what}`}
          heads={[capital(what), 'Completed', 'Cost per completed']}
          rows={groups.slice(0, MOST).map((group) => ({
            name: `${what === 'agent' ? agentName(nameOf(group)) : nameOf(group)} (${group.loops})`,
            share: group.success.rate ?? 0,
            fill: 'plain',
            words: percent(group.success.rate),
            more: costOf(group),
            low: group.success.low,
            high: group.success.high,
          }))}
          table={{
            head: [
              capital(what),
              'Loops',
              'Completed',
              'Iterations (median)',
              'False claims',
              'Spent',
              'Cost per completed',
            ],
            rows: groups.map((group) => [
              nameOf(group),
              group.loops,
              `${group.success.count} of ${group.success.of}${intervalWords(group.success)}`,
              group.iterations?.median ?? '–',
              group.falseClaims,
              spent(group.costUsd),
              costOf(group),
            ]),
          }}
        />
      ) : (
        <p class="nothing">
          No loop has a {what}.{what === 'type' ? ' Set it with --type bug, or in a task.' : ''}
        </p>
      )}
    </Card>
  )
}

function nameOf({ name }: Group): string {
  return name === null ? 'not given' : name
}

/** Everything spent on its loops, divided by the number that completed. */
function costOf({ costUsd, success }: Group): string {
  return success.count === 0 ? '–' : spent(costUsd / success.count)
}

/** An agent that reports no cost is not free. */
function spent(usd: number): string {
  return usd > 0 ? money(usd) : '–'
}

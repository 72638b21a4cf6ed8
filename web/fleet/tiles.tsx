/** The fleet in three numbers; each links to its part. */
import type { ComponentChildren } from 'preact'
import { Link } from '../parts/common.tsx'
import { count, money } from '../words.ts'
import { EVERYONE, leftOf } from './money.ts'
import { Shares } from './shares.tsx'
import { type Fleet, OPEN_STATES } from './states.ts'

export const PARTS = [
  { part: '', to: '/fleet', words: 'Tasks' },
  { part: 'workers', to: '/fleet/workers', words: 'Workers' },
  { part: 'budgets', to: '/fleet/budgets', words: 'Budgets' },
] as const

export function Tiles({ fleet, part }: { fleet: Fleet; part: string }) {
  const views = [
    <TasksTile key="tasks" {...fleet} />,
    <WorkersTile key="workers" {...fleet} />,
    <BudgetsTile key="budgets" {...fleet} />,
  ]
  return (
    <nav class="fleet-tiles" aria-label="Parts of the fleet">
      {PARTS.map(({ to, part: name }, at) => (
        <Link key={to} to={to} class="card fleet-tile" aria-current={part === name ? 'page' : undefined}>
          {views[at]}
        </Link>
      ))}
    </nav>
  )
}

/** `unit` is left out where space is tight. */
type Shown = { name: string; figure: string; unit?: string; bar: ComponentChildren; children: string }

function Tile({ name, figure, unit, bar, children }: Shown) {
  return (
    <>
      <span class="name">{name}</span>
      <strong class="figure number">
        {figure} {unit && <span class="unit">{unit}</span>}
      </strong>
      {bar}
      <small>{children}</small>
    </>
  )
}

function TasksTile({ counts }: Fleet) {
  const parts = OPEN_STATES.map((name) => ({ name, n: counts[name] ?? 0 }))
  const open = parts.reduce((sum, { n }) => sum + n, 0)
  return (
    <Tile name="Tasks" figure={`${open}`} unit="open" bar={<Shares parts={parts} />}>
      {said([
        [counts.running, 'running'],
        [counts.resting, 'on hold'],
        [counts.failed, 'failed'],
        [counts.done, 'done'],
      ]) || 'No tasks yet'}
    </Tile>
  )
}

function WorkersTile({ workers, accounts }: Fleet) {
  const alive = workers.filter((worker) => worker.alive)
  const taken = alive.reduce((sum, { running }) => sum + running, 0)
  const slots = alive.reduce((sum, { concurrency }) => sum + concurrency, 0)
  return (
    <Tile
      name="Workers"
      figure={alive.length > 0 ? `${taken} of ${slots}` : 'None'}
      unit={alive.length > 0 ? 'slots taken' : ''}
      bar={<Shares parts={[{ name: 'running', n: taken }]} whole={slots} />}
    >
      {[
        alive.length > 0 ? count(alive.length, 'worker') : 'Tasks wait for a worker',
        said([
          [workers.length - alive.length, 'silent'],
          [alive.filter(({ draining }) => draining).length, 'draining'],
        ]),
        accounts.length > 0 ? `${count(accounts.length, 'account')} paused` : '',
      ]
        .filter(Boolean)
        .join(' · ')}
    </Tile>
  )
}

function BudgetsTile({ budgets }: Fleet) {
  const own = budgets.filter(({ submitter }) => submitter !== EVERYONE)
  const each = budgets.find(({ submitter }) => submitter === EVERYONE)
  const spent = own.reduce((sum, { spent_usd }) => sum + spent_usd, 0)
  const reserved = own.reduce((sum, { reserved_usd }) => sum + reserved_usd, 0)
  const limit = own.reduce((sum, { usd_per_day }) => sum + usd_per_day, 0)
  const used = own.filter((budget) => leftOf(budget) <= 0).length
  return (
    <Tile
      name="Budgets today"
      figure={own.length > 0 ? money(spent) : each ? money(each.usd_per_day) : 'No limit'}
      unit={own.length > 0 ? `of ${money(limit)} spent` : each ? 'for each' : ''}
      bar={
        <Shares
          parts={[
            { name: 'spent', n: spent },
            { name: 'reserved', n: reserved },
          ]}
          whole={limit}
        />
      }
    >
      {[budgets.length > 0 ? count(budgets.length, 'budget') : 'No budgets', used > 0 ? `${used} used up` : '']
        .filter(Boolean)
        .join(' · ')}
    </Tile>
  )
}

function said(numbers: readonly (readonly [n: number | undefined, word: string])[]): string {
  return numbers.flatMap(([n, word]) => (n ? [`${n} ${word}`] : [])).join(' · ')
}

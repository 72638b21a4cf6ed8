/** The machines that take tasks. */

import type { Badge } from '../badge.ts'
import { BadgeView, Button } from '../parts/common.tsx'
import { count, duration, timeOf } from '../words.ts'
import { drain } from './actions.tsx'
import { NoWorkers } from './empty.tsx'
import { Paused } from './paused.tsx'
import { Shares } from './shares.tsx'
import type { Fleet, Worker } from './states.ts'
import { useClock } from './use-fleet.ts'

export function Workers({ fleet }: { fleet: Fleet }) {
  const now = useClock(fleet.now)
  const paused = new Map(fleet.accounts.map(({ name, paused_until }) => [name, paused_until]))
  return (
    <>
      <Paused accounts={fleet.accounts} />
      {fleet.workers.length === 0 && <NoWorkers />}
      <ul class="worker-list">
        {fleet.workers.map((worker) => (
          <WorkerRow key={worker.id} worker={worker} now={now} paused={paused} />
        ))}
      </ul>
    </>
  )
}

type Row = { worker: Worker; now: number; paused: ReadonlyMap<string, number> }

function WorkerRow({ worker, now, paused }: Row) {
  const { id, host, version, labels, concurrency, running, draining, beat_at, progress_at, started_at, alive } = worker
  return (
    <li class={`card worker${alive ? '' : ' silent'}`}>
      <div class="worker-name">
        <h2>{host}</h2>
        <BadgeView badge={badgeOf(worker, now)} />
        <small class="path">
          {id} · ralph {version}
        </small>
      </div>
      <div class="worker-slots">
        <p class="number">
          {running} of {count(concurrency, 'slot')} taken
        </p>
        <Shares parts={[{ name: 'running', n: running }]} whole={concurrency} />
      </div>
      <div class="worker-offers">
        <ul class="chips" aria-label={`Agents of ${host}`}>
          {Object.entries(worker.agents).map(([agent, account]) => (
            <li key={agent} class={paused.has(account) ? 'amber' : ''} title={`Account ${account}`}>
              <strong>{agent}</strong> {accountWords(account === agent ? '' : account, paused.get(account))}
            </li>
          ))}
        </ul>
        {labels.length > 0 && <small>Labels: {labels.join(', ')}</small>}
      </div>
      <dl class="worker-times number">
        <div>
          <dt>Heartbeat</dt>
          <dd>{duration(now - beat_at)} ago</dd>
        </div>
        <div>
          <dt>Progress</dt>
          <dd>{duration(now - progress_at)} ago</dd>
        </div>
        <div>
          <dt>Started</dt>
          <dd>{timeOf(started_at)}</dd>
        </div>
      </dl>
      <div class="worker-actions">
        {alive && !draining && (
          <Button run={() => drain(worker)} label={`Drain ${host}`}>
            Drain …
          </Button>
        )}
      </div>
    </li>
  )
}

/** An account named like its agent needs no label. */
function accountWords(account: string, pausedUntil: number | undefined): string {
  const paused = pausedUntil === undefined ? '' : `paused until ${timeOf(pausedUntil)}`
  return [account, paused].filter(Boolean).join(', ')
}

function badgeOf({ alive, draining, running, beat_at }: Worker, now: number): Badge {
  if (!alive) return { word: `Silent for ${duration(now - beat_at)}`, tone: 'red', mark: '!' }
  if (draining) return { word: 'Draining', tone: 'amber', mark: '↓' }
  if (running > 0) return { word: 'Working', tone: 'blue', mark: '●', busy: true }
  return { word: 'Idle', tone: 'gray', mark: '○' }
}

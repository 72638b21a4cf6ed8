/** The current state of the fleet. Heartbeats are not events, so it polls every few seconds while somebody looks. */
import { signal } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { RalphError } from '../../src/error.ts'
import { refreshAll, useQuery } from '../data/query.ts'
import type { Fleet } from './states.ts'

export const LOOK_MS = 3_000

/** `isMissing`: this server has no fleet, and will have none. */
type Looked = { fleet: Fleet | undefined; error: Error | undefined; isMissing: boolean; refresh(): void }

export function useFleet(): Looked {
  const { value, error, refresh } = useQuery('get_fleet', {})
  const isMissing = error instanceof RalphError && error.code === 'usage'
  useEvery(LOOK_MS, () => isMissing || refresh())
  return { fleet: value, error, isMissing, refresh }
}

/** How often something was done to the fleet from here. */
export const acted = signal(0)

/** After the user's own action: now, not at the next poll. */
export function lookNow(): void {
  acted.value += 1
  refreshAll()
}

/** Not while the tab is hidden. */
export function useEvery(ms: number, run: () => unknown): void {
  const newest = useRef(run)
  newest.current = run
  useEffect(() => {
    const timer = setInterval(() => document.hidden || newest.current(), ms)
    return () => clearInterval(timer)
  }, [ms])
}

/** The database's clock, every second: it read `told` when that answer was made. */
export function useClock(told: number): number {
  const heard = useRef({ told, at: Date.now() })
  if (heard.current.told !== told) heard.current = { told, at: Date.now() }
  const [, draw] = useState(0)
  useEvery(1_000, () => draw(Date.now()))
  return told + Date.now() - heard.current.at
}

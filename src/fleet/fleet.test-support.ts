/** Small fleets for tests, with defaults for everything a test does not set. */
import type { Busy, LiveWorker, Picture, Waiting } from './picture.ts'

export const NOW = 1_000_000

export function task(id: string, more: Partial<Waiting> = {}): Waiting {
  return {
    id,
    submitter: 'ann',
    repo: 'git@host:repo.git',
    base: 'main',
    branch: `ralph/${id}`,
    priority: 0,
    needs: { agents: [], labels: [] },
    touches: [],
    dependsOn: [],
    createdAt: 0,
    reserveUsd: 0,
    ...more,
  }
}

export function busy(task: Waiting, state: Busy['state'], worker?: string): Busy {
  const { id, submitter, repo, base, branch, needs, touches } = task
  return { id, submitter, repo, base, branch, needs, touches, state, ...(worker === undefined ? {} : { worker }) }
}

export function worker(id: string, more: Partial<LiveWorker> = {}): LiveWorker {
  return { id, agents: ['claude'], labels: [], accounts: {}, concurrency: 1, draining: false, ...more }
}

/** No read-ahead unless a test sets it. */
export function fleet(more: Partial<Picture>): Picture {
  return {
    now: NOW,
    waiting: [],
    busy: [],
    workers: [],
    pausedUntil: new Map(),
    leftUsd: () => undefined,
    releasedAt: () => undefined,
    readAhead: 0,
    ...more,
  }
}

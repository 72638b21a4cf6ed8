import { describe, expect, test } from 'vitest'
import { busy, fleet, NOW, task, worker } from './fleet.test-support.ts'
import type { Held, Picture } from './picture.ts'
import { schedule } from './schedule.ts'

const twoSlots = [worker('w', { concurrency: 2 })]
const gpu = { agents: [], labels: ['gpu'] }
const any = { agents: [], labels: [] }

function released(picture: Partial<Picture>): string {
  return schedule(fleet(picture)).release.join(' ')
}

function why(id: string, picture: Partial<Picture>): Held | undefined {
  return schedule(fleet(picture)).held.get(id)
}

describe('releases', () => {
  test.each<[fact: string, picture: Partial<Picture>, ids: string]>([
    ['as many tasks as there are slots', { waiting: [task('a'), task('b'), task('c')], workers: twoSlots }, 'a b'],
    ['nothing without workers', { waiting: [task('a')] }, ''],
    ['a task whose time has come', { waiting: [task('a', { dueAt: NOW })], workers: twoSlots }, 'a'],
    [
      'the highest priority first, then the oldest, within one submitter',
      {
        waiting: [task('a', { createdAt: 2 }), task('b', { createdAt: 1 }), task('c', { priority: 1, createdAt: 3 })],
        workers: twoSlots,
      },
      'c b',
    ],
    [
      'tasks of submitters in turn, whatever their priorities',
      {
        waiting: [
          task('a', { priority: 9 }),
          task('b', { priority: 9 }),
          task('c', { submitter: 'bob', createdAt: 5 }),
        ],
        workers: twoSlots,
      },
      'a c',
    ],
    [
      'first for the submitter with the fewest running tasks',
      {
        waiting: [task('a'), task('b', { submitter: 'bob', createdAt: 5 })],
        busy: [busy(task('x'), 'running', 'w')],
        workers: twoSlots,
      },
      'b',
    ],
    [
      'among equals, for the one whose last release is longest ago',
      {
        waiting: [task('a'), task('b', { submitter: 'bob', createdAt: 5 })],
        releasedAt: (submitter) => (submitter === 'ann' ? 6 : undefined),
        workers: [worker('w')],
      },
      'b',
    ],
    [
      'as many tasks ahead of free slots as may be queued',
      { waiting: [task('a'), task('b'), task('c'), task('d')], workers: twoSlots, readAhead: 1 },
      'a b c',
    ],
    [
      'no more tasks ahead if some are already queued',
      { waiting: [task('b')], busy: [busy(task('a'), 'released')], workers: [worker('w')] },
      '',
    ],
    [
      'a task that any worker can run and one that needs a certain worker',
      {
        waiting: [task('a', { priority: 1, needs: any }), task('b', { needs: gpu })],
        workers: [worker('v', { labels: ['gpu'] }), worker('w')],
      },
      'a b',
    ],
    [
      'a task for which queued tasks make room in the same way',
      {
        waiting: [task('c', { needs: gpu })],
        busy: [busy(task('a', { needs: any }), 'released'), busy(task('b', { needs: any }), 'running', 'w')],
        workers: [worker('v', { labels: ['gpu'] }), worker('w', { concurrency: 2 })],
      },
      'c',
    ],
    [
      'new tasks only after those of a dead worker have a slot',
      { waiting: [task('b')], busy: [busy(task('a'), 'running', 'gone')], workers: [worker('w')] },
      '',
    ],
    [
      'tasks next to paused or merging ones, which need no slot',
      {
        waiting: [task('c')],
        busy: [busy(task('a'), 'resting'), busy(task('b'), 'merging')],
        workers: [worker('w')],
      },
      'c',
    ],
    [
      'tasks on different files, or on the same files for another base',
      {
        waiting: [
          task('a', { touches: ['src/a/**'] }),
          task('b', { touches: ['src/b/**'] }),
          task('c', { touches: ['src/a/**'], base: 'next' }),
        ],
        workers: [worker('w', { concurrency: 9 })],
      },
      'a b c',
    ],
    [
      'no more than the budget allows, but a cheaper task after one that is too expensive',
      {
        waiting: [task('a', { reserveUsd: 6 }), task('b', { reserveUsd: 6 }), task('c', { reserveUsd: 4 })],
        leftUsd: () => 10,
        workers: [worker('w', { concurrency: 9 })],
      },
      'a c',
    ],
    [
      'as much as the budget allows, to the cent',
      {
        waiting: [task('a', { reserveUsd: 0.1 }), task('b', { reserveUsd: 0.2 })],
        leftUsd: () => 0.3,
        workers: twoSlots,
      },
      'a b',
    ],
    [
      'tasks ahead of free slots, ignoring queued ones that no worker can run now',
      {
        waiting: [task('a'), task('b')],
        busy: [busy(task('x', { needs: gpu }), 'released')],
        workers: [worker('w')],
        readAhead: 1,
      },
      'a b',
    ],
  ])('%s', (_, picture, ids) => {
    expect(released(picture)).toBe(ids)
  })
})

describe('why a task is held', () => {
  const paused = new Map([
    ['team', NOW + 5],
    ['own', NOW + 9],
  ])
  test.each<[fact: string, picture: Partial<Picture>, held: Held]>([
    [
      'a dependency is not finished',
      { waiting: [task('t', { dependsOn: ['x'] })], workers: twoSlots },
      { kind: 'dependencies', on: ['x'] },
    ],
    [
      'its time has not come',
      { waiting: [task('t', { dueAt: NOW + 1 })], workers: twoSlots },
      { kind: 'not-due', until: NOW + 1 },
    ],
    ['there are no workers', { waiting: [task('t')] }, { kind: 'no-worker', lack: { kind: 'workers' } }],
    [
      'no worker has the label',
      { waiting: [task('t', { needs: gpu })], workers: twoSlots },
      { kind: 'no-worker', lack: { kind: 'labels', labels: ['gpu'] } },
    ],
    [
      'no worker has the agent',
      { waiting: [task('t', { needs: { agents: ['pi'], labels: [] } })], workers: twoSlots },
      { kind: 'no-worker', lack: { kind: 'agents', agents: ['pi'] } },
    ],
    [
      'no worker has both',
      {
        waiting: [task('t', { needs: { agents: ['pi'], labels: ['gpu'] } })],
        workers: [worker('v', { agents: ['pi'] }), worker('w', { labels: ['gpu'] })],
      },
      { kind: 'no-worker', lack: { kind: 'combination' } },
    ],
    [
      'the worker is draining',
      { waiting: [task('t')], workers: [worker('w', { draining: true })] },
      { kind: 'no-worker', lack: { kind: 'draining' } },
    ],
    [
      'the accounts are paused, until the first one resumes',
      {
        waiting: [task('t')],
        workers: [worker('v', { accounts: { claude: 'own' } }), worker('w', { accounts: { claude: 'team' } })],
        pausedUntil: paused,
      },
      { kind: 'account-paused', accounts: ['own', 'team'], until: NOW + 5 },
    ],
    [
      'another task works on the branch',
      { waiting: [task('t', { branch: 'b' })], busy: [busy(task('x', { branch: 'b' }), 'resting')], workers: twoSlots },
      { kind: 'branch-taken', by: 'x' },
    ],
    [
      'another task released in the same pass takes the branch',
      { waiting: [task('s', { branch: 'b' }), task('t', { branch: 'b' })], workers: twoSlots },
      { kind: 'branch-taken', by: 's' },
    ],
    [
      'another task may change the same files',
      {
        waiting: [task('t', { touches: ['docs/**', 'src/a/*.ts'] })],
        busy: [busy(task('x', { touches: ['src/**'] }), 'merging')],
        workers: twoSlots,
      },
      { kind: 'files-taken', by: 'x', glob: 'src/a/*.ts', theirs: 'src/**' },
    ],
    [
      'the budget is too small',
      { waiting: [task('t', { reserveUsd: 2 })], leftUsd: () => 1, workers: twoSlots },
      { kind: 'over-budget', reserveUsd: 2, leftUsd: 1 },
    ],
    [
      'the budget is used up, even for a task that reserves nothing',
      { waiting: [task('t')], leftUsd: () => 0, workers: twoSlots },
      { kind: 'over-budget', reserveUsd: 0, leftUsd: 0 },
    ],
    [
      'every slot is taken',
      { waiting: [task('t')], busy: [busy(task('x'), 'running', 'w')], workers: [worker('w')] },
      { kind: 'no-slot', slots: 1 },
    ],
  ])('%s', (_, picture, held) => {
    expect(why('t', picture)).toEqual(held)
  })

  test('a second agent whose account is not paused may work', () => {
    const workers = [worker('w', { agents: ['claude', 'codex'], accounts: { claude: 'team', codex: 'free' } })]
    expect(released({ waiting: [task('t')], workers, pausedUntil: paused })).toBe('t')
  })
})

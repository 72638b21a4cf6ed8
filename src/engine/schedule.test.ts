import { describe, expect, test } from 'vitest'
import { attemptsLeft, type Going, mayTryAgain, mergeReason, type PlannedTask, plan, stopOf } from './schedule.ts'

/** "A", "B<A" waits for A, "C!" is blocked, "D." is completed, "E2/3" has used two of three attempts. */
function tasksOf(...words: string[]): PlannedTask[] {
  return words.map((word) => {
    const [, id = '', mark, attempts = '0', most = '3', before] =
      /^(\w)([!.])?(?:(\d)\/(\d))?(?:<(\w+))?$/.exec(word) ?? []
    return {
      id,
      dependsOn: [...(before ?? '')],
      status: mark === '!' ? 'blocked' : mark === '.' ? 'completed' : 'open',
      attempts: Number(attempts),
      maxAttempts: Number(most),
    }
  })
}

type How = Partial<Omit<Going, 'working' | 'begun' | 'asking'>> & { working?: string; begun?: string; asking?: string }

function planned(words: string, { working = '', begun = '', asking = '', ...more }: How = {}): string {
  const next = plan(tasksOf(...words.split(' ')), {
    slots: 1,
    working: new Set(working),
    begun: new Set(begun),
    asking: new Map([...asking].map((id) => [id, `Which ${id}?`])),
    ...more,
  })
  if (next.kind === 'start') return `start ${next.ids.join(' ')}`
  return next.kind === 'stop' ? `${next.reason}: ${next.sentence}` : 'wait'
}

const paused = { reason: 'paused', sentence: 'Paused.' } as const

describe('what starts', () => {
  test.each<[fact: string, tasks: string, how: How, next: string]>([
    ['the first of the list', 'A B', {}, 'start A'],
    ['as many as there are slots', 'A B C', { slots: 2 }, 'start A B'],
    ['as many as there are tasks', 'A B', { slots: 9 }, 'start A B'],
    ['nothing in a taken slot', 'A B C', { slots: 2, working: 'A' }, 'start B'],
    ['nothing when all slots are taken', 'A B', { working: 'A' }, 'wait'],
    ['nothing that waits for another', 'A<B B', { slots: 2 }, 'start B'],
    ['what waited for a completed task', 'A. B<A', {}, 'start B'],
    ['nothing blocked', 'A! B', {}, 'start B'],
    ['first what most others wait for', 'A B C<B D<C', {}, 'start B'],
    ['the longest chain counts, not the most tasks', 'A B<A C<A D<A E F<E G<F', {}, 'start E'],
    ['a chain of completed tasks counts for nothing', 'A B C.<B', {}, 'start A'],
    ['first of all what was started before', 'A B<A C', { begun: 'C' }, 'start C'],
    ['no more than there are turns', 'A B C', { slots: 3, turns: { most: 5, left: 2 } }, 'start A B'],
    ['nothing that waits for an answer', 'A B', { asking: 'A' }, 'start B'],
  ])('%s', (_, tasks, how, next) => {
    expect(planned(tasks, how)).toBe(next)
  })
})

describe('why nothing starts any longer', () => {
  test.each<[fact: string, tasks: string, how: How, next: string]>([
    ['the only task is completed', 'A.', {}, 'completed: The task is completed.'],
    ['all are completed', 'A. B.', {}, 'completed: All 2 tasks are completed.'],
    ['all attempts are used', 'A3/3 B', {}, 'max-attempts: A has used all 3 attempts and is not completed.'],
    ['the only attempt is used', 'A1/1 B', {}, 'max-attempts: A has used its only attempt and is not completed.'],
    ['all turns are used', 'A', { turns: { most: 4, left: 0 } }, 'max-iterations: Reached the limit of 4 iterations.'],
    ['the one turn is used', 'A', { turns: { most: 1, left: 0 } }, 'max-iterations: Reached the limit of 1 iteration.'],
    ['a loop stopped short', 'A', { halted: paused }, 'paused: Paused.'],
    ['somebody must answer', 'A B<A', { asking: 'A' }, 'needs-input: A needs an answer: Which A?'],
    [
      'all are blocked, or wait for one that is',
      'A! B<A C<B D!',
      {},
      'blocked: No task can continue: A is blocked; B depends on A, which is blocked; C depends on A, which is blocked; D is blocked.',
    ],
  ])('%s', (_, tasks, how, next) => {
    expect(planned(tasks, how)).toBe(next)
  })

  test.each<[fact: string, tasks: string, how: How, next: RegExp]>([
    ['completed beats paused', 'A.', { halted: paused }, /^completed/],
    ['completed beats turns', 'A.', { turns: { most: 1, left: 0 } }, /^completed/],
    ['paused beats attempts', 'A3/3', { halted: paused }, /^paused/],
    ['attempts beat turns', 'A3/3', { turns: { most: 3, left: 0 } }, /^max-attempts/],
    ['attempts of one task beat another that is ready', 'A3/3 B', { slots: 2 }, /^max-attempts/],
    ['a question beats a block', 'A! B', { asking: 'B' }, /^needs-input/],
    ['a block with attempts used is a block', 'A!3/3', {}, /^blocked/],
    ['a completed task may have used all its attempts', 'A.3/3 B', {}, /^start B/],
  ])('%s', (_, tasks, how, next) => {
    expect(planned(tasks, how)).toMatch(next)
  })
})

describe('what is running', () => {
  test.each<[fact: string, tasks: string, how: How, next: string]>([
    ['finishes before a pause', 'A B', { slots: 2, working: 'A', halted: paused }, 'wait'],
    ['finishes before the attempts of another end everything', 'A B3/3', { slots: 2, working: 'A' }, 'wait'],
    ['finishes before the turns run out', 'A B', { slots: 2, working: 'A', turns: { most: 1, left: 0 } }, 'wait'],
    ['finishes before a question is asked', 'A B', { slots: 2, working: 'A', asking: 'B' }, 'wait'],
    ['finishes before a block is reported', 'A B!', { slots: 2, working: 'A' }, 'wait'],
    ['may be at its last attempt', 'A3/3', { working: 'A' }, 'wait'],
    ['may have been started at its last attempt by another ralph', 'A3/3 B', { begun: 'A' }, 'start A'],
  ])('%s', (_, tasks, how, next) => {
    expect(planned(tasks, how)).toBe(next)
  })
})

test('ten thousand tasks in a chain are planned at once', () => {
  const tasks = Array.from({ length: 10_000 }, (_, index) => ({
    id: `T${index}`,
    dependsOn: index === 0 ? [] : [`T${index - 1}`],
    status: 'open' as const,
    attempts: 0,
    maxAttempts: 3,
  }))
  const begin = performance.now()
  const next = plan(tasks, { slots: 4, working: new Set(), begun: new Set(), asking: new Map() })
  expect(next).toEqual({ kind: 'start', ids: ['T0'] })
  expect(performance.now() - begin).toBeLessThan(1_000)
})

test.each([
  ['A B', 6],
  ['A1/3 B', 5],
  ['A. B', 3],
  ['A! B', 3],
  ['A5/3 B', 3],
])('%s may still take %i turns', (words, turns) => {
  expect(attemptsLeft(tasksOf(...words.split(' ')))).toBe(turns)
})

describe('a task', () => {
  const task = (attempts: number): PlannedTask => ({
    id: 'T1',
    dependsOn: [],
    status: 'open',
    attempts,
    maxAttempts: 3,
  })
  const stop = { reason: 'max-iterations', sentence: 'Reached the limit of 3 iterations.' } as const

  test('may be tried again until its attempts are used', () => {
    expect([0, 2, 3, 4].map((attempts) => mayTryAgain(task(attempts)))).toEqual([true, true, false, false])
  })

  test('that has used its attempts stops only itself', () => {
    expect(stopOf(task(3), stop)).toBeUndefined()
  })

  test.each([
    ['whose iterations were used up by the project', 2, stop],
    ['that halted for any other reason', 3, { reason: 'cost', sentence: 'Spent $2.00; the limit is $1.00.' }],
  ] as const)('%s stops the project', (_, attempts, halted) => {
    expect(stopOf(task(attempts), halted)).toEqual({ reason: halted.reason, sentence: `T1: ${halted.sentence}` })
  })
})

test.each([
  ['max-iterations', 'conflict'],
  ['no-progress', 'conflict'],
  ['same-error', 'conflict'],
  ['test-only', 'conflict'],
  ['cost', 'cost'],
  ['agent-unusable', 'agent-unusable'],
] as const)('a merge whose agent halted by %s stops the project by %s', (reason, stop) => {
  expect(mergeReason(reason)).toBe(stop)
})

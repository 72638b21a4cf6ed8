import { describe, expect, test } from 'vitest'
import { criticalPath, type GraphTask, graphProblem, readyTasks, whyStuck } from './graph.ts'

/** `A`, `B<A,C` depends on A and C, `A+` is completed, `A!` is blocked. */
function graph(text: string): GraphTask[] {
  return text
    .split(' ')
    .filter(Boolean)
    .map((task) => {
      const [name = '', others = ''] = task.split('<')
      const status = name.endsWith('+') ? 'completed' : name.endsWith('!') ? 'blocked' : 'open'
      return { id: name.replace(/[+!]$/, ''), dependsOn: others.split(',').filter(Boolean), status }
    })
}

describe('tasks that can be worked on', () => {
  test.each([
    ['', ''],
    ['A', 'A'],
    ['A B C', 'A B C'],
    ['C B A', 'C B A'],
    ['A B<A', 'A'],
    ['A+ B<A', 'B'],
    ['A+ B<A C<B', 'B'],
    ['A+ B C<A,B', 'B'],
    ['A+ B+ C<A,B', 'C'],
    ['A! B<A C', 'C'],
    ['A!', ''],
    ['A+ B+', ''],
    ['B<A A+', 'B'],
    ['B<A,A A+', 'B'],
    ['A<B B<A', ''],
    ['A<X B', 'B'],
  ])('of "%s" are "%s"', (text, ready) => {
    expect(
      readyTasks(graph(text))
        .map(({ id }) => id)
        .join(' '),
    ).toBe(ready)
  })

  test('keep their other fields', () => {
    const task = { id: 'A', dependsOn: [], status: 'open' as const, title: 'Begin' }
    expect(readyTasks([task])[0]).toBe(task)
  })
})

describe('a problem of a graph', () => {
  test.each<[text: string, problem: string | undefined]>([
    ['', undefined],
    ['A B<A C<A,B D<B,C', undefined],
    ['A+ B!<A', undefined],
    ['B<A A', undefined],
    ['A B A', 'two tasks have the id "A". Give each task its own id.'],
    ['A A<X', 'two tasks have the id "A". Give each task its own id.'],
    [
      'T1 T2 T3<T9',
      'task T3 depends on "T9", which is not in the list (T1, T2, T3). Fix the id, or remove the dependency.',
    ],
    ['A<A', 'these tasks form a dependency cycle: A → A. Remove one of the dependencies.'],
    ['A<B B<A', 'these tasks form a dependency cycle: A → B → A. Remove one of the dependencies.'],
    ['A B<A,D C<B D<C', 'these tasks form a dependency cycle: B → D → C → B. Remove one of the dependencies.'],
    ['A<B B<C C D<E E<D', 'these tasks form a dependency cycle: D → E → D. Remove one of the dependencies.'],
    ['A<B B<C C<B', 'these tasks form a dependency cycle: B → C → B. Remove one of the dependencies.'],
  ])('of "%s" is %s', (text, problem) => {
    expect(graphProblem(graph(text))).toBe(problem)
  })

  test('is the same each time', () => {
    const tasks = graph('A<B B<C,A C<A')
    expect(graphProblem(tasks)).toBe(graphProblem(tasks))
  })

  test('is found in a chain, a fan and a mesh of any size', () => {
    const started = performance.now()
    const ids = Array.from({ length: 20_000 }, (_, n) => `T${n}`)
    const open = { status: 'open' as const }
    const chain = ids.map((id, n) => ({ id, dependsOn: ids.slice(n + 1, n + 2), ...open }))
    const fan = ids.map((id, n) => ({ id, dependsOn: n === 0 ? ids.slice(1) : [], ...open }))
    const mesh = ids.slice(0, 500).map((id, n) => ({ id, dependsOn: ids.slice(n + 1, 500), ...open }))
    for (const tasks of [chain, fan, mesh]) expect(graphProblem(tasks)).toBeUndefined()
    const ring = [...chain.slice(0, -1), { id: 'T19999', dependsOn: ['T0'], ...open }]
    expect(graphProblem(ring)).toMatch(/^these tasks form a dependency cycle: T0 → T1 → T2/)
    expect(performance.now() - started).toBeLessThan(10_000)
  })

  test('is searched once below a task that many others wait for', () => {
    const ids = Array.from({ length: 3_000 }, (_, n) => `T${n}`)
    const open = { status: 'open' as const }
    const tasks = ids.map((id, n) => ({ id, dependsOn: n < 1_500 ? ids.slice(1_500) : [], ...open }))
    expect(graphProblem(tasks)).toBeUndefined()
  })
})

describe('the longest chain that waits for a task', () => {
  test.each([
    ['', ''],
    ['A', 'A1'],
    ['A B C', 'A1 B1 C1'],
    ['A B<A C<B', 'A3 B2 C1'],
    ['C<B B<A A', 'C1 B2 A3'],
    ['A+ B<A C<B', 'B2 C1'],
    ['A B<A C<A D<C', 'A3 B1 C2 D1'],
    ['A B C<A,B D<C E<B', 'A3 B3 C2 D1 E1'],
    ['A B<A,A', 'A2 B1'],
    ['A B+<A C<B', 'A1 C1'],
    ['A B!<A C<B', 'A3 B2 C1'],
    ['A<X', 'A1'],
    ['A<B B<A C<A', 'A2 B1 C1'],
  ])('in "%s" is "%s"', (text, lengths) => {
    expect([...criticalPath(graph(text))].map(([id, length]) => `${id}${length}`).join(' ')).toBe(lengths)
  })

  test('may be as long as the list', () => {
    const ids = Array.from({ length: 10_000 }, (_, n) => `T${n}`)
    const tasks = ids.map((id, n) => ({ id, dependsOn: ids.slice(n + 1, n + 2), status: 'open' as const }))
    const lengths = criticalPath(tasks)
    expect(lengths.size).toBe(10_000)
    expect([lengths.get('T0'), lengths.get('T9999')]).toEqual([1, 10_000])
  })
})

describe('why nothing continues', () => {
  test.each<[text: string, reasons: string[]]>([
    ['', []],
    ['A B<A', []],
    ['A!', ['A is blocked']],
    ['T2! T4<T2', ['T2 is blocked', 'T4 depends on T2, which is blocked']],
    ['A! B<A C<B D', ['A is blocked', 'B depends on A, which is blocked', 'C depends on A, which is blocked']],
    ['C<B B<A A!', ['C depends on A, which is blocked', 'B depends on A, which is blocked', 'A is blocked']],
    ['A! B! C<B,A', ['A is blocked', 'B is blocked', 'C depends on A, which is blocked']],
    ['A! B!<A', ['A is blocked', 'B is blocked']],
    ['A! B+<A C<B', ['A is blocked']],
    ['A<B B<A', []],
    ['A! B<A,C C<B', ['A is blocked', 'B depends on A, which is blocked', 'C depends on A, which is blocked']],
  ])('in "%s" is %j', (text, reasons) => {
    expect(whyStuck(graph(text))).toEqual(reasons)
  })

  test.each([
    [10, undefined],
    [11, 'and 1 more'],
    [10_000, 'and 9990 more'],
  ])('with %i reasons names ten', (size, last) => {
    const ids = Array.from({ length: size }, (_, n) => `T${n}`)
    const reasons = whyStuck(
      ids.map((id, n) => ({ id, dependsOn: ids.slice(n + 1, n + 2), status: id === ids.at(-1) ? 'blocked' : 'open' })),
    )
    expect(reasons[0]).toBe(`T0 depends on ${ids.at(-1)}, which is blocked`)
    expect(reasons[10]).toBe(last)
  })
})

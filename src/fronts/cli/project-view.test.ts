import { expect, test } from 'vitest'
import { type Finding, type Loop, startLoop } from '../../engine/loop.ts'
import { step } from '../../engine/step.ts'
import {
  checked,
  checkedByTests,
  checks,
  claims,
  cooling,
  type Happening,
  idles,
  isLimitedUntil,
  loopAfter,
  lost,
  START,
  times,
  unchecked,
} from '../../engine/stories.test-support.ts'
import type { Task } from '../../formats/tasks.ts'
import type { Executed } from '../../project/execute.ts'
import type { Project } from '../../project/folder.ts'
import type { ProjectRecord } from '../../project/record.ts'
import { bar, openProjectJsonView, openProjectView, type ProjectView } from './project-view.ts'
import { openScreen } from './screen.test-support.ts'

const project = { name: 'shop', folder: '/home/shop/.artefacts/shop' } as Project
const HOW = { agents: ['command:agent'], checks: [], slots: 2, permissions: 'bypass' } as const

function tasks(...statuses: Task['status'][]): Task[] {
  return statuses.map((status, n) => ({ id: `T${n + 1}`, title: `Task ${n + 1}`, status }) as Task)
}

const record = (...statuses: Task['status'][]) =>
  ({ iteration: 3, tasks: { tasks: tasks(...statuses) } }) as unknown as ProjectRecord

const stop = (reason: string, sentence: string, of: ProjectRecord) =>
  ({ stop: { reason, sentence }, iterations: 3, record: of }) as unknown as Executed

/** Plays the turns of one task. */
function work(view: ProjectView, task: string, start: Loop, ...story: Happening[]): void {
  let loop = start
  for (const happening of story) {
    view.show(task)({ kind: loop.next.kind === 'check' ? 'check-start' : 'turn-start' }, loop)
    const fact = typeof happening === 'function' ? happening(loop) : happening
    loop = step(loop, fact)
    view.saw(task, loop, fact)
  }
}

test('a project is shown line by line, from its tasks to the result', () => {
  const { context, printed } = openScreen()
  const view = openProjectView(context)
  view.begin(project, record('pending', 'completed'), { ...HOW, agents: [...HOW.agents], checks: [] })
  view.progress(record('in_progress', 'completed'), new Set(['T1']))
  work(
    view,
    'T1',
    loopAfter(checkedByTests),
    claims('clear', 'T1'),
    checks('fail'),
    claims('clear', 'T1'),
    checks('pass'),
  )
  view.note('T1', 'mind the gap')
  view.progress(record('completed', 'completed'), new Set())
  view.end(project, stop('completed', 'All tasks are completed.', record('completed', 'completed')))
  expect(printed()).toMatchInlineSnapshot(`
    "ralph project shop · agent command:agent · 2 tasks, 1 completed · up to 2 at a time
    No check: nothing proves the tasks without "verify". Add a check for all tasks with --verify "…".
      ✗  T1  claimed done; refused: npm test fails  0:00
      ✓  T1  claimed done; verified: npm test passes  0:00
      ·  T1  proof: verified. \`npm test\` failed before the loop began and passes now.
      !  T1  mind the gap
      ✓  T1  Task 1: completed (2/2)

    ✓ All tasks are completed.
      3 iterations, 0:00 · Details: .artefacts/shop/results.md
    "
  `)
})

test('a task shows its baseline and the files its proof depends on', () => {
  const { context, lines } = openScreen()
  const findings: Finding[] = [{ kind: 'tests-changed', path: 'a.test.js', words: 'the test was changed' }]
  work(
    openProjectView(context),
    'T1',
    startLoop('L1', checkedByTests, { at: START, tree: 'tree 0' }),
    checks('pass'),
    claims('clear'),
    checked([{ check: 'npm test', result: 'pass', tail: '' }], findings),
    { kind: 'proved', at: START, run: 'sealed', ran: [], why: 'there is no git' },
    { kind: 'proved', at: START, run: 'reversed', ran: [], why: 'there is no git' },
  )
  expect(lines().slice(0, 4)).toEqual([
    '  ·  T1  before: npm test passes, so it can only show that nothing broke',
    '  ·  T1  sealed: could not run: there is no git',
    '  ✓  T1  claimed done; npm test passes  0:00',
    '  !  T1  changed tests: a.test.js',
  ])
  expect(lines()[4]).toContain('  ·  T1  proof: altered. This loop changed a.test.js.')
})

test('an interruption is reported as costing no attempt, and a wait with its reason', () => {
  const { context, lines } = openScreen()
  const view = openProjectView(context)
  work(view, 'T1', loopAfter(unchecked), lost, isLimitedUntil(6))
  expect(lines()[0]).toBe('  ·  T1  was interrupted; this does not count as an attempt')
  expect(lines()[2]).toMatch(/^ {2}… {2}T1 {2}waiting until .* for the agent's limit to reset$/)
  work(view, 'T2', loopAfter(cooling()), ...times(3, idles))
  expect(lines().at(-1)).toMatch(/^ {2}… {2}T2 {2}3 iterations .* The breaker is open; one more try at \S+/)
})

test('a project that stopped says why', () => {
  const { context, lines } = openScreen()
  openProjectView(context).end(project, stop('timeout', 'Its time is over.', record('pending')))
  expect(lines()).toEqual([
    '✗ stopped (timeout). Its time is over.',
    '  3 iterations, 0:00 · Details: .artefacts/shop/results.md',
  ])
})

test.each<[statuses: Task['status'][], drawn: string]>([
  [[], '░'.repeat(24)],
  [['completed', 'pending'], `${'█'.repeat(12)}${'░'.repeat(12)}`],
  [
    ['completed', 'in_progress', 'blocked', 'pending'],
    `${'█'.repeat(6)}${'▓'.repeat(6)}${'▒'.repeat(6)}${'░'.repeat(6)}`,
  ],
  [['completed', 'completed', 'completed'], '█'.repeat(24)],
])('the bar for %j', (statuses, drawn) => {
  expect(bar(openScreen().context.out, tasks(...statuses))).toBe(drawn)
})

test('a program gets one JSON object per line, with the task id', () => {
  const { context, lines } = openScreen()
  const view = openProjectJsonView(context)
  view.begin(project, record('pending'), { ...HOW, agents: [...HOW.agents], checks: [] })
  work(view, 'T1', loopAfter(unchecked), claims('clear'))
  view.progress(record('completed'), new Set(['T1']))
  view.end(project, stop('completed', 'Done.', record('completed', 'pending')))
  expect(lines().map((line) => JSON.parse(line))).toMatchObject([
    { type: 'project-start', project: 'shop', parallel: 2, tasks: 1 },
    { type: 'iteration-start', task_id: 'T1', iteration: 1, attempt: 1 },
    { type: 'iteration-end', task_id: 'T1' },
    { type: 'project-progress', completed: 1, tasks: 1, working: ['T1'] },
    {
      type: 'project-end',
      reason: 'completed',
      completed: ['T1'],
      remaining: ['T2'],
      proofs: [{ task_id: 'T1', proof: 'claimed', proof_sentence: null, findings: [] }],
    },
  ])
})

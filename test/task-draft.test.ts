/** The task form: what is typed becomes fields, and only what differs is sent. */
import { expect, test } from 'vitest'
import type { BoardFields } from '../src/formats/board-task.ts'
import { changedMeanwhile, changesOf, type Draft, draftOf, fieldsOf, NEW, rebase } from '../web/task/draft.ts'

const full: BoardFields = {
  project_id: 'shop',
  title: 'Fix the login',
  description: 'Nobody gets in.\n',
  type: 'bug',
  labels: ['auth', 'backend'],
  status: 'in-progress',
  archived: false,
  use_ralph_wiggum: false,
  ralph_max_iterations: 0,
  ralph_completion_promise: 'DONE',
  stages: [{ name: 'TESTS_PASS', check: 'npm test' }, { name: 'DOCS' }],
  checks: ['npm test', 'npm run lint'],
  limits: { minutes: 30, cost_usd: 2.5, tokens: 1_000, no_progress: 3, same_error: 4, adaptive: true },
  agent: 'claude,command:./agent --list a,b',
  depends_on: ['one', 'two'],
  priority: -2,
  repo: '/srv/shop',
  worktree: true,
}

const typed = (change: Partial<Draft>, before: BoardFields = full) =>
  changesOf({ ...draftOf(before), ...change }, before)

test('every field survives the form', () => {
  expect(fieldsOf(draftOf(full))).toEqual(full)
  expect(fieldsOf(draftOf(NEW))).toEqual(NEW)
})

test.each<[story: string, change: Partial<Draft>, sent: object]>([
  ['nothing', {}, {}],
  ['a title', { title: ' Fix it ' }, { title: 'Fix it' }],
  ['the toggle', { use_ralph_wiggum: true }, { use_ralph_wiggum: true }],
  ['an emptied text is null', { description: ' ', repo: '', type: '' }, { description: null, repo: null, type: null }],
  [
    'an emptied number is the default',
    { ralph_max_iterations: '', priority: '' },
    { ralph_max_iterations: 10, priority: 0 },
  ],
  [
    'an emptied limit is none',
    { limits: { ...draftOf(NEW).limits, tokens: '5' } },
    { limits: { adaptive: true, tokens: 5 } },
  ],
  ['labels with commas', { labels: 'auth, , web ' }, { labels: ['auth', 'web'] }],
  [
    'empty rows are left out',
    { checks: ['', ' npm test '], stages: [{ name: '', check: '' }] },
    { checks: ['npm test'], stages: [] },
  ],
  ['no agent is auto', { agents: ['', ' '] }, { agent: 'auto' }],
  ['several agents in order', { agents: ['codex', 'claude'] }, { agent: 'codex,claude' }],
])('sends what differs: %s', (_, change, sent) => {
  expect(typed(change)).toEqual(sent)
})

test('a stage without a name is sent, so that the server can refuse it', () => {
  expect(typed({ stages: [{ name: ' ', check: 'npm test' }] })).toEqual({ stages: [{ name: '', check: 'npm test' }] })
})

test('a comma in the command line of an agent does not separate agents', () => {
  expect(draftOf({ ...NEW, agent: 'command:./agent --list a, 2,codex' }).agents).toEqual([
    'command:./agent --list a, 2',
    'codex',
  ])
})

test('what was typed stays when the task has changed meanwhile, and everything else is up to date', () => {
  const draft = { ...draftOf(full), title: 'Fix the login page' }
  const now: BoardFields = { ...full, title: 'Repair the login', priority: 5, checks: ['npm test'] }
  const rebased = rebase(draft, full, now)
  expect(changedMeanwhile(full, now)).toEqual(['title', 'priority', 'checks'])
  expect(changesOf(rebased, now)).toEqual({ title: 'Fix the login page' })
  expect(fieldsOf(rebased)).toEqual({ ...now, title: 'Fix the login page' })
})

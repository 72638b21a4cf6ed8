import { expect, test } from 'vitest'
import { type Briefing, printBriefing } from './briefing.ts'

const QUIET: Briefing = {
  vault: '/Vault',
  since: '2026-01-15T10:00:00Z',
  until: '2026-01-16T10:00:00Z',
  completed: [],
  stuck: [],
  stuck_before: 0,
  waiting: [],
  in_progress: [],
  new: [],
  next_actions: [],
  spent: { iterations: 0, working_seconds: 0, tokens: null, cost_usd: null, tasks_without_cost: 0 },
}

const BUSY: Briefing = {
  ...QUIET,
  completed: [
    {
      task_id: 'invoice',
      loop_id: 'a1',
      completed_at: '2026-01-15T12:00:00Z',
      iterations: 3,
      working_seconds: 3_725,
      proof: 'verified',
      proof_sentence: '`npm test` failed before.',
      findings: [{ kind: 'tests-added', path: 'a.test.ts', words: 'is new' }],
      cost_usd: 0.42,
    },
    {
      task_id: 'letter',
      loop_id: 'a2',
      completed_at: '2026-01-15T13:00:00Z',
      iterations: 1,
      working_seconds: 12.5,
      proof: 'claimed',
      proof_sentence: 'There is no check.',
      findings: [],
      cost_usd: null,
    },
  ],
  stuck: [
    {
      task_id: 'tax',
      loop_id: 'a3',
      status: 'max_iterations_reached',
      stopped_at: '2026-01-15T14:00:00Z',
      why: 'Reached the limit of 10 iterations.',
      file: 'Needs_Action/tax.md',
      advice: 'To try it again:',
      command: 'ralph task start --vault /Vault Needs_Action/tax.md',
    },
    {
      task_id: 'gone',
      loop_id: 'a4',
      status: 'failed',
      stopped_at: '2026-01-15T14:00:00Z',
      why: 'Cancelled by you.',
      file: null,
      advice: 'Put it back.',
      command: null,
    },
  ],
  stuck_before: 2,
  waiting: [
    {
      task_id: 'offer',
      loop_id: 'a5',
      question: 'May it go out?',
      since: '2026-01-16T08:00:00Z',
      approve: 'ralph task approve offer',
      reject: 'ralph task reject offer',
    },
  ],
  in_progress: [
    {
      task_id: 'site',
      loop_id: 'a6',
      iteration: 2,
      max_iterations: 10,
      timeout_at: '2026-01-16T10:20:00Z',
      percentage: 40,
      current_step: 'Writing sections',
    },
    {
      task_id: 'book',
      loop_id: 'a7',
      iteration: 0,
      max_iterations: 1,
      timeout_at: '2026-01-16T10:20:00Z',
      percentage: null,
      current_step: '',
    },
  ],
  new: [{ file: 'call.md', since: '2026-01-16T09:00:00Z' }],
  spent: { iterations: 6, working_seconds: 4_000, tokens: 12_345, cost_usd: 0.42, tasks_without_cost: 2 },
  next_actions: [
    { text: 'Approve or reject offer:', command: 'ralph task approve offer' },
    { text: 'Rest.', command: null },
  ],
}

test('shows everything, most important first, each task once', () => {
  expect(printBriefing(BUSY)).toBe(`# Briefing: 2026-01-15 10:00 UTC to 2026-01-16 10:00 UTC

Vault: \`/Vault\`.

## Completed: 2

| task | iterations | time | proof | cost |
|---|--:|--:|---|--:|
| invoice | 3 | 1 h 2 min | verified | $0.42 |
| letter | 1 | 13 s | claimed | unknown |

- **invoice**: \\\`npm test\\\` failed before.
  - added tests: a.test.ts

Verified: a check that failed before passes now. Claimed: the file is in the done folder; there was no check.

## Stuck: 2

- **tax** (max iterations reached): Reached the limit of 10 iterations. Its file: \`Needs_Action/tax.md\`. To try it again: \`ralph task start --vault /Vault Needs_Action/tax.md\`
- **gone** (failed): Cancelled by you. Its file is no longer in the vault. Put it back.

Already stuck before: 2 tasks.

## Waiting for approval

- **offer**, since 2026-01-16 08:00 UTC: May it go out?
  - yes: \`ralph task approve offer\`
  - no: \`ralph task reject offer\`

## In progress

- **site**, iteration 2 of 10, 40%, times out at 2026-01-16 10:20 UTC: Writing sections
- **book**, not started, times out at 2026-01-16 10:20 UTC

## New in Needs_Action

- **call.md**, since 2026-01-16 09:00 UTC

## Time and cost

- Working time: 1 h 6 min
- Iterations: 6
- Tokens: 12,345
- Cost: $0.42; unknown for 2 tasks

## Next actions

1. Approve or reject offer: \`ralph task approve offer\`
2. Rest.
`)
})

test('is friendly about a vault in which nothing happened', () => {
  expect(printBriefing(QUIET)).toBe(`# Briefing: 2026-01-15 10:00 UTC to 2026-01-16 10:00 UTC

Vault: \`/Vault\`. Nothing was done in this time, and nothing is waiting. Any text file in Needs_Action is a task.

## Next actions

Nothing to do.
`)
})

test('unknown is not taken for zero', () => {
  const spent = { iterations: 2, working_seconds: 5, tokens: null, cost_usd: null, tasks_without_cost: 1 }
  expect(printBriefing({ ...QUIET, spent })).toContain('- Tokens: unknown\n- Cost: unknown\n')
  expect(printBriefing({ ...QUIET, spent: { ...spent, cost_usd: 0, tokens: 1 } })).toContain('- Cost: $0.00;')
})

test("shows what is known about another ralph's tasks, and refused files as such", () => {
  const [done, stuck] = [BUSY.completed[0], BUSY.stuck[0]]
  if (!done || !stuck) throw new Error('The sample has one of each.')
  const text = printBriefing({
    ...QUIET,
    completed: [{ ...done, loop_id: null, proof: null, cost_usd: null }],
    stuck: [{ ...stuck, loop_id: null, status: 'refused' }],
  })
  expect(text).toContain('| invoice | 3 | 1 h 2 min | unknown | unknown |')
  expect(text).toContain('- **tax** (refused): Reached the limit of 10')
  expect(text).not.toContain('Nothing was done')
})

test('foreign text never becomes structure', () => {
  const evil = 'a | b\n# <img src=x> `c` **d** [e](f)'
  const [done, stuck, waiting, working] = [BUSY.completed[0], BUSY.stuck[0], BUSY.waiting[0], BUSY.in_progress[0]]
  if (!done || !stuck || !waiting || !working) throw new Error('The sample has one of each.')
  const text = printBriefing({
    ...QUIET,
    completed: [{ ...done, task_id: evil }],
    stuck: [{ ...stuck, task_id: evil, why: evil, file: evil, advice: evil, command: evil }],
    waiting: [{ ...waiting, task_id: evil, question: evil, approve: evil, reject: evil }],
    in_progress: [{ ...working, task_id: evil, current_step: evil }],
    new: [{ file: evil, since: QUIET.since }],
    next_actions: [{ text: evil, command: evil }],
  })
  const prose = text.replace(/(`+)[^`].*?(?<!`)\1(?!`)/g, '')
  expect(prose).not.toMatch(/(?<!\\)<img|(?<!\\)\[e|^# <|(?<!\\)`c/m)
  expect(text.match(/^#+ .*/gm)).toEqual([
    ...['# Briefing: 2026-01-15 10:00 UTC to 2026-01-16 10:00 UTC', '## Completed: 1', '## Stuck: 1'],
    ...['## Waiting for approval', '## In progress', '## New in Needs_Action', '## Next actions'],
  ])
  const row = text.split('\n').find((line) => line.startsWith('| a')) ?? ''
  expect(row.split(/(?<!\\)\|/)).toHaveLength(7)
})

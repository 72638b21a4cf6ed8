import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { printResults, type Results } from './results.ts'
import type { Task } from './tasks.ts'

const NOTHING: Results = {
  project: 'shop',
  reason: 'completed',
  sentence: 'All tasks are completed.',
  tasks: [],
  entries: [],
  obstacles: [],
  failing: [],
  commits: [],
  files: [],
  proofs: [],
  iterations: 0,
  tokens: 0,
  costUsd: 0,
  elapsedMs: 0,
  at: Date.UTC(2026, 0, 2, 3, 4, 5),
  next: [],
}

test('counts one line as one', () => {
  const text = printResults({ ...NOTHING, files: [{ path: 'a', added: 1, removed: 0 }] })
  expect(text).toContain('## Files: 1 changed, 1 line added, 0 removed')
})

function task(id: string, more: Partial<Task> = {}): Task {
  const title = `Title of ${id}`
  return {
    id,
    title,
    description: '',
    status: 'pending',
    dependencies: [],
    attempts: 0,
    max_attempts: 3,
    blocked: false,
    ...more,
  } as Task
}

function entry(task_id: string, summary: string): Results['entries'][number] {
  return { iteration: 1, task_id, status: 'attempted', summary, files_modified: [], obstacles: [] }
}

/** What stands under a heading. */
function section(results: Partial<Results>, heading: string): string {
  const [, ...sections] = printResults({ ...NOTHING, ...results }).split(/^## /m)
  return sections.find((text) => text.startsWith(heading))?.trim() ?? ''
}

test('the whole page of a project that stopped short', () => {
  const page = printResults({
    ...NOTHING,
    reason: 'max-attempts',
    sentence: 'T3 was tried 3 times, and its check still fails: npm test.',
    tasks: [
      task('T1', { status: 'completed', attempts: 1 }),
      task('T2', { status: 'completed', attempts: 2 }),
      task('T3', { attempts: 3, dependencies: ['T1'] }),
      task('T4', { dependencies: ['T1', 'T3'] }),
      task('T5', { blocked: true, status: 'blocked', attempts: 1 }),
    ],
    entries: [
      entry('T1', 'First try.'),
      entry('T1', 'Made the skeleton.'),
      entry('T3', 'Half of it works.'),
      entry('T1', ' '),
    ],
    obstacles: [
      { id: 'O1', task_id: 'T3', message: 'No network.', resolved: false, iteration: 3 },
      { id: '', task_id: '', message: 'Old Node.', resolved: true, iteration: 0 },
    ],
    commits: [
      { id: 'abc1234', subject: 'T1: Title of T1' },
      { id: 'def5678', subject: 'T2: Title of T2' },
    ],
    files: [
      { path: 'src/a.ts', added: 10, removed: 2 },
      { path: 'logo.png', added: undefined, removed: undefined },
    ],
    proofs: [
      { task_id: 'T1', proof: 'verified', proof_sentence: '`npm test` failed before.', findings: [] },
      { task_id: 'T2', proof: 'claimed', proof_sentence: null, findings: [] },
    ],
    iterations: 6,
    tokens: 1_234_567,
    costUsd: 1.5,
    elapsedMs: 3_725_000,
    next: ['Look at T3: `ralph show k3f`.', 'Then continue: `ralph execute shop`.'],
  })
  expect(page).toBe(`# Results of shop

**Stopped: max-attempts.** T3 was tried 3 times, and its check still fails: npm test.

Written 2026-01-02T03:04:05.000Z.

## Done: 2 of 5

- **T1: Title of T1** (verified): Made the skeleton.
  - \\\`npm test\\\` failed before.
- **T2: Title of T2** (claimed)

Verified: a check that failed before passes now. Claimed: there was no check; only the agent says so.

## What remains

- **T3: Title of T3** (3 of 3 attempts used): Half of it works.
- **T4: Title of T4** (not tried yet; waiting for T3)
- **T5: Title of T5** (blocked; 1 of 3 attempts used)

## Commits

- \`abc1234\` T1: Title of T1
- \`def5678\` T2: Title of T2

## Files: 2 changed, 10 lines added, 2 removed

| file | added | removed |
|---|--:|--:|
| \`src/a.ts\` | 10 | 2 |
| \`logo.png\` | - | - |

## Open obstacles

- **O1** (task T3, iteration 3) No network.

## Resolved obstacles

- Old Node.

## Cost and time

- Iterations: 6
- Time: 1 h 2 min
- Tokens: 1,234,567
- Cost: $1.50

## What to do next

- Look at T3: \`ralph show k3f\`.
- Then continue: \`ralph execute shop\`.
`)
})

test('a task whose proof depends on changed tests names them first', () => {
  const tasks = [task('T1', { status: 'completed' })]
  const findings = [{ kind: 'tests-changed' as const, path: 'a.test.ts', words: 'the test was changed' }]
  const proofs = [{ task_id: 'T1', proof: 'altered' as const, proof_sentence: 'They pass only so.', findings }]
  expect(section({ tasks, proofs }, 'Done')).toContain(`- **T1: Title of T1** (altered: a.test.ts)
  - changed tests: a.test.ts
  - They pass only so.`)
})

describe('a page', () => {
  test('about nothing says so', () => {
    expect(printResults(NOTHING)).toBe(
      '# Results of shop\n\n**Completed.** All tasks are completed.\n\nWritten 2026-01-02T03:04:05.000Z.\n\n## Done: 0 of 0\n\nNo task is completed.\n\n## Commits\n\nNone.\n\n## Cost and time\n\n- Iterations: 0\n- Time: 0 s\n- Tokens: not reported\n- Cost: not reported\n',
    )
  })

  test('without git does not pretend that nothing changed', () => {
    const results = { commits: undefined, files: undefined }
    expect(section(results, 'Commits')).toContain('not a git repository')
    expect(section(results, 'Files')).toBe('')
  })

  test('names two hundred files and commits', () => {
    const files = Array.from({ length: 203 }, (_, n) => ({ path: `f${n}`, added: 1, removed: 0 }))
    const commits = files.map(({ path }) => ({ id: path, subject: 's' }))
    const named = section({ files, commits }, 'Files')
    expect(named).toMatch(/^Files: 203 changed, 203 lines added, 0 removed/)
    expect(named).toContain('| `f199` |')
    expect(named).not.toContain('f200')
    expect(named).toMatch(/\nand 3 more\.$/)
    const made = section({ files, commits }, 'Commits')
    expect(made).toContain('3 earlier ones')
    expect(made).not.toContain('`f2`')
    expect(made).toMatch(/`f202` s$/)
  })

  test.each([
    [400, '0 s'],
    [59_000, '59 s'],
    [61_000, '1 min 1 s'],
    [86_400_000, '24 h 0 min'],
  ])('says %i ms as %s', (elapsedMs, words) => {
    expect(section({ elapsedMs }, 'Cost')).toContain(`Time: ${words}\n`)
  })

  test('shows small amounts as small', () => {
    expect(section({ costUsd: 0.0000001 }, 'Cost')).toContain('Cost: less than $0.01')
  })

  test('keeps its structure whatever agents write', () => {
    const shape = (text: string) =>
      printResults({
        ...NOTHING,
        reason: 'halted',
        sentence: `It stopped: ${text}`,
        tasks: [task('T1', { title: `t${text}`, status: 'completed' }), task('T2', { title: `t${text}` })],
        entries: [entry('T1', `s${text}`), entry('T2', `s${text}`)],
        obstacles: [{ id: `O${text}`, task_id: `T${text}`, message: `m${text}`, resolved: false, iteration: 1 }],
        commits: [{ id: 'abc', subject: text }],
        files: [{ path: text, added: 1, removed: 1 }],
      })
        .split('\n')
        .map((line) => [line === '', /^(?:#+ |\| ?|- |> |```|\d+\. )?/.exec(line)?.[0], unescaped(line)])
    const calm = shape('x')
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('\n# x', '```', '|||', '<!--', '\n---\n')),
        (text) => {
          expect(shape(text)).toEqual(calm)
        },
      ),
    )
  })
})

/** The bars of a table row that divide cells. */
function unescaped(line: string): number {
  return line.startsWith('|') ? (line.match(/(?<!\\)\|/g) ?? []).length : 0
}

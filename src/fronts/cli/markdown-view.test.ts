import { describe, expect, test } from 'vitest'
import { type Loop, statusOf } from '../../engine/loop.ts'
import { checks, claims, loopAfter, MINUTE, START, specOf } from '../../engine/stories.test-support.ts'
import type { FoundProof } from '../../operations/get-proof.ts'
import type { Iteration } from '../../operations/iteration-view.ts'
import { standingOf } from '../../operations/standing.ts'
import type { LoopSummary } from '../../operations/summarize-loop.ts'
import { printMarkdown } from './markdown-view.ts'

const check = 'npm test'
const tree = 'abcdef0123456789abcdef0123456789abcdef01'

function iteration(n: number, change: Partial<Iteration> = {}): Iteration {
  return {
    ...{
      n,
      attempts: 1,
      startedAt: START,
      endedAt: START + n * MINUTE,
      durationMs: MINUTE,
      agent: 'claude',
      end: 'ok',
    },
    ...{
      claim: 'clear',
      form: undefined,
      stage: undefined,
      ask: undefined,
      changed: true,
      diff: { files: 1, added: 3, removed: 1 },
    },
    ...{
      tokens: 5,
      usage: undefined,
      costUsd: 0.25,
      costSource: 'reported',
      words: 'Done.',
      findings: [],
      reports: [],
    },
    verdicts: [{ check, result: 'pass', tail: '' }],
    ...change,
  }
}

const failed = { check, result: 'fail' as const, failures: 2, tail: 'expected 1\nbut got 2\n' }

const loop = loopAfter(
  specOf({ prompt: 'Make the tests pass', checks: [check] }),
  checks('fail', 2),
  claims('clear'),
  checks('fail', 2),
  claims('clear'),
  checks('pass'),
)

function summaryOf(change: { loop?: Loop; last?: Iteration[]; proof?: Partial<FoundProof> } = {}): LoopSummary {
  const { loop: shown = loop, last = [iteration(1, { verdicts: [failed] }), iteration(2)] } = change
  const standing = standingOf(shown)
  const proof: FoundProof = {
    ...{ loop: shown.id, status: statusOf(shown), grade: 'verified', experiments: 'full', dir: '/shop', iterations: 2 },
    sentence: '`npm test` failed before the loop began and passes now.',
    seen: { tree },
    checks: [{ check, before: { check, result: 'fail', failures: 2 }, after: { check, result: 'pass', tests: 3 } }],
    ...{ findings: [], allowed: [], flaky: [] },
    ...change.proof,
  }
  return {
    loop: shown,
    status: statusOf(shown),
    standing,
    breaker: 'closed',
    unattended: false,
    last,
    proof,
  } as LoopSummary
}

test('a summary has the grade, checks, iterations, how to repeat the proof, and what failed', () => {
  expect(printMarkdown(summaryOf())).toBe(`## Make the tests pass

**proof: verified** · 2 iterations · 2:00 · \`claude\`

\`npm test\` failed before the loop began and passes now.

| check | before | now |
| --- | --- | --- |
| \`npm test\` | fails (2 failures) | passes (3 tests) |

| iteration | outcome | changed | time | cost |
| --- | --- | --- | --- | --- |
| 1 ✗ | claimed done; refused: npm test fails (2 failures): but got 2 | +3 −1 | 1:00 | $0.25 |
| 2 ✓ | claimed done; verified: npm test passes | +3 −1 | 1:00 | $0.25 |

Repeat the proof where the loop ran: \`ralph proof ${loop.id} --again\`

<details><summary>Iteration 1: <code>npm test fails (2 failures)</code></summary>

\`\`\`text
expected 1
but got 2
\`\`\`

</details>
`)
})

test('a loop that is not done shows its status', () => {
  const open = loopAfter(specOf({ prompt: 'Build it' }))
  const text = printMarkdown(summaryOf({ loop: open, last: [], proof: { checks: [] } }))
  expect(text).toBe(`## Build it

**running** · 0 iterations

running after 0 iterations in ${open.spec.work.dir}.

No check: nothing proves the agent's claim.
`)
})

test('findings are listed', () => {
  const findings = [{ kind: 'tests-changed' as const, path: 'a_test.js', words: 'was changed' }]
  expect(printMarkdown(summaryOf({ proof: { findings } }))).toContain('ralph noticed:\n\n- changed tests: a_test.js\n')
})

describe('text from agents stays plain text', () => {
  const words = 'Done @alice <img src=x> **bold** | [x](https://evil.org) fixes #12\n\n# Heading'

  test('in a row', () => {
    const last = [iteration(1, { end: 'failed', words, verdicts: [] }), iteration(2)]
    const row = printMarkdown(summaryOf({ last }))
      .split('\n')
      .find((line) => line.startsWith('| 1 !'))
    expect(row).toBe(
      '| 1 ! | failed: Done @&#8203;alice \\<img src=x> \\*\\*bold\\*\\* \\| \\[x\\](https:&#8203;//evil.org) fixes #&#8203;12 # Heading | +3 −1 | 1:00 | $0.25 |',
    )
  })

  test('in the title', () => {
    const named = loopAfter(specOf({ prompt: '# @alice\n</summary>\n\n<script>' }))
    expect(printMarkdown(summaryOf({ loop: named })).split('\n')[0]).toBe(
      '## \\# @&#8203;alice \\</summary> \\<script>',
    )
  })

  test('in the output of a check', () => {
    const tail = '```\n</details>\n@alice\u001b[31m\n'
    const verdict = { check: 'sh -c "</code></summary>\n\n@bob"', result: 'fail' as const, tail }
    const text = printMarkdown(summaryOf({ last: [iteration(1, { verdicts: [verdict] })] }))
    expect(
      text,
    ).toContain(`<details><summary>Iteration 1: <code>sh -c &#34;&#60;/code&#62;&#60;/summary&#62; @bob&#34; fails</code></summary>

\`\`\`\`text
\`\`\`
</details>
@alice
\`\`\`\`
`)
  })
})

describe('the length limit of a description', () => {
  test.each([
    ['letters', 'x'],
    ['mentions', '@'],
    ['wide letters', '漢'],
    ['pictures', '🦉'],
    ['backticks', '`'],
  ])('a description with many %s is cut and says so', (_, letter) => {
    const long = letter.repeat(5_000)
    const verdicts = Array.from({ length: 20 }, () => ({ check: long, result: 'fail' as const, tail: long }))
    const last = Array.from({ length: 60 }, (_, at) => iteration(at + 101, { words: long, end: 'failed', verdicts }))
    const text = printMarkdown(
      summaryOf({
        last,
        proof: {
          sentence: long,
          checks: Array.from({ length: 300 }, () => ({ check: long })),
          findings: Array.from({ length: 300 }, () => ({ kind: 'noted' as const, path: '', words: long })),
        },
      }),
    )
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(60_000)
    const notes = text.match(/^(?:The first|\d+ more|- and|Repeat|\| 160 ).{0,20}/gm) ?? []
    expect(notes).toEqual([
      expect.stringMatching(/^\d+ more checks did not fit/),
      expect.stringMatching(/^\| 160 /),
      expect.stringMatching(/^The first \d+ iteration/),
      expect.stringMatching(/^Repeat the proof where/),
      expect.stringMatching(/^- and \d+ more/),
      expect.stringMatching(/^\d+ more parts? did not fit/),
    ])
  })

  test('outputs that do not fit are counted', () => {
    const verdicts = [{ check, result: 'fail' as const, tail: '漢'.repeat(4_000) }]
    const text = printMarkdown(
      summaryOf({ last: Array.from({ length: 12 }, (_, at) => iteration(at + 1, { verdicts })) }),
    )
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(60_000)
    expect(text.endsWith(`6 more parts did not fit. \`ralph show ${loop.id}\` shows everything.\n`)).toBe(true)
  })
})

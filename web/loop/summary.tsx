/** What the agent said, why that was not enough, and what the checks printed. */
import { ofLoop, useQuery } from '../data/query.ts'
import type { OutputOf } from '../data/source.ts'
import { Copy, Loading, Problem, Sentence } from '../parts/common.tsx'
import { harmless } from '../words.ts'
import type { Chosen } from './iteration.tsx'
import { Now } from './now.tsx'

type Row = NonNullable<OutputOf<'get_iteration'>['row']>

export function SummaryTab({ found, n, row: brief }: Chosen) {
  const { id } = found.loop
  // The running one is included: its end must not be missed.
  const canChange = found.loop.tally.iteration <= n
  const { value, error, refresh } = useQuery(
    'get_iteration',
    { loop: id, iteration: n },
    canChange ? ofLoop(id) : undefined,
  )
  if (!brief) return <Now loop={id} n={n} />
  if (error && !value) return <Problem error={error} retry={refresh} />
  const row = value?.row
  if (!row) return <Loading />
  return (
    <div class="summary">
      <Why row={row} found={found} n={n} />
      <section>
        <h3>What the agent said last</h3>
        <pre class="said-text" dir="auto">
          {row.words || 'Nothing.'}
        </pre>
      </section>
      {row.reports.length > 0 && (
        <section>
          <h3>What it reported</h3>
          <ul class="paths">
            {row.reports.map((report) => (
              <li key={report.at}>{reportWords(report)}</li>
            ))}
          </ul>
        </section>
      )}
      {row.findings.length > 0 && (
        <section>
          <h3>What happened to the tests</h3>
          <ul class="paths">
            {row.findings.map(({ path, words, kind }) => (
              <li key={kind + path}>
                <span class="finding">◆</span> <code>{path}</code> {words}
              </li>
            ))}
          </ul>
        </section>
      )}
      {row.verdicts.map((verdict) => (
        <Verdict key={verdict.check} verdict={verdict} />
      ))}
    </div>
  )
}

function Why({ row, found, n }: { row: Row; found: Chosen['found']; n: number }) {
  const { next, tally } = found.loop
  if (next.kind === 'complete' && tally.iteration === n)
    return (
      <p class="callout green">
        <strong>Why it is done:</strong> <Sentence text={next.sentence} />
      </p>
    )
  return (
    <p class="callout amber">
      <strong>Why it was not done:</strong> {whyNot(row)}
    </p>
  )
}

function whyNot(row: Row): string {
  if (row.end !== 'ok') return `the turn did not end well (${row.end.replaceAll('-', ' ')}).`
  if (row.refused) return `the agent claimed done. ${sentence(row.refused)} Sent back as feedback.`
  const failing = row.verdicts.filter(({ result }) => result !== 'pass')
  if (failing.length > 0)
    return `${failing.map(({ check }) => check).join(', ')} still ${failing.length === 1 ? 'fails' : 'fail'}.`
  return row.claim === 'none'
    ? 'the agent did not claim to be done.'
    : 'the claim was not clear enough; the agent was asked again.'
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
}

function reportWords(report: Row['reports'][number]): string {
  if (report.kind === 'blocked') return `Blocked: ${report.reason}`
  if (report.kind === 'question') return `Question: ${report.question}`
  return `Stage ${report.stage ?? ''}: ${report.evidence}`
}

function Verdict({ verdict }: { verdict: Row['verdicts'][number] }) {
  const { check, result, failures, tail } = verdict
  const isGood = result === 'pass'
  const text = harmless(tail)
  return (
    <section>
      <h3 class="verdict">
        <span class={`cell ${isGood ? 'green' : 'red'}`}>{isGood ? '✓' : '✗'}</span> <code>{check}</code>{' '}
        <span class="muted">
          {isGood ? 'passes' : result === 'broken' ? 'could not start' : result === 'timeout' ? 'timed out' : 'fails'}
          {failures ? `, ${failures} ${failures === 1 ? 'failure' : 'failures'}` : ''}
        </span>
        {!isGood && <Copy words="Copy as prompt" text={() => asPrompt(check, text)} />}
      </h3>
      {text.trim() && (
        <details open={!isGood}>
          <summary>Output</summary>
          <pre class="output" tabIndex={0}>
            {text}
          </pre>
        </details>
      )}
    </section>
  )
}

function asPrompt(check: string, output: string): string {
  return `The check \`${check}\` fails. Find the cause and fix it; do not change the tests.\n\nIts output:\n\n${output.trim()}\n`
}

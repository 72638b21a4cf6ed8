/** What the grade is based on: each check before and after, and in every experiment. */
import { GRADE_WORDS, gradeBadge } from '../badge.ts'
import { ofLoop, useQuery } from '../data/query.ts'
import type { OutputOf } from '../data/source.ts'
import { BadgeView, Code, Loading, Problem } from '../parts/common.tsx'
import { capital } from '../words.ts'

type Proof = OutputOf<'get_proof'>
type Tried = NonNullable<Proof['checks'][number]['sealed']>

const COLUMNS = [
  { field: 'before', words: 'Before', why: 'before any work' },
  { field: 'after', words: 'After', why: 'on the work as it is' },
  { field: 'sealed', words: 'Sealed', why: 'the work with the original tests' },
  { field: 'reversed', words: 'Reversed', why: 'the tests without the work' },
  { field: 'control', words: 'Control', why: 'everything unchanged, where the experiments run' },
] as const

export function ProofTab({ id }: { id: string }) {
  const { value, error, refresh } = useQuery('get_proof', { loop: id }, ofLoop(id))
  if (error && !value) return <Problem error={error} retry={refresh} />
  if (!value) return <Loading />
  const columns = COLUMNS.filter(({ field }) => value.checks.some((check) => check[field]))
  return (
    <div class="proof">
      <p class="row">
        {value.grade && <BadgeView badge={gradeBadge(value.grade)} />}
        <span class="grow">{capital(value.sentence)}</span>
      </p>
      {value.grade && <p class="muted">{GRADE_WORDS[value.grade]}</p>}
      {value.advice && <p class="callout blue">{value.advice}</p>}
      {value.checks.length > 0 ? (
        <div class="scroll" tabIndex={0} role="group" aria-label="Checks and experiments, scrollable">
          <table class="lines">
            <thead>
              <tr>
                <th scope="col">Check</th>
                {columns.map(({ field, words, why }) => (
                  <th key={field} scope="col" title={why}>
                    {words}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {value.checks.map((check) => (
                <tr key={check.check}>
                  <th scope="row">
                    <code>{check.check}</code>
                  </th>
                  {columns.map(({ field }) => (
                    <td key={field}>{triedWords(check[field])}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      ) : (
        <p class="muted">There is no check, so nothing proves the work.</p>
      )}
      <Rest proof={value} />
      <p class="row">
        <span class="muted">Repeat it on these files in a clean copy:</span> <Code>{`ralph proof ${id} --again`}</Code>
      </p>
    </div>
  )
}

function Rest({ proof }: { proof: Proof }) {
  const { findings, allowed, flaky, seen, start, require, stale } = proof
  return (
    <>
      {findings.length > 0 && (
        <section>
          <h3>What happened to tests and configuration</h3>
          <ul class="paths">
            {findings.map(({ path, words, kind }) => (
              <li key={kind + path}>
                <span class="finding">◆</span> <code>{path}</code> {words}
              </li>
            ))}
          </ul>
        </section>
      )}
      <dl class="pairs">
        {allowed.length > 0 && (
          <Pair name="Allowed" value={allowed.map(({ path, by }) => `${path} (by ${by})`).join(', ')} />
        )}
        {flaky.length > 0 && <Pair name="Flaky" value={flaky.join(', ')} />}
        {require && <Pair name="Required" value={require} />}
        {start && <Pair name="Start" value={start.commit ?? start.tree} />}
        {seen && <Pair name="Checked files" value={`${seen.commit ?? seen.tree}${stale ? ' (changed since)' : ''}`} />}
      </dl>
    </>
  )
}

function Pair({ name, value }: { name: string; value: string }) {
  return (
    <>
      <dt>{name}</dt>
      <dd class="mono">{value}</dd>
    </>
  )
}

function triedWords(tried: Tried | undefined) {
  if (!tried) return <span class="muted">–</span>
  if ('why' in tried) return <span class="muted">not tried: {tried.why}</span>
  const { result, failures, red } = tried
  const word =
    result === 'pass' ? 'passes' : result === 'fail' ? 'fails' : result === 'broken' ? 'cannot start' : 'times out'
  return (
    <span class={result === 'pass' ? 'good' : 'bad'}>
      {result === 'pass' ? '✓' : '✗'} {word}
      {failures ? ` (${failures})` : ''}
      {red === 'load' ? ', cannot be loaded' : ''}
    </span>
  )
}

/** A proof as a person reads it: a row a check, the sentence, what ralph noticed, and what would be better. */
import { findingSentence } from '../../engine/feedback.ts'
import type { Ran, Run } from '../../engine/loop.ts'
import type { Files, FoundProof, ProvenCheck, Tried } from '../../operations/get-proof.ts'
import { isGitTree } from '../../operations/statement.ts'
import { runWords } from './story.ts'
import { count, type Output, paint, short, table } from './text.ts'

export function printProof(proof: FoundProof, output: Output): string {
  const { loop, grade, older, require, checks, sentence, advice } = proof
  const head = `loop ${loop} · ${grade ? `proof: ${grade}${older ? ', graded by an older ralph' : ''}` : 'no grade yet'}`
  return [
    `${head}${require ? ` · required: ${require}` : ''}\n`,
    checks.length > 0 ? checkTable(proof, output) : 'No check: the agent is taken at its word.\n',
    `${sentence}\n`,
    [
      ...proof.findings.map(
        (one) => `  ${paint(output, 'yellow', '!')} ralph noticed: ${short(findingSentence(one), 300)}\n`,
      ),
      ...proof.allowed.map(({ path, by }) => `  ${path} may stay as it is: allowed by ${by}\n`),
      ...reasons(proof).map((line) => `  ${line}\n`),
      ...fileLines(proof).map((line) => `  ${paint(output, 'dim', line)}\n`),
    ].join(''),
    ...(advice ? [`${advice}\n`] : []),
  ].join('\n')
}

function checkTable({ checks, allowed }: FoundProof, output: Output): string {
  const shown = table(checkRows(checks), output.columns)
  const words = runsIn(checks).map((run) => `${run}: ${runWords(run, allowed)}\n`)
  return `${shown}${paint(output, 'dim', words.join(''))}`
}

/** What each check said before, now and in the experiments, below a row of headings. */
export function checkRows(checks: readonly ProvenCheck[]): string[][] {
  const runs = runsIn(checks)
  const rows = checks.map((one) => [one.check, beforeCell(one), cell(one.after), ...runs.map((run) => cell(one[run]))])
  return [['check', 'before', 'now', ...runs], ...rows]
}

/** An experiment that nobody needed has no column. */
function runsIn(checks: readonly ProvenCheck[]): Run[] {
  return (['sealed', 'reversed'] as const).filter((run) => checks.some((one) => one[run]))
}

/** What was not known at once may have been tried later, on the files of the start. */
function beforeCell({ before, start }: ProvenCheck): string {
  if (before && (before.result === 'pass' || before.result === 'fail')) return cell(before)
  return start && !('why' in start) ? `${cell(start)}, tried later` : before ? cell(before) : 'unknown'
}

function cell(tried: Tried | undefined): string {
  if (!tried) return '-'
  return 'why' in tried ? 'not tried' : resultWords(tried)
}

function resultWords({ result, failures, tests, red }: Ran): string {
  switch (result) {
    case 'pass':
      return tests === undefined ? 'passes' : `passes (${count(tests, 'test')})`
    case 'fail':
      if (red === 'load') return 'fails to load'
      return failures ? `fails (${count(failures, 'failure')})` : 'fails'
    case 'timeout':
      return 'out of time'
    case 'broken':
      return 'cannot start'
  }
}

/** Why something was not tried or does not count, each reason once. */
function reasons({ checks, flaky, stale, experiments }: FoundProof): string[] {
  const runs: readonly Run[] = ['start', 'sealed', 'reversed', 'control']
  const untried = checks.flatMap((one) =>
    runs.flatMap((run) => {
      const tried = one[run]
      return tried && 'why' in tried ? [`not tried (${run}): ${tried.why}`] : []
    }),
  )
  const failing = checks.filter(({ control }) => control && !('why' in control) && control.result !== 'pass')
  return [
    ...new Set([
      ...untried,
      ...failing.map(
        ({ check }) => `${check} fails in a clean copy of the present files, too, so a failure there does not count`,
      ),
      ...flaky.map((check) => `${check} is flaky: it failed and passed on the same files`),
      ...(experiments === 'off' ? ['experiments are off (--proof off)'] : []),
      ...(stale ? ['the files have changed since the checks ran'] : []),
    ]),
  ]
}

/** Where there is no check, no files were checked. */
function fileLines({ checks, seen, start, at, iterations }: FoundProof): string[] {
  const when = at === undefined ? '' : `, ${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`
  return [
    ...(seen && checks.length > 0
      ? [`checked: ${filesWords(seen)}${when}, after ${count(iterations, 'iteration')}`]
      : []),
    ...(start ? [`start:   ${filesWords(start)}`] : []),
  ]
}

function filesWords({ tree, head, commit }: Files): string {
  if (!isGitTree(tree)) return 'a folder without git'
  if (commit !== undefined) return `tree ${tree.slice(0, 12)}, commit ${commit.slice(0, 12)}`
  return `tree ${tree.slice(0, 12)}${head === undefined ? '' : `, not committed, on top of ${head.slice(0, 12)}`}`
}

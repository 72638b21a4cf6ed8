/** Prints a proof: one row per check, the result, what ralph noticed, and how to get a better grade. */
import { findingSentence } from '../../engine/feedback.ts'
import type { Ran, Run } from '../../engine/loop.ts'
import type { Files, FoundProof, ProvenCheck, Tried } from '../../operations/get-proof.ts'
import { isGitTree } from '../../operations/statement.ts'
import { runWords } from './story.ts'
import { count, type Output, paint, short, table } from './text.ts'

export function printProof(proof: FoundProof, output: Output): string {
  const { loop, grade, older, require, checks, sentence, advice } = proof
  const head = `loop ${loop} · ${grade ? `proof: ${grade}${older ? ', graded by an older version of ralph' : ''}` : 'no grade'}`
  return [
    `${head}${require ? ` · required: ${require}` : ''}\n`,
    checks.length > 0 ? checkTable(proof, output) : "No check: nothing proves the agent's claim.\n",
    `${sentence}\n`,
    [
      ...proof.findings.map(
        (one) => `  ${paint(output, 'yellow', '!')} ralph noticed: ${short(findingSentence(one), 300)}\n`,
      ),
      ...proof.allowed.map(({ path, by }) => `  ${path}: changes allowed by ${by}\n`),
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

/** The result of each check before, now and in the experiments, with a header row. */
export function checkRows(checks: readonly ProvenCheck[]): string[][] {
  const runs = runsIn(checks)
  const rows = checks.map((one) => [one.check, beforeCell(one), cell(one.after), ...runs.map((run) => cell(one[run]))])
  return [['check', 'before', 'now', ...runs], ...rows]
}

/** Experiments that were not needed get no column. */
function runsIn(checks: readonly ProvenCheck[]): Run[] {
  return (['sealed', 'reversed'] as const).filter((run) => checks.some((one) => one[run]))
}

/** An unknown baseline may have been tried later, on the original files. */
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
      return 'timed out'
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
        ({ check }) => `${check} also fails in a clean copy of the current files, so failures there do not count`,
      ),
      ...flaky.map((check) => `${check} is flaky: it failed and passed on the same files`),
      ...(experiments === 'off' ? ['experiments are off (--proof off)'] : []),
      ...(stale ? ['the files have changed since the checks ran'] : []),
    ]),
  ]
}

/** Without a check, no files were checked. */
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
  return `tree ${tree.slice(0, 12)}${head === undefined ? '' : `, uncommitted, on top of ${head.slice(0, 12)}`}`
}

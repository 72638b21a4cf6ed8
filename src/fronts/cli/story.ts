/** The history of a loop in plain sentences: what was claimed, what was checked, why it continued, why it ended. */
import { stopped } from '../../engine/breaker.ts'
import { findingSentence } from '../../engine/feedback.ts'
import type { Diff, Fact, Grade, Limits, Loop, Next, Run, Turn, Verdict } from '../../engine/loop.ts'
import { megabytes } from '../../formats/amounts.ts'
import { exceptIn, failedWords, findingLines, gradeWords, isBaseline, ranWords } from '../../formats/proof-words.ts'
import { money } from '../../formats/spent-words.ts'
import type { IterationRow } from '../../host/store.ts'
import { type Standing, standingOf } from '../../operations/standing.ts'
import { given } from '../../request/given.ts'
import { clock, count, type Output, paint, type Style, short } from './text.ts'

/** A turn and the results of its checks. `refusal`: why the claim was refused even though they pass. */
export type Settled = { turn?: Turn; verdicts: readonly Verdict[]; refusal?: string }

/** `grade`: set if this turn completed the loop. */
export function iterationMark({ turn, verdicts, refusal }: Settled, grade: Grade | undefined): '✓' | '✗' | '!' | '·' {
  if (grade) return '✓'
  if (refusal !== undefined || verdicts.some(({ result }) => result !== 'pass')) return '✗'
  return turn?.end === 'ok' ? '·' : '!'
}

const DONE = 'claimed done'

/** `pending`: its checks have not run yet. */
export function iterationSentence(
  { turn, verdicts, refusal }: Settled,
  grade: Grade | undefined,
  pending = false,
): string {
  const failed = verdicts.filter(({ result }) => result !== 'pass')
  const claimed =
    turn && turn.claim.kind !== 'none'
      ? turn.claim.stage
        ? `claimed stage ${turn.claim.stage} done`
        : DONE
      : undefined
  if (turn && turn.end !== 'ok' && !grade) return `${ENDINGS[turn.end]}: ${short(turn.words, 100)}`
  if (failed.length > 0) return `${claimed ? `${claimed}; refused` : 'not done yet'}: ${failedWords(failed)}`
  if (refusal !== undefined) return `${claimed ?? 'made no claim'}; ${refusal}`
  if (verdicts.length > 0)
    return `${claimed ?? 'made no claim'}; ${grade === 'verified' || grade === 'tested' ? `${grade}: ` : ''}${verdicts.map(({ check }) => `${check} passes`).join(', ')}${claimed === DONE && !grade ? ', but the claim is not accepted yet' : ''}`
  if (grade) return `${claimed ?? 'made no claim'}; there is no check`
  if (claimed) return `${claimed}; ${pending ? 'not checked yet' : 'asked for a clear claim'}`
  if (turn?.ask)
    return `${turn.ask.kind === 'permission' ? 'was denied permission' : 'asked'}: ${short(turn.ask.words, 100)}`
  return turn?.words ? `worked: ${short(lastLine(turn.words), 100)}` : 'worked, said nothing'
}

/** The grade of a completed loop. */
export function gradeOf({ next }: Loop): Grade | undefined {
  return next.kind === 'complete' ? next.proof : undefined
}

/** `+12 −3`, or empty if nothing changed or the diff is unknown. */
export function diffWords(diff: Diff | undefined): string {
  return diff && diff.files > 0 ? `+${diff.added} −${diff.removed}` : ''
}

/** Whether an iteration changed anything, and how much. */
export function changedWords({ diff, changed }: Pick<IterationRow, 'diff' | 'changed'>): string {
  if (diff) return diffWords(diff) || 'no'
  return changed === undefined ? '?' : changed ? 'yes' : 'no'
}

/** A stored iteration in the form the sentences above need. */
export function settledOf(row: IterationRow, refusal: string | undefined): Settled {
  const { end, claim, stage, ask, words, tokens, verdicts } = row
  return {
    turn: { end, claim: { kind: claim, ...given({ stage }) }, words, ranTests: false, tokens, ...given({ ask }) },
    verdicts,
    ...given({ refusal }),
  }
}

const ENDINGS: Readonly<Record<Exclude<Turn['end'], 'ok'>, string>> = {
  limited: 'was rate-limited',
  overloaded: 'hit an overloaded service',
  unusable: 'cannot work',
  'context-full': 'filled its context',
  failed: 'failed',
}

const MARKS: Readonly<Record<Standing['kind'], readonly [mark: string, style: Style]>> = {
  verified: ['✓', 'green'],
  tested: ['✓', 'green'],
  kept: ['✓', 'yellow'],
  altered: ['✓', 'yellow'],
  claimed: ['✓', 'yellow'],
  cancelled: ['✗', 'yellow'],
  halted: ['✗', 'red'],
  asks: ['?', 'yellow'],
  waiting: ['‖', 'yellow'],
  'under-way': ['…', 'yellow'],
}

/** The last lines of the output: the result and what to type next. */
export function printEnding(loop: Loop, output: Output, { sentence, hint }: Standing = standingOf(loop)): string {
  return `${printStanding(loop, output, sentence)}  ${paint(output, 'dim', hint)}\n`
}

/** A sentence about a loop, with the findings. They come first if an `altered` proof depends on them. */
export function printStanding(loop: Loop, output: Output, sentence: string): string {
  const { kind } = standingOf(loop)
  const [mark, style] = MARKS[kind]
  const line = `${paint(output, style, mark)} ${sentence}\n`
  const noticed = findingLines(loop.tally.findings).map(
    (text) => `  ${paint(output, 'yellow', '!')} ${short(text, 300)}\n`,
  )
  return (kind === 'altered' ? [...noticed, line] : [line, ...noticed]).join('')
}

/** One sentence for one event of a loop. `before` and `since`: what the engine had asked for, and when. */
export function eventSentence(fact: Fact, before?: Next, since?: number): string {
  switch (fact.kind) {
    case 'turned':
      return turnSentence(fact.turn)
    case 'checked':
      return `${isBaseline(fact, before) ? 'Before any work, ralph' : 'ralph'} checked: ${checkedWords(fact.verdicts) || 'nothing finished in time'}.${fact.findings.map((finding) => ` It noticed: ${findingSentence(finding)}.`).join('')}`
    case 'proved':
      return provedSentence(fact, before?.kind === 'prove' ? before.allowed : [])
    case 'woke':
      return `The ${isCooldown(before) ? 'cooldown' : 'wait'} ended${waited(fact, before, since)}.`
    case 'restored':
      return fact.trouble === undefined
        ? 'The files were restored.'
        : stopped(`The files could not be restored: ${short(fact.trouble, 200)}`)
    case 'lost':
      return 'It was interrupted; this does not count as an iteration.'
    case 'told':
      return orderSentence(fact, before, since)
    case 'asked':
      return 'It was resumed with new settings.'
    case 'moved':
      return `It was moved to ${short(fact.to.dir, 200)}.`
    case 'adopted':
      // A queued loop starts at this moment; an imported one brings its own start time.
      return fact.loop.tally.startedAt === fact.at ? 'It left the queue.' : 'It was imported from an earlier record.'
  }
}

/** Names the checks that pass as well. */
function checkedWords(verdicts: readonly Verdict[]): string {
  const passed = verdicts.filter(({ result }) => result === 'pass').map(ranWords)
  return [...passed, ...[failedWords(verdicts)].filter(Boolean)].join(', ')
}

function turnSentence(turn: Turn): string {
  return `${endSentence(turn)}${turn.dropped ? ` ${capital(megabytes(turn.dropped))} of its output was not kept.` : ''}`
}

function endSentence(turn: Turn): string {
  if (turn.end !== 'ok') return stopped(`The agent ${ENDINGS[turn.end]}: ${short(turn.words, 200)}`)
  const said = turn.words ? ` "${short(lastLine(turn.words), 120)}"` : ''
  switch (turn.claim.kind) {
    case 'clear':
      return `The agent claimed ${turn.claim.stage ? `stage ${turn.claim.stage}` : 'to be done'}.${said}`
    case 'weak':
      return `The agent hinted that it is done.${said}`
    case 'none':
      return turn.ask
        ? stopped(
            `The agent ${turn.ask.kind === 'permission' ? 'was denied permission' : 'asked'}: ${short(turn.ask.words, 200)}`,
          )
        : `The agent worked.${said}`
  }
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function orderSentence(fact: Extract<Fact, { kind: 'told' }>, before?: Next, since?: number): string {
  const { by, order } = fact
  switch (order.kind) {
    case 'say':
      return `${capital(by)} said: "${short(order.words, 200)}"`
    case 'limits':
      return `${capital(by)} changed the limits.`
    case 'extend':
      return `${capital(by)} resumed it with ${limitWords(order.limits)}.`
    case 'edit':
      return `${capital(by)} changed the task.`
    case 'cancel':
      if (typeof order.rejected === 'object')
        return stopped(`${capital(by)} rejected it${order.rejected.why ? `: ${order.rejected.why}` : ''}`)
      // `by` may include a reason.
      return by.includes(',') ? stopped(`It was cancelled by ${by}`) : `${capital(by)} cancelled it.`
    case 'pause':
      return by === 'server' ? 'It was paused because the process that ran it ended.' : `${capital(by)} paused it.`
    case 'resume':
      if (by === 'server') return 'It was resumed.'
      return isCooldown(before)
        ? `${capital(by)} reset the breaker.`
        : `${capital(by)} resumed it${waited(fact, before, since)}.`
    case 'done':
      return `${capital(by)} reported that it is done.`
    case 'out-of-time':
      return `${capital(by)} reported that it ran out of time.`
    case 'rested':
      return 'It continues; time without a running process does not count.'
    case 'allow':
      return `${capital(by)} allowed the changes${order.paths.length > 0 ? ` to ${order.paths.join(', ')}` : ''}.`
    case 'dropped':
      return `An order from ${by} could not be read and was ignored: ${short(order.why, 200)}.`
  }
}

/** How long a wait with a time limit really took. */
function waited({ at }: Fact, before: Next | undefined, since: number | undefined): string {
  return before?.kind === 'wait' && before.until !== undefined && since !== undefined
    ? ` after ${clock(at - since)}`
    : ''
}

/** `20 iterations and $5.00`. */
function limitWords({ iterations, minutes, tokens, costUsd }: Partial<Limits>): string {
  const named = [
    ...(iterations === undefined
      ? []
      : [iterations === 0 ? 'no iteration limit' : `up to ${count(iterations, 'iteration')}`]),
    ...(minutes === undefined ? [] : [count(minutes, 'minute')]),
    ...(tokens === undefined ? [] : [count(tokens, 'token')]),
    ...(costUsd === undefined ? [] : [money(costUsd)]),
  ]
  return named.join(', ') || 'the same limits'
}

function isCooldown(next: Next | undefined): boolean {
  return next?.kind === 'wait' && next.why === 'cooldown'
}

/** What the loop did next: continue, wait or end, and why. */
export function nextSentence(next: Next, at: number): string {
  switch (next.kind) {
    case 'turn':
      return next.attempt > 1
        ? `Next: iteration ${next.iteration} again, attempt ${next.attempt}.`
        : `Next: iteration ${next.iteration}.`
    case 'check':
      return `Next: run the checks (${BECAUSE[next.because]}).`
    case 'prove':
      return `Next: try ${runWords(next.run, next.allowed)}.`
    case 'wait':
      if (next.why === 'cooldown')
        return `The breaker opened (${next.stop.reason}): ${stopped(next.stop.sentence)} One more try after ${clock(next.until - at)}.`
      if (next.until !== undefined) return `Next: wait, at most ${clock(next.until - at)}.`
      return next.why === 'person' ? `It is waiting for you: ${short(next.question ?? '', 200)}` : 'It is paused.'
    case 'restore':
      return `It halts (${next.reason}). Next: restore ${next.to === 0 ? 'the original files' : `the files of iteration ${next.to}`}.`
    case 'complete':
      return `It is complete, proof: ${gradeWords(next)}. ${next.sentence}`.trimEnd()
    case 'halt':
      return `It halted (${next.reason}): ${next.sentence}`
  }
}

export function runWords(run: Run, allowed: readonly unknown[]): string {
  return `${RUNS[run]}${exceptIn(run, allowed)}`
}

const RUNS: Readonly<Record<Run, string>> = {
  start: 'the original files',
  sealed: 'the current work with the original tests and configuration',
  reversed: 'the original sources with the current tests and configuration',
  control: 'the current files in a clean copy',
}

function provedSentence({ run, ran, why }: Extract<Fact, { kind: 'proved' }>, allowed: readonly string[]): string {
  const lead = `ralph tried ${runWords(run, allowed)}`
  if (why !== undefined) return stopped(`${lead}, but could not: ${short(why, 200)}`)
  return `${lead}: ${ran.map(ranWords).join(', ')}.`
}

const BECAUSE: Readonly<Record<Extract<Next, { kind: 'check' }>['because'], string>> = {
  start: 'before any work',
  flaky: 'again, because they failed on exactly these files before',
  claim: 'because of the claim',
  until: 'as after every turn',
  'last-turn': 'because it was the last turn',
  stalled: 'because the loop stalled',
}

function lastLine(text: string): string {
  return (
    text
      .trim()
      .split('\n')
      .filter((line) => line.trim())
      .at(-1) ?? ''
  )
}

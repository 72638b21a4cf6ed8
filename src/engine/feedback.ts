/** What the next iteration reads about the one before it. */
import { diagnosis } from './breaker.ts'
import { claimTag } from './claim.ts'
import { count } from './limits.ts'
import type { Finding, Loop, Said, Spec, Verdict } from './loop.ts'
import { comesTooEarly, openStages } from './stages.ts'

export const NOBODY_AVAILABLE =
  'Nobody is available to answer. Make a sensible choice, note it in your final answer, and continue.'

export function saidSentence({ by, words }: Said): string {
  return by === 'person' ? `A person says: ${words}` : words
}

/** `loop` is already counted; `newlyPassed` are the stages this iteration closed. */
export function feedbackFor(
  loop: Loop,
  { verdicts, findings }: { verdicts: readonly Verdict[]; findings: readonly Finding[] },
  newlyPassed: readonly string[],
): string[] {
  const { spec, tally } = loop
  const failed = verdicts.filter(({ result }) => result !== 'pass')
  const claimed = tally.claim.kind !== 'none'
  const said = tally.claim.form !== 'mentioned'
  return [
    ...(failed.length > 0 && claimed && said
      ? ['You said you were done, but you are not: ralph ran the checks itself, and they failed.']
      : []),
    ...failed.map(verdictSentence),
    ...findingSentences(findings).map((sentence) => `ralph noticed: ${sentence}`),
    ...newlyPassed.map((stage) => `Stage ${stage} has passed.`),
    ...(failed.length === 0 && claimed ? claimAdvice(spec, loop) : []),
    ...(tally.fresh
      ? ['Your context was full, so you are starting fresh. The files and the git log show what has been done so far.']
      : []),
    ...askAdvice(loop),
    ...[diagnosis(loop) ?? []].flat(),
  ]
}

/** What a check says before any work, for the first prompt. */
export function beforeSentence({ check, result, failures, tail }: Verdict): string {
  if (result === 'broken') return `Before any work, the check \`${check}\` could not be started: ${tail.trimEnd()}`
  return `Before any work, the check \`${check}\` fails${failures ? ` (${count(failures, 'failure')})` : ''}. Its output ends with:\n${tail.trimEnd()}`
}

/** Leaves out what is welcome: new tests, and changes that the agent is meant to make. */
function findingSentences(findings: readonly Finding[]): string[] {
  return findings.filter(({ kind }) => !HOPED_FOR.has(kind)).map(findingSentence)
}

const HOPED_FOR: ReadonlySet<Finding['kind']> = new Set(['tests-added', 'means-added', 'may-change'])

export function findingSentence({ path, words }: Finding): string {
  return path ? `${path}: ${words}` : words
}

function verdictSentence({ check, result, failures, tail }: Verdict): string {
  const how = result === 'timeout' ? 'timed out' : failures ? `failed (${count(failures, 'failure')})` : 'failed'
  return `The check \`${check}\` ${how}. Its output ends with:\n${tail.trimEnd()}`
}

/** Advice for an agent whose claim does not count yet, although no check fails. */
export function claimAdvice(spec: Spec, { tally }: Loop): string[] {
  const [open] = openStages(spec, tally)
  if (open && comesTooEarly(spec, tally, tally.claim))
    return [`Stage ${open.name} comes before ${tally.claim.stage}. Finish ${open.name} first.`]
  if (open && tally.claim.stage === undefined)
    return [`Stage ${open.name} is still open. Claim it with ${claimTag(open.name)} ${WHERE}`]
  if (tally.claim.kind !== 'weak') return []
  if (tally.changed === false && tally.claim.form !== 'mentioned')
    return ['You said you were done, but nothing has changed. If that is right, say so again.']
  const name = open?.name ?? spec.promise
  const claim = name ? claimTag(name) : spec.signals[0]
  return [`If you are done, ${claim ? `put ${claim} ${WHERE}` : 'say so again.'}`]
}

const WHERE = 'alone on the last line, after an empty line.'

function askAdvice({ tally }: Loop): string[] {
  if (!tally.ask) return []
  if (tally.ask.kind === 'permission') return [`Permission was denied: ${tally.ask.words}. Find a way without it.`]
  return [NOBODY_AVAILABLE]
}

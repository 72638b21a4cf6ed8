/** What the next iteration is told about the one before it. */
import { diagnosis } from './breaker.ts'
import { claimTag } from './claim.ts'
import { count } from './limits.ts'
import type { Loop, Said, Spec, Verdict } from './loop.ts'
import { allChecks, comesTooEarly, openStages } from './stages.ts'

export const NOBODY_HERE =
  'Nobody is here to answer. Choose the sensible way, note the choice in your final answer, and go on.'

export function saidSentence({ by, words }: Said): string {
  return by === 'person' ? `A person says: ${words}` : words
}

/** `loop` is already counted; `newlyPassed` are the stages this iteration closed. */
export function feedbackFor(
  loop: Loop,
  { verdicts, findings }: { verdicts: readonly Verdict[]; findings: readonly string[] },
  newlyPassed: readonly string[],
): string[] {
  const { spec, tally } = loop
  const failed = verdicts.filter(({ result }) => result !== 'pass')
  const claimed = tally.claim.kind !== 'none'
  return [
    ...(failed.length > 0 && claimed
      ? ['You said it was done, but it is not: ralph ran the checks itself, and they failed.']
      : []),
    ...failed.map(verdictSentence),
    ...findings.map((finding) => `ralph noticed: ${finding}`),
    ...newlyPassed.map((stage) => `Stage ${stage} has passed.`),
    ...(failed.length === 0 && claimed ? claimAdvice(spec, loop) : []),
    ...(tally.fresh
      ? [
          'Your context was full, so this is a fresh start. Look at the files and at the git log to see what is already there.',
        ]
      : []),
    ...askAdvice(loop),
    ...[diagnosis(loop) ?? []].flat(),
  ]
}

function verdictSentence({ check, result, failures, tail }: Verdict): string {
  const how = result === 'timeout' ? 'ran out of time' : failures ? `failed (${count(failures, 'failure')})` : 'failed'
  return `The check \`${check}\` ${how}. Its output ends:\n${tail.trimEnd()}`
}

function claimAdvice(spec: Spec, { tally }: Loop): string[] {
  const [open] = openStages(spec, tally)
  if (open && comesTooEarly(spec, tally, tally.claim))
    return [`Stage ${open.name} comes before ${tally.claim.stage}. Finish it first.`]
  if (open && tally.claim.stage === undefined)
    return [`Stage ${open.name} is still open. Claim it with ${claimTag(open.name)} alone on the last line.`]
  if (tally.claim.kind !== 'weak' || (allChecks(spec).length > 0 && !open)) return []
  if (tally.changed === false) return ['You said it was done, but nothing has changed. If that is right, say it again.']
  const name = open?.name ?? spec.promise
  return name ? [`If you are done, put ${claimTag(name)} alone on the last line.`] : ['If you are done, say so again.']
}

function askAdvice({ tally }: Loop): string[] {
  if (!tally.ask) return []
  if (tally.ask.kind === 'permission') return [`These were denied: ${tally.ask.words}. Find a way without them.`]
  return [NOBODY_HERE]
}

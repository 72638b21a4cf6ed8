/** What a person in a session hears about its loop. Where a loop simply goes on, none of this is loaded. */
import { stopped } from '../engine/breaker.ts'
import { endedOnLimit } from '../engine/extend.ts'
import { count } from '../engine/limits.ts'
import { ALLOW, ended, type Grade, type Loop, type Tally, type Verdict } from '../engine/loop.ts'
import { failedWords, findingLines, gradeWords, ranWords, refusalWords } from '../formats/proof-words.ts'
import { moreOption } from '../formats/room-words.ts'
import { goesOn, type Note } from './answer.ts'
import { allowance, type Env, type Host } from './hosts.ts'

/** How a loop stands, in one or two sentences for the person in that session. `hint`: with how it goes on after a limit. */
export function standing(loop: Loop, host: Host, hint = true): Note {
  const { id, tally, next } = loop
  const after = `after ${count(tally.iteration, 'iteration')}`
  switch (next.kind) {
    case 'complete':
      if (next.proof === 'claimed')
        return {
          level: 'warning',
          text: `ralph: done ${after}, by the agent's word alone (proof: ${gradeWords(next)}). Next time let ralph check it: --verify "npm test"`,
        }
      return { level: LEVELS[next.proof], text: `ralph: done ${after}, proof: ${gradeWords(next)}. ${next.sentence}` }
    case 'halt':
      return next.reason === 'cancelled'
        ? { level: 'info', text: `ralph: cancelled ${after}. ${next.sentence}` }
        : {
            level: 'warning',
            text: `ralph: stopped ${after} (${next.reason}). ${next.sentence}${hint ? goOnHint(loop, host) : ''}`,
          }
    case 'wait':
      if (next.about === ALLOW)
        return {
          level: 'warning',
          text: `ralph: ${next.question} Accept it: ralph allow ${id} in a terminal. An answer here is told to the agent, and the loop goes on.`,
        }
      if (next.why === 'person')
        return { level: 'warning', text: `ralph: the agent asks: ${next.question} Answer here, and the loop goes on.` }
      if (next.why === 'cooldown')
        return {
          level: 'warning',
          text: `ralph: ${stopped(next.stop.sentence)} The breaker is open ${after}, and waits before one more try; ${host.types('resume')} goes on at once.`,
        }
      if (next.until !== undefined)
        return {
          level: 'info',
          text: `ralph: waits for the agent ${after}; ${host.types('resume')} tries again at once. ${tally.trouble ?? ''}`.trimEnd(),
        }
      return {
        level: 'info',
        text: `ralph: paused ${after}. Go on here with ${host.types('resume')}, without a session with \`ralph resume ${id}\`; ${host.types('cancel')} ends it.`,
      }
    case 'turn':
      return goesOn(loop)
    case 'check':
    case 'prove':
    case 'restore':
      return {
        level: 'warning',
        text: `ralph: the checks could not be run to their end. ${host.types('resume')} tries them again.`,
      }
  }
}

/** How it goes on, where only a limit ended it. */
function goOnHint(loop: Loop, host: Host): string {
  return endedOnLimit(loop) ? ` Go on: ${host.types('resume')} ${moreOption(loop)}` : ''
}

const LEVELS: Readonly<Record<Exclude<Grade, 'claimed'>, Note['level']>> = {
  verified: 'info',
  tested: 'info',
  kept: 'info',
  altered: 'warning',
}

/** What the checks said, for the line that a person sees; and why a claim was refused although they pass. */
export function checkWords(verdicts: readonly Verdict[], loop: Loop, before: Tally): string {
  const failed = failedWords(verdicts)
  const isClaimed = before.claim.kind !== 'none' && before.claim.form !== 'mentioned'
  const said = failed ? `${isClaimed ? 'refused: ' : ''}${failed}` : verdicts.map(ranWords).join(', ')
  const refusal = loop.next.kind === 'turn' ? refusalWords(before, loop) : undefined
  if (refusal === undefined) return said
  const allow =
    (loop.tally.bent ?? 0) > (before.bent ?? 0)
      ? `. Should it claim that again, it waits for you: \`ralph allow ${loop.id}\` in a terminal lets the changes stand, and an answer here is told to the agent`
      : ''
  return `${said} · ${refusal}${allow}`
}

/** What ralph noticed about the means of proof: once, and all of it at the end. New tests are no reason to speak up in the middle of the work. */
export function findingNotes(loop: Loop, before: Tally): Note[] {
  const known = new Set(ended(loop) ? [] : before.findings.map((finding) => JSON.stringify(finding)))
  const worth = loop.tally.findings.filter(
    (finding) =>
      finding.kind !== 'tests-added' && finding.kind !== 'means-added' && !known.has(JSON.stringify(finding)),
  )
  return findingLines(worth).map((line) => ({ level: 'warning', text: `ralph noticed: ${line}` }))
}

/** Said once, with the last turn that the host surely allows. */
export function capNote({ id }: Loop, host: Host, env: Env): Note {
  const { cap, title, types } = host
  return {
    level: 'warning',
    kind: 'cap',
    text: `ralph: ${title} lets a hook go on ${count(allowance(host, env), 'time')} in a row${cap?.raise ? ` (${cap.raise})` : ''}, and this is the last one. Should it stop here, go on with ${types('resume')}, or without a session with \`ralph resume ${id}\`.`,
  }
}

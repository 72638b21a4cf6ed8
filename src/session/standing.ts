/** What a session tells its user about the loop. Not loaded when the loop simply continues. */
import { stopped } from '../engine/breaker.ts'
import { endedOnLimit } from '../engine/extend.ts'
import { count } from '../engine/limits.ts'
import { ALLOW, ended, type Grade, type Loop, type Tally, type Verdict } from '../engine/loop.ts'
import { failedWords, findingLines, gradeWords, ranWords, refusalWords } from '../formats/proof-words.ts'
import { moreOption } from '../formats/room-words.ts'
import { type Note, progressNote } from './answer.ts'
import { allowance, type Env, type Host } from './hosts.ts'

/** The state of a loop in one or two sentences for the user of that session. `hint`: say how to continue after a limit. */
export function standing(loop: Loop, host: Host, hint = true): Note {
  const { id, tally, next } = loop
  const after = `after ${count(tally.iteration, 'iteration')}`
  switch (next.kind) {
    case 'complete':
      if (next.proof === 'claimed')
        return {
          level: 'warning',
          text: `ralph: done ${after}, on the agent's word alone (proof: ${gradeWords(next)}). Next time, let ralph check it: --verify "npm test"`,
        }
      return { level: LEVELS[next.proof], text: `ralph: done ${after}, proof: ${gradeWords(next)}. ${next.sentence}` }
    case 'halt':
      return next.reason === 'cancelled'
        ? { level: 'info', text: `ralph: cancelled ${after}. ${next.sentence}` }
        : {
            level: 'warning',
            text: `ralph: stopped ${after} (${next.reason}). ${next.sentence}${hint ? resumeHint(loop, host) : ''}`,
          }
    case 'wait':
      if (next.about === ALLOW)
        return {
          level: 'warning',
          text: `ralph: ${next.question} Allow it: ralph allow ${id} in a terminal. Or answer here: the agent gets your answer and the loop continues.`,
        }
      if (next.why === 'person')
        return {
          level: 'warning',
          text: `ralph: the agent asks: ${next.question} Answer here, and the loop continues.`,
        }
      if (next.why === 'cooldown')
        return {
          level: 'warning',
          text: `ralph: ${stopped(next.stop.sentence)} The breaker is open ${after} and waits before one more try; ${host.types('resume')} retries now.`,
        }
      if (next.until !== undefined)
        return {
          level: 'info',
          text: `ralph: waiting for the agent ${after}; ${host.types('resume')} retries now. ${tally.trouble ?? ''}`.trimEnd(),
        }
      return {
        level: 'info',
        text: `ralph: paused ${after}. Resume here with ${host.types('resume')}, or without a session with \`ralph resume ${id}\`; ${host.types('cancel')} ends it.`,
      }
    case 'turn':
      return progressNote(loop)
    case 'check':
    case 'prove':
    case 'restore':
      return {
        level: 'warning',
        text: `ralph: the checks did not finish. ${host.types('resume')} runs them again.`,
      }
  }
}

/** How to continue a loop that halted on a limit. */
function resumeHint(loop: Loop, host: Host): string {
  return endedOnLimit(loop) ? ` Resume: ${host.types('resume')} ${moreOption(loop)}` : ''
}

const LEVELS: Readonly<Record<Exclude<Grade, 'claimed'>, Note['level']>> = {
  verified: 'info',
  tested: 'info',
  kept: 'info',
  altered: 'warning',
}

/** The check results for the line the user sees, and why a claim was refused although they pass. */
export function checkWords(verdicts: readonly Verdict[], loop: Loop, before: Tally): string {
  const failed = failedWords(verdicts)
  const isClaimed = before.claim.kind !== 'none' && before.claim.form !== 'mentioned'
  const said = failed ? `${isClaimed ? 'refused: ' : ''}${failed}` : verdicts.map(ranWords).join(', ')
  const refusal = loop.next.kind === 'turn' ? refusalWords(before, loop) : undefined
  if (refusal === undefined) return said
  const allow =
    (loop.tally.bent ?? 0) > (before.bent ?? 0)
      ? `. If it claims this again, the loop waits for you: \`ralph allow ${loop.id}\` in a terminal accepts the changes, and an answer here goes to the agent`
      : ''
  return `${said} · ${refusal}${allow}`
}

/** What ralph noticed about the means of proof: each once, and all of them at the end. New tests are not worth a note while work continues. */
export function findingNotes(loop: Loop, before: Tally): Note[] {
  const known = new Set(ended(loop) ? [] : before.findings.map((finding) => JSON.stringify(finding)))
  const worth = loop.tally.findings.filter(
    (finding) =>
      finding.kind !== 'tests-added' && finding.kind !== 'means-added' && !known.has(JSON.stringify(finding)),
  )
  return findingLines(worth).map((line) => ({ level: 'warning', text: `ralph noticed: ${line}` }))
}

/** Shown once, with the last turn that the host is sure to allow. */
export function capNote({ id }: Loop, host: Host, env: Env): Note {
  const { cap, title, types } = host
  return {
    level: 'warning',
    kind: 'cap',
    text: `ralph: ${title} lets a hook keep it going ${count(allowance(host, env), 'time')} in a row${cap?.raise ? ` (${cap.raise})` : ''}, and this is the last one. If it stops here, resume with ${types('resume')}, or without a session with \`ralph resume ${id}\`.`,
  }
}

/** What a person in a session hears about its loop. Where a loop simply goes on, none of this is loaded. */
import { count } from '../engine/limits.ts'
import type { Loop, Verdict } from '../engine/loop.ts'
import { allChecks } from '../engine/stages.ts'
import { goesOn, type Note } from './answer.ts'
import { allowance, type Env, type Host } from './hosts.ts'

/** How a loop stands, in one or two sentences for the person in that session. */
export function standing(loop: Loop, host: Host): Note {
  const { id, spec, tally, next } = loop
  const after = `after ${count(tally.iteration, 'iteration')}`
  switch (next.kind) {
    case 'complete':
      return next.proof === 'verified'
        ? { level: 'info', text: `ralph: done ${after}, proven: ${allChecks(spec).join(', ')}` }
        : {
            level: 'warning',
            text: `ralph: done ${after}, by the agent's word alone. Next time let ralph check it: --verify "npm test"`,
          }
    case 'halt':
      return next.reason === 'cancelled'
        ? { level: 'info', text: `ralph: cancelled ${after}. ${next.sentence}` }
        : { level: 'warning', text: `ralph: stopped ${after} (${next.reason}). ${next.sentence}` }
    case 'wait':
      if (next.why === 'person')
        return { level: 'warning', text: `ralph: the agent asks: ${next.question} Answer here, and the loop goes on.` }
      if (next.until !== undefined)
        return { level: 'info', text: `ralph: waits for the agent ${after}. ${tally.trouble ?? ''}`.trimEnd() }
      return {
        level: 'info',
        text: `ralph: paused ${after}. Go on here with ${host.types('resume')}, without a session with \`ralph resume ${id}\`; ${host.types('cancel')} ends it.`,
      }
    case 'turn':
      return goesOn(loop)
    case 'check':
    case 'restore':
      return {
        level: 'warning',
        text: `ralph: the checks could not be run to their end. ${host.types('resume')} tries them again.`,
      }
  }
}

/** What the checks said, for the line that a person sees. */
export function checkWords(verdicts: readonly Verdict[]): string {
  return verdicts.map(({ check, result }) => `${check} ${RESULTS[result]}`).join(', ')
}

const RESULTS: Readonly<Record<Verdict['result'], string>> = {
  pass: 'passes',
  fail: 'fails',
  broken: 'cannot be started',
  timeout: 'ran out of time',
}

/** Said once, with the last turn that the host surely allows. */
export function capNote({ id }: Loop, host: Host, env: Env): Note {
  const { cap, title, types } = host
  return {
    level: 'warning',
    kind: 'cap',
    text: `ralph: ${title} lets a hook go on ${allowance(host, env)} times in a row${cap?.raise ? ` (${cap.raise})` : ''}, and this is the last one. Should it stop here, go on with ${types('resume')}, or without a session with \`ralph resume ${id}\`.`,
  }
}

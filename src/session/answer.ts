/** What ralph answers a session: whether its agent takes another turn, and what the person is shown. */
import { count, iterationLimit } from '../engine/limits.ts'
import type { Loop, Verdict } from '../engine/loop.ts'
import { allChecks } from '../engine/stages.ts'
import { buildTurnPrompt } from '../prompt/turn-prompt.ts'
import type { Armed } from './armed.ts'
import { HOSTS, type Host } from './hosts.ts'

export type Note = { level: 'info' | 'warning' | 'error'; text: string }

export type Answer = {
  /** Absent: this session has no loop, or none that concerns it. */
  loop?: Loop
  /** The words of the next turn. Absent: the agent is left alone. */
  prompt?: string
  /** The next turn should not remember the earlier ones. */
  fresh?: boolean
  /** When to come back, for a loop that waits for its agent. */
  waitMs?: number
  context?: 'same' | 'fresh' | 'process'
  /** What the checks of this call said. */
  verdicts?: readonly Verdict[]
  show: Note[]
}

export const NOTHING: Answer = { show: [] }

export function say(text: string, level: Note['level'] = 'info'): Answer {
  return { show: [{ level, text }] }
}

/** The prompt of the turn a loop asks for, in a session that remembers the earlier ones or does not. */
export function promptOf(loop: Loop, context: Armed['context']): string {
  if (loop.next.kind !== 'turn' || context === 'process') return ''
  const { work } = loop.spec
  return buildTurnPrompt({ ...loop, spec: { ...loop.spec, work: { ...work, context } } }, loop.next)
}

/** How a loop stands, in one or two sentences for the person in that session. */
export function standing({ id, spec, tally, next }: Loop, host: Host): Note {
  const after = `after ${count(tally.iteration, 'iteration')}`
  const most = iterationLimit(spec.limits, tally)
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
      return {
        level: 'info',
        text: `ralph: iteration ${next.iteration}${most > 0 ? ` of ${most}` : ''}`,
      }
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

/** How often this host lets a hook go on in a row. Its variable counts from the usual eight. */
export function allowance({ cap }: Host, env: Env): number {
  const given = cap?.variable === undefined ? undefined : env[cap.variable]
  if (!cap || given === '0') return Number.POSITIVE_INFINITY
  return given !== undefined && /^\d+$/.test(given) ? Number(given) - 8 + cap.most : cap.most
}

type Env = Readonly<Record<string, string | undefined>>

/** Said once, with the last turn that the host surely allows. */
export function capNote(loop: Loop, { host, since }: Armed, env: Env): Note[] {
  const { cap, title, types } = HOSTS[host]
  const most = allowance(HOSTS[host], env)
  if (!cap || loop.tally.iteration - since !== most) return []
  return [
    {
      level: 'warning',
      text: `ralph: ${title} lets a hook go on ${most} times in a row${cap.raise ? ` (${cap.raise})` : ''}, and this is the last one. Should it stop here, go on with ${types('resume')}, or without a session with \`ralph resume ${loop.id}\`.`,
    },
  ]
}

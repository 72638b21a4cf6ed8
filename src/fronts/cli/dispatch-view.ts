/** Prints agents in panes: as a list for people, as JSON for programs. */

import { money } from '../../formats/spent-words.ts'
import { mask } from '../../host/mask.ts'
import type { Listed } from '../../operations/agents.ts'
import { timeOfDay } from '../../operations/standing.ts'
import { clock, count, type Output, paint, type Style, short } from './text.ts'

const STYLES: Readonly<Record<Listed['state'], Style>> = {
  READY: 'dim',
  WORKING: 'cyan',
  BLOCKED: 'yellow',
  WAITING: 'yellow',
  'NEEDS YOU': 'yellow',
  DONE: 'green',
  STUCK: 'red',
  STALLED: 'red',
}

/** The states that need the user's attention. */
export const CALLS_YOU: readonly Listed['state'][] = ['DONE', 'STUCK', 'NEEDS YOU', 'BLOCKED', 'STALLED']

export function printAgents(agents: readonly Listed[], { out, now }: { out: Output; now: () => number }): string {
  return agents.map((agent) => printAgent(agent, out, now())).join('')
}

function printAgent(agent: Listed, out: Output, at: number): string {
  const { number, name, state, words, until, loop } = agent
  const when = until === undefined ? '' : ` until ${timeOfDay(until)}`
  const wide = (text: string) => short(text, out.columns - 2)
  return [
    `Agent ${number} [${name}] - ${paint(out, STYLES[state], state)}${when}`,
    ...(loop ? [`  ${wide(`Ralph: iteration ${iterations(loop)}, last: "${loop.last}"`)}`] : []),
    ...(words && state !== 'WORKING' ? [`  ${wide(words)}`] : []),
    `  ${paint(out, 'dim', wide(details(agent, at)))}`,
    '',
  ].join('\n')
}

function iterations({ iteration, most }: NonNullable<Listed['loop']>): string {
  return most > 0 ? `${iteration}/${most}` : String(iteration)
}

function details({ agent, loop, queue, tells, restarts, since, state }: Listed, at: number): string {
  const elapsed = loop?.open ? at - loop.startedAt : state === 'READY' ? undefined : at - since
  return [
    agent,
    ...(loop ? [`loop ${loop.id}`, `breaker ${loop.breaker}`] : []),
    ...(loop?.proof ? [`proof ${loop.proof}`] : []),
    ...(loop && loop.costUsd > 0 ? [money(loop.costUsd)] : []),
    ...(elapsed === undefined || elapsed < 0 ? [] : [clock(elapsed)]),
    ...(queue.length > 0 ? [`${count(queue.length, 'task')} queued`] : []),
    ...(tells === 'screen' ? ['read from its screen'] : []),
    ...(restarts > 0 ? [`restarted ${count(restarts, 'time')}`] : []),
  ].join(' · ')
}

/** One line for an agent whose state has changed. */
export function printChange(
  { number, name, state, words, until }: Pick<Listed, 'number' | 'name' | 'state' | 'words' | 'until'>,
  out: Output,
  at: number,
): string {
  const when = until === undefined ? '' : ` until ${timeOfDay(until)}`
  const head = `${new Date(at).toTimeString().slice(0, 8)}  ${number} [${name}] `
  const text = short(words, Math.max(20, out.columns - head.length - state.length - when.length - 3))
  return `${paint(out, 'dim', head)}${paint(out, STYLES[state], state)}${when}${text ? `  ${text}` : ''}`
}

export function agentJson(agent: Listed): object {
  const { number, name, state, since, words, until, tells, restarts, queue, loop, dir } = agent
  return {
    type: 'agent',
    number,
    name,
    agent: agent.agent,
    dir,
    state,
    since: new Date(since).toISOString(),
    words: mask(words),
    until: until === undefined ? null : new Date(until).toISOString(),
    tells,
    restarts,
    queue: queue.map(({ prompt }) => mask(prompt)),
    loop_id: loop?.id ?? null,
    iteration: loop?.iteration ?? null,
    max_iterations: loop?.most ?? null,
    last: loop ? mask(loop.last) : null,
    breaker: loop?.breaker ?? null,
    proof: loop?.proof ?? null,
    cost_usd: loop?.costUsd ?? null,
    tokens: loop?.tokens ?? null,
    started_at: loop ? new Date(loop.startedAt).toISOString() : null,
  }
}

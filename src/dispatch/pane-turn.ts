/** Drives a loop whose turns are taken by an agent in its pane, as far as it goes. */
import { openBench } from '../drive/bench.ts'
import { untilCancelled } from '../drive/check-hands.ts'
import type { Hands, TurnNext } from '../drive/drive.ts'
import { runHands, type Workbench } from '../drive/hands.ts'
import { lookAtSettings } from '../drive/look-at-settings.ts'
import { logTurn, turnEnded } from '../drive/turn-ended.ts'
import type { Visit } from '../drive/visit.ts'
import type { Fact, Loop } from '../engine/loop.ts'
import { isRalphError } from '../error.ts'
import { secretsOf } from '../host/sealed.ts'
import { buildTurnPrompt } from '../prompt/turn-prompt.ts'
import { asText } from './as-text.ts'
import { converse, type Talked } from './converse.ts'
import type { PaneRecord } from './crew.ts'
import type { Pane } from './pane.ts'
import { isSame, type PaneFacts } from './pane-facts.ts'
import { setUp } from './set-up.ts'
import { sightOf } from './sight.ts'
import type { Site } from './site.ts'

export async function driveInPane(
  site: Site,
  pane: Pane,
  { held, stop }: { held: Visit; stop: AbortSignal },
): Promise<void> {
  const { home, store, env, self } = site
  const { agent } = pane.record
  site.purse?.saw(held.loop)
  await takeAnswer(pane, held)
  const bench = await openBench(held, {
    home,
    store,
    env,
    stop,
    self,
    show(event) {
      if (event.kind === 'note') site.note(agent, event.text)
    },
  })
  await pane.saw(held.loop)
  await held.drive(handsOf(site, pane, bench))
  await pane.saw(held.loop)
}

/** Text that the user types in the pane of a waiting agent is the answer, and what the agent does next is its turn. */
async function takeAnswer(pane: Pane, held: Visit): Promise<void> {
  const { typed: words } = pane.record.facts
  const waited = held.loop.next
  if (words === undefined) return
  const isAnswer = waited.kind === 'wait' && waited.why === 'person'
  const { next, id } = isAnswer
    ? await held.move({ kind: 'told', at: held.now(), by: 'you', order: { kind: 'say', words } })
    : held.loop
  const { typed: _, ...facts } = pane.record.facts
  if (!isAnswer || next.kind !== 'turn' || facts.at?.kind !== 'theirs') return pane.knows(facts)
  const mark = { loop: id, iteration: next.iteration, attempt: next.attempt }
  const sent = { mark, text: words, at: held.now(), times: 1 }
  await pane.knows({ ...facts, sent, at: { ...facts.at, kind: 'ours', mark } })
}

function handsOf(site: Site, pane: Pane, bench: Workbench): Hands {
  const hands = runHands(bench, (loop, fact) => {
    site.purse?.saw(loop)
    void seen(pane, loop, fact)
  })
  return {
    ...hands,
    turn: (loop, next) =>
      overspent(site, loop, pane.record) ??
      untilCancelled(bench, loop, (signal) => turn(site, pane, bench, { loop, next, signal })),
  }
}

/** The total spending of all agents counts for each. */
function overspent(site: Site, { tally, spec }: Loop, { agent }: PaneRecord): Promise<Fact> | undefined {
  if (!site.purse?.isSpent()) return undefined
  site.note(agent, 'the total cost limit for all agents (max_total_cost_usd) is reached, so its loop ends.')
  const costUsd = Math.min(tally.costUsd, spec.limits.costUsd ?? tally.costUsd)
  const { now } = site
  return Promise.resolve({ kind: 'told', at: now(), by: 'ralph', order: { kind: 'limits', limits: { costUsd } } })
}

/** What a pause has dealt with does not come up again when the loop continues. */
async function seen(pane: Pane, loop: Loop, fact: Fact): Promise<void> {
  if (fact.kind === 'told' && fact.order.kind === 'pause') {
    const { over: _, sent: __, typed: ___, ...facts } = pane.record.facts
    await pane.knows(facts)
  }
  await pane.saw(loop)
}

type Going = { loop: Loop; next: TurnNext; signal: AbortSignal }

async function turn(
  site: Site,
  pane: Pane,
  bench: Workbench,
  { loop, next, signal }: Going,
): Promise<Fact | undefined> {
  const text = asText(buildTurnPrompt(loop, next).trimEnd())
  const secrets = secretsOf(site.home, [loop.spec, next.heard])
  const mark = { loop: loop.id, iteration: next.iteration, attempt: next.attempt }
  const { RALPH_PORT: port } = bench.env
  const talk = {
    mark,
    text,
    open: secrets.open,
    dir: loop.spec.work.dir,
    ...(port === undefined ? {} : { env: { RALPH_PORT: port } }),
    ...(next.deadline === undefined ? {} : { deadline: next.deadline }),
  }
  if (pane.record.paused) await pane.change({ paused: undefined, facts: reopened(pane.record.facts) })
  await setUp(site, pane, signal)
  const talked = await converse(site, pane, talk, signal)
  if (talked.kind === 'over' && talked.outcome !== 'aborted') {
    const ending = { loop, next, prompt: text, outcome: talked.outcome, mask: secrets.mask }
    logTurn(bench.store.transcripts, ending, bench.now())
    const fact = await turnEnded(bench, ending)
    await lookAtSettings(bench, loop)
    return fact
  }
  return factOf(site, pane, bench, { ...talked, loop: loop.id })
}

/** Its pane was closed, or it did not start: giving it a task or resuming it means it is wanted again. */
export function reopened({ ended: was, failed: _, ...facts }: PaneFacts): PaneFacts {
  return was ? { ...facts, ended: { code: was.code } } : facts
}

/** What happens to a turn that did not finish. */
async function factOf(
  site: Site,
  pane: Pane,
  bench: Workbench,
  { kind, loop }: Talked & { loop: string },
): Promise<Fact | undefined> {
  const at = bench.now()
  // The agent continues without a dispatcher, or with another one.
  if (kind === 'cut' && (bench.stop.aborted || bench.lost?.aborted)) return undefined
  switch (kind) {
    case 'over':
    case 'typed':
    case 'closed': {
      await pane.change({ paused: kind === 'over' ? 'stopped' : kind })
      if (kind === 'closed') await forget(pane, { closed: true })
      return { kind: 'told', at, by: 'you', order: { kind: 'pause' } }
    }
    case 'lost':
      await forget(pane)
      return { kind: 'lost', at }
    case 'cut':
    case 'late':
      await interrupt(site, pane, loop)
      return kind === 'late' ? { kind: 'woke', at } : { kind: 'lost', at }
  }
}

/** It has to be restarted before it can do anything. `closed`: only once the user wants that. */
export async function forget(pane: Pane, how: { closed?: true } = {}): Promise<void> {
  const { at: _, up: __, ...facts } = pane.record.facts
  await pane.knows({ ...facts, ended: { code: 129, ...how } })
}

/** Its turn lasts until it reports that it has stopped, even if the prompt is still on its way. */
async function interrupt(site: Site, pane: Pane, loop: string): Promise<void> {
  const { at, sent, over } = pane.record.facts
  const isOnItsWay = sent?.mark.loop === loop && !(over && isSame(over.mark, sent.mark))
  const { interrupt: keys = [], clear = [] } = pane.kind.screen ?? {}
  try {
    if (at?.kind === 'ours') await site.tmux.press(pane.tag, ...keys)
    else if (isOnItsWay)
      await site.tmux.press(pane.tag, ...((await sightOf(site, pane)).input === 'typed' ? clear : keys))
  } catch (cause) {
    if (!isRalphError(cause)) throw cause // its terminal is gone, so there is nothing left to interrupt
  }
}

/** Keeps one agent in its pane going: its task is its loop, and when that is over the next one begins. */
import { openBench } from '../drive/bench.ts'
import { untilCancelled } from '../drive/check-hands.ts'
import type { Hands, TurnNext } from '../drive/drive.ts'
import { runHands, type Workbench } from '../drive/hands.ts'
import { logTurn, turnEnded } from '../drive/turn-ended.ts'
import { type Visit, visit } from '../drive/visit.ts'
import { ended, type Fact, type Loop } from '../engine/loop.ts'
import { isRalphError, RalphError } from '../error.ts'
import { runCheck } from '../host/check.ts'
import { reap } from '../host/process-tree.ts'
import type { StoredMail } from '../host/store.ts'
import { buildTurnPrompt } from '../prompt/turn-prompt.ts'
import { converse, type Talked } from './converse.ts'
import type { PaneRecord } from './crew.ts'
import { isSame } from './hear.ts'
import type { Pane } from './pane.ts'
import { sightOf } from './sight.ts'
import type { Site } from './site.ts'
import { startAgent } from './start-agent.ts'

/** What an agent is to do, oldest first. */
export type Tasks = () => Promise<StoredMail[]>

/** Returns when the dispatcher leaves, or when its agent is not wanted any more. */
export async function attend(
  site: Site,
  pane: Pane,
  { tasks, stop }: { tasks: Tasks; stop: AbortSignal },
): Promise<void> {
  while (!stop.aborted) {
    const loop = await current(site, pane)
    if (loop && isMovable(pane, loop)) await drive(site, pane, { id: loop.id, stop })
    else if (loop || !(await begin(site, pane, { tasks, stop }))) await idle(site, pane, stop)
  }
}

/** Nothing is to be done: the agent is kept there all the same. */
async function idle(site: Site, pane: Pane, stop: AbortSignal): Promise<void> {
  const { facts, agent, restarts } = pane.record
  if (!agent.worktree && facts.dir === undefined) return comeUp(site, pane, { resume: false })
  if (!agent.worktree && facts.ended && (await isToStay(site, pane))) {
    await pane.change({ restarts: restarts + 1 })
    return comeUp(site, pane, { resume: !facts.failed })
  }
  await pane.news.wait(undefined, stop)
}

/** Who has closed it, or told it to end, wants it so. One that crashed, or went with its server, comes back. */
async function isToStay({ tmux }: Site, { record: { facts } }: Pane): Promise<boolean> {
  if (facts.ended?.closed) return (await tmux.look())?.server !== facts.server
  return facts.ended?.code !== 0 && (facts.failed ?? 0) < 3
}

async function comeUp(site: Site, pane: Pane, { resume }: { resume: boolean }): Promise<void> {
  const { agent } = pane.record
  try {
    await setUp(site, pane)
    await startAgent(site, pane, { dir: agent.dir, resume })
  } catch (cause) {
    if (!isRalphError(cause)) throw cause
    site.note(agent, cause.message)
    await pane.knows({ ...pane.record.facts, dir: agent.dir, ended: { code: 0 } })
  }
}

const SETUP_MINUTES = 30

/** Before it is started for the first time in its folder. */
async function setUp({ env, stop }: Site, pane: Pane): Promise<void> {
  const { agent, setUp: done } = pane.record
  if (agent.setup === undefined || done === agent.setup) return
  const verdict = await runCheck(agent.setup, { dir: agent.dir, env, minutes: SETUP_MINUTES, signal: stop })
  if (verdict && verdict.result !== 'pass')
    throw new RalphError(
      'setup-failed',
      `its setup (${agent.setup}) failed in ${agent.dir}:\n${verdict.tail.trimEnd()}\nFix it, then give it a task.`,
    )
  if (verdict) await pane.change({ setUp: agent.setup })
}

/** The loop it works on. One that is over is looked at by a person, and then forgotten. */
async function current({ store }: Site, pane: Pane): Promise<Loop | undefined> {
  const { loop: id, last } = pane.record
  const loop = id === undefined ? undefined : await store.load(id)
  if (loop && !ended(loop)) {
    if (JSON.stringify(loop) !== JSON.stringify(pane.loop)) await pane.saw(loop)
    return loop
  }
  if (loop) await pane.change({ loop: undefined, last: loop.id, seen: undefined, paused: undefined })
  const known = pane.loop?.id === (id ?? last) ? pane.loop : undefined
  if (loop) await pane.saw(loop)
  else if (!known && last !== undefined) await pane.saw(await store.load(last))
  return undefined
}

/** A loop that waits for a person goes on with what they type in the pane, or with an order from elsewhere. */
function isMovable({ record }: Pane, { next }: Loop): boolean {
  if (next.kind !== 'wait' || next.until !== undefined) return true
  return next.why === 'person' && record.facts.typed !== undefined
}

async function begin(site: Site, pane: Pane, { tasks, stop }: { tasks: Tasks; stop: AbortSignal }): Promise<boolean> {
  const [task] = await tasks()
  const { agent, facts } = pane.record
  if (task?.mail.kind !== 'task' || facts.at?.kind === 'theirs' || isSpent(site)) return false
  if (!agent.enabled) return giveOnce(site, pane, { id: task.id, prompt: task.mail.prompt, stop })
  const loop = await made(site, pane, task.mail.prompt)
  if (!loop) {
    await site.store.panes.strike(task.id)
    return true
  }
  const { last: _, seen: __, paused: ___, ...rest } = pane.record
  if (!(await site.store.panes.begin(task.id, loop, pane.key, { ...rest, loop: loop.id }))) return true
  await pane.change({ loop: loop.id, last: undefined, seen: undefined, paused: undefined })
  await pane.saw(loop)
  return true
}

/** Undefined where no loop can be made of it; the person is told. */
async function made({ make, note }: Site, { record: { agent } }: Pane, prompt: string): Promise<Loop | undefined> {
  try {
    return await make(agent, prompt)
  } catch (cause) {
    if (!isRalphError(cause)) throw cause
    note(agent, `its task was dropped: ${cause.message}`)
    return undefined
  }
}

/** Without a loop: the agent gets the task as it is, and what it makes of it is the person's to judge. */
async function giveOnce(
  site: Site,
  pane: Pane,
  { id, prompt, stop }: { id: number; prompt: string; stop: AbortSignal },
): Promise<boolean> {
  const mark = { loop: '', iteration: id, attempt: 1 }
  const talked = await converse(site, pane, { mark, text: asText(prompt), dir: pane.record.agent.dir }, stop)
  if (talked.kind === 'typed') {
    const { typed: _, ...facts } = pane.record.facts
    await pane.knows(facts)
  }
  if (talked.kind === 'closed' || talked.kind === 'lost') await forget(pane)
  if (talked.kind === 'over') await site.store.panes.strike(id)
  return true
}

async function drive(site: Site, pane: Pane, { id, stop }: { id: string; stop: AbortSignal }): Promise<void> {
  const { store, now } = site
  try {
    await visit<void>(id, {
      store,
      now,
      // Somebody gives it an order; it is free again at once.
      held: () => pane.news.wait(200, stop),
      takeUp: { reap, loss: async () => undefined },
      work: (held) => work(site, pane, { held, stop }),
    })
  } catch (cause) {
    if (!isRalphError(cause)) throw cause
    site.note(pane.record.agent, cause.message)
    await pane.change({ paused: { trouble: cause.message } })
    await giveUp(site, pane, id)
  }
}

/** What a person must put right first, such as a set-up that fails, is no reason to try again and again. */
async function giveUp({ store, now }: Site, pane: Pane, id: string): Promise<void> {
  await visit<void>(id, {
    store,
    now,
    held: async () => {},
    async work(held) {
      await held.move({ kind: 'told', at: held.now(), by: 'ralph', order: { kind: 'pause' } })
      await pane.saw(held.loop)
    },
  })
}

async function work(site: Site, pane: Pane, { held, stop }: { held: Visit; stop: AbortSignal }): Promise<void> {
  const { home, store, env, self } = site
  const { agent } = pane.record
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

/** What a person types in the pane of an agent that waits for them is its answer, and what the agent does then is its turn. */
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
  const hands = runHands(bench, (loop, fact) => void seen(pane, loop, fact))
  return {
    ...hands,
    turn: (loop, next) =>
      overspent(site, loop, pane.record) ??
      untilCancelled(bench, loop, (signal) => turn(site, pane, bench, { loop, next, signal })),
  }
}

function isSpent({ left }: Site): boolean {
  return (left?.() ?? 1) <= 0
}

/** What all of them have spent together counts for each. */
function overspent(site: Site, { tally, spec }: Loop, { agent }: PaneRecord): Promise<Fact> | undefined {
  if (!isSpent(site)) return undefined
  site.note(agent, 'the cost limit for all agents together (max_total_cost_usd) is reached, so its loop ends.')
  const costUsd = Math.min(tally.costUsd, spec.limits.costUsd ?? tally.costUsd)
  const { now } = site
  return Promise.resolve({ kind: 'told', at: now(), by: 'ralph', order: { kind: 'limits', limits: { costUsd } } })
}

/** What a pause has dealt with is not met again when the loop goes on. */
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
  const mark = { loop: loop.id, iteration: next.iteration, attempt: next.attempt }
  const { RALPH_PORT: port } = bench.env
  const talk = {
    mark,
    text,
    dir: loop.spec.work.dir,
    ...(port === undefined ? {} : { env: { RALPH_PORT: port } }),
    ...(next.deadline === undefined ? {} : { deadline: next.deadline }),
  }
  if (pane.record.paused) await pane.change({ paused: undefined })
  const talked = await converse(site, pane, talk, signal)
  if (talked.kind === 'over' && talked.outcome !== 'aborted') {
    const ending = { loop, next, prompt: text, outcome: talked.outcome }
    logTurn(bench.store.transcripts, ending, bench.now())
    return turnEnded(bench, ending)
  }
  return factOf(site, pane, bench, { ...talked, loop: loop.id })
}

/** With these first, clients take a prompt for a command of their own, or even of the shell. */
function asText(prompt: string): string {
  return /^\s*[/!#$&@]/.test(prompt) ? `Your task:\n\n${prompt}` : prompt
}

/** What becomes of a turn that did not get to its end. */
async function factOf(
  site: Site,
  pane: Pane,
  bench: Workbench,
  { kind, loop }: Talked & { loop: string },
): Promise<Fact | undefined> {
  const at = bench.now()
  // The agent goes on without a dispatcher, or with another one.
  if (kind === 'cut' && (bench.stop.aborted || bench.lost?.aborted)) return undefined
  switch (kind) {
    case 'over':
    case 'typed':
    case 'closed': {
      await pane.change({ paused: kind === 'over' ? 'stopped' : kind })
      if (kind === 'closed') await forget(pane)
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

/** It has to be started again before it can do anything. */
async function forget(pane: Pane): Promise<void> {
  const { at: _, up: __, ...facts } = pane.record.facts
  await pane.knows({ ...facts, ended: { code: 129 } })
}

/** Its turn goes on until it says that it has stopped; also one that is still on its way to it. */
async function interrupt(site: Site, pane: Pane, loop: string): Promise<void> {
  const { at, sent, over } = pane.record.facts
  const isOnItsWay = sent?.mark.loop === loop && !(over && isSame(over.mark, sent.mark))
  const { interrupt: keys = [], clear = [] } = pane.kind.screen ?? {}
  try {
    if (at?.kind === 'ours') await site.tmux.press(pane.tag, ...keys)
    else if (isOnItsWay)
      await site.tmux.press(pane.tag, ...((await sightOf(site, pane)).input === 'typed' ? clear : keys))
  } catch (cause) {
    if (!isRalphError(cause)) throw cause // its terminal is gone, and with it what was to be interrupted
  }
}

/** One turn of an agent in its pane: submits its prompt, makes sure it arrives, and waits for the end. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Outcome } from '../agents/agent.ts'
import type { Sight } from '../agents/read-screen.ts'
import { isRalphError, RalphError } from '../error.ts'
import type { Pane } from './pane.ts'
import { applyReport, type Sent, type TurnMark } from './pane-facts.ts'
import { sightOf } from './sight.ts'
import type { Site } from './site.ts'
import { startAgent } from './start-agent.ts'
import { whatNow } from './what-now.ts'

export type Talk = {
  mark: TurnMark
  text: string
  /** Replaces marks with their secrets right before the text is typed. */
  open(text: string): string
  dir: string
  /** In addition to every agent's environment. */
  env?: Readonly<Record<string, string>>
  deadline?: number
  /** Whether it is no longer wanted. */
  isOff?: () => Promise<boolean>
}

export type Talked =
  | { kind: 'over'; outcome: Outcome | 'aborted' }
  /** The user has typed something else, or closed its pane. */
  | { kind: 'typed' | 'closed' }
  /** Its terminal is gone, along with all the others. */
  | { kind: 'lost' }
  /** The signal fired, or its time is up. */
  | { kind: 'cut' | 'late' }

/** How long a prompt may take to arrive. */
const ARRIVES_MS = 5_000
/** After this long without a key press, and with an empty line, nobody is typing. */
const TYPES_MS = 10_000
const LOOK_MS = 1_000
/** How long a pasted prompt may take to show. */
const SHOWS_MS = 3_000
const SHOWS_EVERY_MS = 100
/** How often Enter is pressed for one prompt. */
const PRESSES = 5
/** Typed text that has disappeared was submitted, and a report follows soon. */
const SENT_OFF_MS = 1_500
/** How long its input line may take to appear. After that, the prompt is typed even if the line is not recognized. */
const COMES_UP_MS = 15_000

export async function converse(site: Site, pane: Pane, talk: Talk, signal: AbortSignal): Promise<Talked> {
  try {
    for (;;) {
      if (signal.aborted || (await talk.isOff?.())) return { kind: 'cut' }
      if (talk.deadline !== undefined && site.now() >= talk.deadline) return { kind: 'late' }
      const act = whatNow(pane.record.facts, talk.mark, talk.dir)
      switch (act.kind) {
        case 'over':
        case 'typed':
          return act
        case 'closed':
          // Closing one terminal is intentional. A server that died has taken all of them.
          return { kind: (await site.tmux.look())?.server === pane.record.facts.server ? 'closed' : 'lost' }
        case 'start':
          await startAgain(site, pane, talk)
          break
        case 'send':
        case 'sent':
          if (!(await bringIn(site, pane, talk, { act: act.kind, signal }))) await pane.news.wait(LOOK_MS, signal)
          break
        case 'wait':
          await pane.news.wait(talk.deadline === undefined ? undefined : talk.deadline - site.now(), signal)
      }
    }
  } finally {
    await pane.typing(false)
  }
}

/** An agent started for another folder starts a new session there. */
async function startAgain(site: Site, pane: Pane, { dir, env }: Talk): Promise<void> {
  const { facts, restarts, agent } = pane.record
  const here = facts.dir === dir
  if (facts.ended && here) {
    await mustComeUp(site, pane)
    await pane.change({ restarts: restarts + 1 })
    site.note(agent, `it ended (exit code ${facts.ended.code}); restarting it.`)
  }
  // A session that it failed to start with is not tried again.
  await startAgent(site, pane, { dir, resume: here && !facts.failed, ...(env ? { env } : {}) })
}

const TRIES = 3

async function mustComeUp({ tmux }: Site, { tag, record: { facts, agent } }: Pane): Promise<void> {
  if ((facts.failed ?? 0) < TRIES) return
  const lines = (await tmux.screen(tag).catch(() => '')).split('\n').filter((line) => line.trim() !== '')
  throw new RalphError(
    'agent-unusable',
    `${agent.agent} exits as soon as it starts (exit code ${facts.ended?.code}). Its last output: ${lines.slice(-3).join(' / ') || 'none.'}`,
  )
}

/** False if it has to wait. A terminal that has just disappeared is noticed elsewhere. */
async function bringIn(
  site: Site,
  pane: Pane,
  talk: Talk,
  { act, signal }: { act: 'send' | 'sent'; signal: AbortSignal },
): Promise<boolean> {
  try {
    if (act === 'sent') await awaitArrival(site, pane, talk, signal)
    else if (await isFree(site, pane)) await send(site, pane, talk)
    else return false
    return true
  } catch (cause) {
    if (isRalphError(cause) && cause.code === 'tmux-failed') return false
    throw cause
  }
}

/** Whether nobody is typing in it, and its input line is empty. */
async function isFree(site: Site, pane: Pane): Promise<boolean> {
  const typesNow = await isTyping(site, pane, pane.record.facts.stoppedAt ?? 0)
  const seen = await sightOf(site, pane)
  if (seen.asks !== undefined) await pane.knows({ ...pane.record.facts, asks: seen.asks })
  if (seen.asks !== undefined || seen.working || comesUp(site, pane, seen)) return false
  await pane.typing(typesNow || seen.input === 'typed')
  return site.now() - pane.typedAt > SENT_OFF_MS
}

/** A client may report that it has started before it shows its input line, and treats Enter as a line break until then. */
function comesUp({ now }: Site, { kind, record: { facts } }: Pane, { input }: Sight): boolean {
  return kind.screen !== undefined && input === 'unknown' && now() - (facts.startedAt ?? 0) < COMES_UP_MS
}

async function isTyping({ tmux, now }: Site, { tag }: Pane, since: number): Promise<boolean> {
  const { typedAt } = (await tmux.look())?.panes.get(tag) ?? {}
  return typedAt !== undefined && typedAt > since && now() - typedAt < TYPES_MS
}

/** Recorded before it happens: the successor of a killed dispatcher checks whether it did. */
async function send(site: Site, pane: Pane, { mark, text, open }: Talk, times = 0): Promise<void> {
  const { now, tmux } = site
  const given = () => ({ ...pane.record.facts, sent: { mark, text, at: now(), times } })
  await pane.knows(given())
  await tmux.paste(pane.tag, open(text))
  await settled(site, pane)
  await tmux.press(pane.tag, 'Enter')
  const { facts } = pane.record
  if (facts.sent && !facts.at) await pane.knows({ ...facts, sent: { ...facts.sent, times: times + 1 } })
}

/** A client needs a moment to process a paste; a busy one shows it late. */
async function settled(site: Site, pane: Pane): Promise<void> {
  const ms = pane.kind.screen?.settleMs
  if (!ms) return
  const end = site.now() + SHOWS_MS
  while ((await sightOf(site, pane)).input === 'empty' && site.now() < end) await sleep(SHOWS_EVERY_MS)
  await sleep(ms)
}

async function awaitArrival(site: Site, pane: Pane, talk: Talk, signal: AbortSignal): Promise<void> {
  const { facts } = pane.record
  const { sent } = facts
  if (!sent) return
  if (!pane.kind.pane) return seeArrival(site, pane, sent)
  const left = sent.at + ARRIVES_MS - site.now()
  if (left > 0) return pane.news.wait(left, signal)
  const seen = await sightOf(site, pane)
  if (whatNow(pane.record.facts, talk.mark, talk.dir).kind !== 'sent') return // it has arrived in the meantime
  if (seen.asks !== undefined) return pane.knows({ ...pane.record.facts, asks: seen.asks })
  if (seen.working || (await isTyping(site, pane, sent.at))) return pane.news.wait(LOOK_MS, signal)
  if (sent.times < 2 && seen.input === 'empty') {
    site.note(pane.record.agent, 'its prompt did not arrive; sending it once more.')
    return send(site, pane, talk, sent.times)
  }
  if (await pressAgain(site, pane, { sent, seen })) return
  await pane.knows({ ...pane.record.facts, sent: { ...sent, stalled: true } })
}

/** A client without a hook reports nothing. Text gone from its input line was submitted. */
async function seeArrival(site: Site, pane: Pane, sent: Sent): Promise<void> {
  const seen = await sightOf(site, pane)
  const { facts } = pane.record
  if (seen.asks !== undefined) return pane.knows({ ...facts, asks: seen.asks })
  if (seen.working || seen.input === 'empty')
    return pane.knows(applyReport(facts, { kind: 'prompt', words: sent.text }, site.now()))
  if (site.now() - sent.at < ARRIVES_MS || (await isTyping(site, pane, sent.at))) return pane.news.wait(LOOK_MS / 2)
  if (await pressAgain(site, pane, { sent, seen })) return
  await pane.knows({ ...facts, sent: { ...sent, stalled: true } })
}

/** A busy client treats Enter as a line break in the paste: the prompt is there, but was not submitted. */
async function pressAgain(site: Site, pane: Pane, { sent, seen }: { sent: Sent; seen: Sight }): Promise<boolean> {
  if (sent.times >= PRESSES || seen.input !== 'typed') return false
  await pane.knows({ ...pane.record.facts, sent: { ...sent, at: site.now(), times: sent.times + 1 } })
  await site.tmux.press(pane.tag, 'Enter')
  return true
}

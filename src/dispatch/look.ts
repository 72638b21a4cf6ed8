/** Reads the screens now and then for what no hook reports, such as a question during startup or an interrupted turn. */

import type { Outcome, Screen } from '../agents/agent.ts'
import type { TmuxPane } from '../host/tmux.ts'
import type { Pane } from './pane.ts'
import { applyReport, isOurs } from './pane-facts.ts'
import { sightOf } from './sight.ts'
import type { Site } from './site.ts'

/** A working agent's hook reports when it stops, so its screen is read only after this long without output. */
const HOOK_PATIENCE_MS = 15_000
/** How long an agent may take to start before its screen is read. */
const START_MS = 3_000
/** The time of the last output is known to the second. */
const DRAWN_MS = 2_000
const START_PATIENCE_MS = 60_000

/** `terminal`: as seen at that time. */
export async function lookAt(
  site: Site,
  pane: Pane,
  { terminal, at }: { terminal: TmuxPane | undefined; at: number },
): Promise<void> {
  const { facts } = pane.record
  const { now } = site
  // It has no terminal yet or any longer, or it got a new one since.
  if (facts.server === undefined || facts.ended || (facts.startedAt ?? 0) >= at) return
  if (!terminal) return pane.knows(applyReport(facts, { kind: 'ended', code: 129, closed: true }, now()))
  if (!terminal.alive) return pane.knows(applyReport(facts, { kind: 'ended', code: 1 }, now()))
  const { screen } = pane.kind
  if (!screen || !isDue(pane, terminal, now())) return
  const text = await site.tmux.screen(pane.tag)
  const seen = await sightOf(site, pane, text)
  const latest = pane.record.facts
  if (seen.asks !== undefined) {
    if (latest.asks === undefined) await pane.knows({ ...latest, asks: seen.asks })
    return
  }
  if (latest.asks !== undefined && seen.input !== 'unknown')
    return pane.knows(applyReport(latest, { kind: 'answered' }, now()))
  if (!latest.up && seen.input !== 'unknown' && hasStarted(pane, terminal, now()))
    return pane.knows(applyReport(latest, { kind: 'started' }, now()))
  if (!latest.up && seen.input === 'unknown' && isLost(pane, now())) return pane.knows({ ...latest, asks: UNREADABLE })
  if (seen.working || seen.input === 'unknown') return
  await quiet(site, pane, text)
}

/** An input line that has just been drawn may not accept a paste yet. A client that reports its start does so later. */
function hasStarted(pane: Pane, { printedAt }: TmuxPane, at: number): boolean {
  const reportsStart = pane.kind.pane && !pane.kind.screen?.silentStart
  return isLong(pane, at) || (!reportsStart && at - printedAt > DRAWN_MS)
}

function isLong({ record: { facts } }: Pane, at: number): boolean {
  return at - (facts.startedAt ?? at) > HOOK_PATIENCE_MS
}

/** ralph cannot interpret its screen. */
const UNREADABLE = 'something that ralph does not understand. Attach to its pane and look.'

function isLost({ record: { facts } }: Pane, at: number): boolean {
  return at - (facts.startedAt ?? at) > START_PATIENCE_MS
}

/** Whether its screen may have something to say. */
function isDue({ kind, record: { facts } }: Pane, { printedAt }: TmuxPane, at: number): boolean {
  if (facts.asks !== undefined) return true
  if (!facts.up) return at - (facts.startedAt ?? 0) > START_MS
  if (!facts.at && !facts.sent?.stalled && kind.pane) return false
  const patience = kind.pane ? HOOK_PATIENCE_MS : (kind.screen as Screen).quietSeconds * 1_000
  return at - printedAt > patience
}

/** It prints nothing, and its input line accepts text: whatever it was doing has ended. */
async function quiet({ now }: Site, pane: Pane, text: string): Promise<void> {
  const { facts } = pane.record
  if (!facts.at) return
  // A hook reports how a turn ended, unless the user stopped it.
  await pane.knows(applyReport(facts, { kind: 'stop', outcome: pane.kind.pane ? 'aborted' : said(pane, text) }, now()))
}

/** Output of a client that only its screen shows: the text below the prompt. */
function said({ record: { facts } }: Pane, text: string): Outcome {
  const lines = text.split('\n')
  const last = (facts.sent?.text ?? '').trimEnd().split('\n').at(-1) ?? ''
  const echo = last.trim() === '' ? -1 : lines.findLastIndex((line) => isOurs(line, last))
  const finalText = lines.slice(echo + 1).join('\n')
  return { kind: 'ok', finalText, tokens: 0, denied: [], ran: [] }
}

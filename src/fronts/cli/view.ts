/** What `ralph run` prints: a live status line, one line per finished iteration, and the result. */
import type { AgentEvent } from '../../agents/agent.ts'
import { parseAgent } from '../../agents/index.ts'
import type { Show } from '../../drive/hands.ts'
import { iterationLimit } from '../../engine/limits.ts'
import { type Fact, type Loop, statusOf, type Turn, type Work } from '../../engine/loop.ts'
import { agentsOf } from '../../engine/roster.ts'
import { allChecks, openStages } from '../../engine/stages.ts'
import {
  baselineLines,
  experimentLine,
  isBaseline,
  proofFields,
  provingWords,
  refusalWords,
} from '../../formats/proof-words.ts'
import { spent } from '../../formats/spent-words.ts'
import type { Tree } from '../../host/tree.ts'
import type { Forecasted } from '../../operations/get-forecast.ts'
import { askNote } from '../../operations/grant-words.ts'
import { standingOf, waitFields, waitWords } from '../../operations/standing.ts'
import { openStatusLine } from './live.ts'
import { diffWords, gradeOf, iterationMark, iterationSentence, printEnding, type Settled } from './story.ts'
import { clock, count, jsonLine, type Output, paint, type Style, short } from './text.ts'

export type View = {
  begin(loop: Loop, found: Found): void
  show: Show
  saw(loop: Loop, fact: Fact): void
  say(text: string): void
  end(loop: Loop): void
}

/** `suggestion`: a check found in the project, for a loop that has none. `forecast`: estimate from past loops. */
export type Found = { suggestion: string | undefined; checkpoints: Tree['checkpoints']; forecast?: Forecasted }

export function openView(output: Output, now: () => number): View {
  const status = openStatusLine(output)
  const noted = new Set<string>()
  let turn: Shown = { settled: { verdicts: [] }, startedAt: now(), agent: undefined }
  let before: Loop | undefined
  const line = (text: string) => status.above(`${text}\n`)
  return {
    begin(loop, found) {
      before = loop
      turn = { ...turn, settled: { turn: lastTurn(loop), verdicts: [] } }
      for (const text of beginning(output, loop, found)) line(text)
    },
    show(event, loop) {
      if (event.kind === 'note') {
        if (!noted.has(event.text)) line(`    ${paint(output, 'yellow', '!')}  ${event.text}`)
        noted.add(event.text)
        return
      }
      if (event.kind === 'turn-start')
        turn = { ...turn, startedAt: now(), agent: loop.next.kind === 'turn' ? loop.next.agent : undefined }
      const doing = doingDuring(event, loop)
      if (doing) status.set(() => statusText(loop, doing, now() - loop.tally.startedAt))
    },
    saw(loop, fact) {
      status.clear()
      const baseline = isBaseline(fact, before?.next)
      turn = { ...turn, settled: settledBy(turn.settled, { before, loop, fact }) }
      const lines = baseline ? baselineLines(loop) : factLines(output, turn, { loop, fact, now: now() })
      for (const text of lines) line(text)
      before = loop
      const { next } = loop
      if (next.kind === 'prove') status.set(() => statusText(loop, provingWords(next), now() - loop.tally.startedAt))
    },
    say: line,
    end(loop) {
      status.clear()
      output.write(printEnding(loop, output))
    },
  }
}

/** The turn being shown. `agent`: set if the loop has several. */
type Shown = { settled: Settled; startedAt: number; agent: string | undefined }

function beginning(output: Output, loop: Loop, { suggestion = 'npm test', checkpoints, forecast }: Found): string[] {
  const { spec, tally } = loop
  const checks = allChecks(spec)
  const limit = iterationLimit(spec.limits, tally)
  const { sandbox, worktree, permissions, gitDir } = spec.work
  const unproven = `No check: nothing proves the agent's claim. Add one with --verify "${suggestion}".`
  const hasNone = 'none' in checkpoints && (tally.iteration === 0 || gitDir !== undefined)
  return [
    `${paint(output, 'bold', 'ralph')} loop ${paint(output, 'cyan', loop.id)} · agent ${agentsOf(spec).join(', then ')} · ${limit > 0 ? `up to ${count(limit, 'iteration')}` : 'no iteration limit'}`,
    ...[bypassLine(agentsOf(spec), permissions) ?? []].flat(),
    ...agentsOf(spec).flatMap((name) => askNote(name, permissions) ?? []),
    ...(checks.length > 0 ? checks.map((check) => `check: ${check}`) : [paint(output, 'yellow', unproven)]),
    ...(sandbox ? [sandboxLine(spec.work)] : []),
    ...(worktree ? [`worktree: ${worktree.path} · branch ${worktree.branch}`] : []),
    ...(forecast?.enough ? [`history: ${forecast.sentence}`] : []),
    ...(hasNone ? [`No checkpoints: ${checkpoints.none}, so nothing can be rolled back.`] : []),
  ]
}

function sandboxLine({ sandbox, sandboxAllow = [] }: Work): string {
  const who = sandbox === 'strict' ? 'the agent and the checks' : 'the agent'
  const network = sandbox === 'strict' ? '; the checks have no network' : ''
  const services = sandboxAllow.length > 0 ? `; allowed: ${sandboxAllow.join(', ')}` : ''
  return `sandbox: ${who} can write only to the worktree and the agent's settings${network}${services}`
}

/** Updates what is known about a turn with a new fact. `before`: the loop before that fact. */
export function settledBy(
  settled: Settled,
  { before, loop, fact }: { before: Loop | undefined; loop: Loop; fact: Fact },
): Settled {
  if (fact.kind === 'turned') return { turn: fact.turn, verdicts: [] }
  if (fact.kind !== 'checked' && fact.kind !== 'proved') return settled
  const refusal = before && refusalWords(before.tally, loop)
  return {
    ...settled,
    ...(fact.kind === 'checked' && !isBaseline(fact, before?.next) ? { verdicts: fact.verdicts } : {}),
    ...(refusal === undefined ? {} : { refusal }),
  }
}

/** Whether the turn is finished, including its checks and experiments. */
export function isSettled({ next }: Loop, fact: Fact): boolean {
  const isTurn = fact.kind === 'turned' || fact.kind === 'checked' || fact.kind === 'proved'
  return isTurn && next.kind !== 'check' && next.kind !== 'prove'
}

function doingDuring(event: Exclude<Parameters<Show>[0], { kind: 'note' }>, { spec, next }: Loop): string | undefined {
  if (event.kind === 'agent') return doingOf(event.event)
  if (next.kind === 'prove') return provingWords(next)
  return event.kind === 'check-start' ? `checking: ${allChecks(spec).join(', ')}` : 'the agent is working'
}

type Seen = { loop: Loop; fact: Fact; now: number }

/** The lines for a fact: an experiment, a finished iteration, another agent, a wait, an interruption. */
function factLines(output: Output, turn: Shown, { loop, fact, now }: Seen): string[] {
  const { next } = loop
  const lines =
    fact.kind === 'proved' ? [paint(output, 'dim', `    ·  ${short(experimentLine(fact, loop.tally), 200)}`)] : []
  if (isSettled(loop, fact)) lines.push(iterationLine(output, turn, loop, fact.at))
  if (fact.kind === 'turned' && next.kind === 'turn' && turn.agent !== undefined && next.agent !== turn.agent)
    lines.push(`    ${paint(output, 'yellow', '→')}  ${next.agent} takes over`)
  if (next.kind === 'wait' && next.until !== undefined)
    lines.push(
      `    ${paint(output, 'yellow', '…')}  ${waitWords(next, ` (${clock(next.until - now)})`)}; to try now: ralph resume ${loop.id}`,
    )
  if (fact.kind === 'lost')
    lines.push(`    ${paint(output, 'dim', `·  ${next.kind === 'turn' ? TURN_LOST : CHECKS_LOST}`)}`)
  return lines
}

const CHECKS_LOST = 'the checks were interrupted; they run again'
const TURN_LOST = 'this attempt was interrupted; its iteration is not counted'

function iterationLine(output: Output, { settled, startedAt, agent }: Shown, loop: Loop, at: number): string {
  const counted = settled.turn?.end === 'ok' || settled.turn?.end === 'context-full'
  const number = counted ? String(loop.tally.iteration).padStart(3) : '   '
  const grade = gradeOf(loop)
  const mark = iterationMark(settled, grade)
  const tail = [diffWords(settled.turn?.diff), clock(at - startedAt)].join('  ').trim()
  const sentence = `${agent === undefined ? '' : `${agent} `}${iterationSentence(settled, grade)}`
  const room = Math.max(30, output.columns - tail.length - 9)
  return `${number} ${paint(output, MARK_STYLES[mark] ?? 'dim', mark)}  ${short(sentence, room)}  ${paint(output, 'dim', tail)}`
}

/** The flags that let the agents work without asking, if any. */
export function bypassLine(agents: readonly string[], permissions: 'bypass' | 'ask'): string | undefined {
  const flags = agents.flatMap((name) => parseAgent(name).agent.bypass ?? [])
  if (flags.length === 0 || permissions === 'ask') return undefined
  return `permissions: bypassed with ${[...new Set(flags)].join(', ')}; use --permissions ask to restrict the agent`
}

/** What is known about the previous turn, for a loop that is resumed at its checks. */
function lastTurn({ tally }: Loop): Turn {
  return { end: 'ok', claim: tally.claim, words: tally.words, ranTests: false, tokens: 0 }
}

export const MARK_STYLES: Readonly<Record<string, Style>> = { '✓': 'green', '✗': 'red', '!': 'yellow' }

function statusText({ spec, tally, next }: Loop, doing: string, elapsedMs: number): string {
  const limit = iterationLimit(spec.limits, tally)
  const iteration = next.kind === 'turn' ? next.iteration : tally.iteration
  const [stage] = openStages(spec, tally)
  return [
    iteration === 0 ? 'before any work' : `iteration ${iteration}${limit > 0 ? `/${limit}` : ''}`,
    ...(next.kind === 'turn' && next.attempt > 1 ? [`attempt ${next.attempt}`] : []),
    ...(next.kind === 'turn' && next.agent !== undefined ? [next.agent] : []),
    ...(stage ? [stage.name] : []),
    clock(elapsedMs),
    ...(tally.costUsd > 0 || tally.tokens > 0 ? [spent(tally)] : []),
    doing,
  ].join(' · ')
}

export function doingOf(event: AgentEvent): string | undefined {
  switch (event.kind) {
    case 'tool':
      return `${event.name}: ${event.summary}`
    case 'text':
      return event.text
    case 'retry':
      return `the agent retries: ${event.why}`
    case 'warning':
      return event.message
    case 'session':
    case 'usage':
      return undefined
  }
}

/** The same for programs: one JSON object per line. */
export function openJsonView(output: Output): View {
  const print = (value: object) => output.write(jsonLine(value))
  return {
    begin: (loop, { checkpoints, forecast }) =>
      print({
        type: 'loop-start',
        loop_id: loop.id,
        dir: loop.spec.work.dir,
        checkpoints: !('none' in checkpoints),
        agent: loop.spec.work.agent,
        agents: agentsOf(loop.spec),
        checks: allChecks(loop.spec),
        max_iterations: loop.spec.limits.iterations,
        ...(forecast?.enough ? { forecast: forecastFields(forecast) } : {}),
      }),
    show: (event, loop) => {
      if (event.kind === 'note') print({ type: 'message', loop_id: loop.id, text: event.text })
      else if (event.kind === 'agent') print({ type: 'agent-event', loop_id: loop.id, event: event.event })
      else if (event.kind === 'turn-start' && loop.next.kind === 'turn')
        print({
          type: 'iteration-start',
          loop_id: loop.id,
          iteration: loop.next.iteration,
          attempt: loop.next.attempt,
          agent: loop.next.agent ?? loop.spec.work.agent,
        })
      else if (loop.next.kind === 'prove')
        print({ type: 'proof-start', loop_id: loop.id, iteration: loop.tally.iteration, run: loop.next.run })
      else
        print({
          type: 'check-start',
          loop_id: loop.id,
          iteration: loop.tally.iteration,
          checks: allChecks(loop.spec),
          ...(loop.next.kind === 'check' ? { because: loop.next.because } : {}),
        })
    },
    saw: (loop, fact) => {
      const { at, kind: _, ...rest } = fact
      print({
        type: JSON_NAMES[fact.kind],
        loop_id: loop.id,
        at,
        iteration: loop.tally.iteration,
        ...rest,
        next: loop.next,
      })
    },
    say: (text) => print({ type: 'message', text }),
    end: (loop) => print(loopEnd(loop)),
  }
}

function forecastFields({ loops, by, forecast, sentence }: Forecasted): object {
  return { loops, by, ...forecast, sentence }
}

const JSON_NAMES: Readonly<Record<Fact['kind'], string>> = {
  turned: 'iteration-end',
  checked: 'check-end',
  proved: 'proof-end',
  woke: 'wait-end',
  restored: 'files-restored',
  lost: 'iteration-lost',
  told: 'order-taken',
  asked: 'spec-changed',
  moved: 'loop-moved',
  adopted: 'loop-adopted',
}

/** The last line of `--json`; `status --json` prints it too. */
export function loopEnd(loop: Loop): object {
  const { next, tally } = loop
  return {
    type: 'loop-end',
    loop_id: loop.id,
    status: statusOf(loop),
    reason: next.kind === 'halt' ? next.reason : null,
    ...waitFields(next),
    ...proofFields(loop),
    sentence: standingOf(loop).sentence,
    iterations: tally.iteration,
    false_claims: tally.falseClaims,
    cost_usd: tally.costUsd,
    tokens: tally.tokens,
  }
}

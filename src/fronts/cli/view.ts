/** What `ralph run` shows while a loop goes on: a live status line, one line a finished iteration, and the sentence at the end. */
import type { AgentEvent } from '../../agents/agent.ts'
import { parseAgent } from '../../agents/index.ts'
import type { Show } from '../../drive/hands.ts'
import { iterationLimit } from '../../engine/limits.ts'
import { type Fact, type Loop, statusOf, type Turn } from '../../engine/loop.ts'
import { agentsOf } from '../../engine/roster.ts'
import { allChecks, openStages } from '../../engine/stages.ts'
import type { Tree } from '../../host/tree.ts'
import { diffWords, endingOf, iterationMark, iterationSentence, printEnding, type Settled } from './story.ts'
import { clock, count, money, type Output, paint, type Style, short, timeOfDay } from './text.ts'

export type View = {
  begin(loop: Loop, found: Found): void
  show: Show
  saw(loop: Loop, fact: Fact): void
  say(text: string): void
  end(loop: Loop): void
}

/** `suggestion` is a check the project brings along, for a loop that has none. */
export type Found = { suggestion: string | undefined; checkpoints: Tree['checkpoints'] }

export function openView(output: Output, now: () => number): View {
  const status = openStatusLine(output)
  let settled: Settled = { verdicts: [] }
  let turnStartedAt = now()
  const noted = new Set<string>()
  let agent: string | undefined
  const line = (text: string) => status.above(`${text}\n`)

  const saw = (loop: Loop, fact: Fact): void => {
    if (fact.kind === 'turned') settled = { turn: fact.turn, verdicts: [] }
    if (fact.kind === 'checked') settled = { ...settled, verdicts: fact.verdicts }
    if (fact.kind === 'turned' || fact.kind === 'checked') {
      if (loop.next.kind === 'check') return
      const counted = settled.turn?.end === 'ok' || settled.turn?.end === 'context-full'
      const number = counted ? String(loop.tally.iteration).padStart(3) : '   '
      const completed = loop.next.kind === 'complete'
      const mark = iterationMark(settled, completed)
      const tail = [diffWords(settled.turn?.diff), clock(fact.at - turnStartedAt)].join('  ').trim()
      const sentence = `${agent === undefined ? '' : `${agent} `}${iterationSentence(settled, completed)}`
      const room = Math.max(30, output.columns - tail.length - 9)
      line(
        `${number} ${paint(output, MARK_STYLES[mark] ?? 'dim', mark)}  ${short(sentence, room)}  ${paint(output, 'dim', tail)}`,
      )
    }
    if (fact.kind === 'turned' && loop.next.kind === 'turn' && agent !== undefined && loop.next.agent !== agent)
      line(`    ${paint(output, 'yellow', '→')}  ${loop.next.agent} takes over`)
    if (loop.next.kind === 'wait' && loop.next.until !== undefined) {
      line(
        `    ${paint(output, 'yellow', '…')}  waiting until ${timeOfDay(loop.next.until)} (${clock(loop.next.until - now())}) for the agent's ${loop.next.why === 'limit' ? 'limit to reset' : 'service to recover'}; ralph resume ${loop.id} tries at once`,
      )
    }
    if (fact.kind === 'lost')
      line(
        `    ${paint(output, 'dim', loop.next.kind === 'check' ? '·  the checks were interrupted; they run again' : '·  this attempt was interrupted; its iteration is not counted')}`,
      )
  }

  return {
    begin(loop, { suggestion = 'npm test', checkpoints }) {
      const { spec } = loop
      settled = { turn: lastTurn(loop), verdicts: [] }
      const checks = allChecks(spec)
      const limit = iterationLimit(spec.limits, loop.tally)
      line(
        `${paint(output, 'bold', 'ralph')} loop ${paint(output, 'cyan', loop.id)} · agent ${agentsOf(spec).join(', then ')} · ${limit > 0 ? `up to ${count(limit, 'iteration')}` : 'no iteration limit'}`,
      )
      const bypass = bypassLine(agentsOf(spec), spec.work.permissions)
      if (bypass) line(bypass)
      if (checks.length > 0) line(checks.map((check) => `check: ${check}`).join('\n'))
      else
        line(
          paint(output, 'yellow', `No check: the agent is taken at its word. --verify "${suggestion}" would prove it.`),
        )
      if (spec.work.sandbox) line('sandbox: the agent can write only the work tree and its own settings')
      if (spec.work.worktree) line(`work tree: ${spec.work.worktree.path} · branch ${spec.work.worktree.branch}`)
      if ('none' in checkpoints && (loop.tally.iteration === 0 || spec.work.gitDir !== undefined))
        line(`No checkpoints: ${checkpoints.none}, so nothing can be rolled back.`)
    },
    show(event, loop) {
      if (event.kind === 'note') {
        if (!noted.has(event.text)) line(`    ${paint(output, 'yellow', '!')}  ${event.text}`)
        noted.add(event.text)
        return
      }
      if (event.kind === 'turn-start') {
        turnStartedAt = now()
        agent = loop.next.kind === 'turn' ? loop.next.agent : undefined
      }
      const doing =
        event.kind === 'agent'
          ? doingOf(event.event)
          : event.kind === 'check-start'
            ? `checking: ${allChecks(loop.spec).join(', ')}`
            : 'the agent is at work'
      if (doing) status.set(() => statusText(loop, doing, now() - loop.tally.startedAt))
    },
    saw(loop, fact) {
      status.clear()
      saw(loop, fact)
    },
    say: line,
    end(loop) {
      status.clear()
      output.write(printEnding(loop, output))
    },
  }
}

/** By which flags the agents work without asking, if they do. */
export function bypassLine(agents: readonly string[], permissions: 'bypass' | 'ask'): string | undefined {
  const flags = agents.flatMap((name) => parseAgent(name).agent.bypass ?? [])
  if (flags.length === 0 || permissions === 'ask') return undefined
  return `permissions: bypassed with ${[...new Set(flags)].join(', ')}; --permissions ask replaces it`
}

/** What is still known of the turn before, for a loop that is taken up at its checks. */
function lastTurn({ tally }: Loop): Turn {
  return { end: 'ok', claim: tally.claim, words: tally.words, ranTests: false, tokens: 0 }
}

export const MARK_STYLES: Readonly<Record<string, Style>> = { '✓': 'green', '✗': 'red', '!': 'yellow' }

function statusText({ spec, tally, next }: Loop, doing: string, elapsedMs: number): string {
  const limit = iterationLimit(spec.limits, tally)
  const iteration = next.kind === 'turn' ? next.iteration : tally.iteration
  const [stage] = openStages(spec, tally)
  return [
    `iteration ${iteration}${limit > 0 ? `/${limit}` : ''}`,
    ...(next.kind === 'turn' && next.attempt > 1 ? [`attempt ${next.attempt}`] : []),
    ...(next.kind === 'turn' && next.agent !== undefined ? [next.agent] : []),
    ...(stage ? [stage.name] : []),
    clock(elapsedMs),
    ...(tally.costUsd > 0 ? [money(tally.costUsd)] : []),
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

export const FRAMES = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'

/** The one line that moves. Elsewhere than in a terminal there is none. */
function openStatusLine(output: Output): { set(text: () => string): void; clear(): void; above(text: string): void } {
  let text: (() => string) | undefined
  let timer: NodeJS.Timeout | undefined
  let frame = 0
  const draw = () => {
    if (text)
      output.write(
        `\r\u001b[2K${paint(output, 'cyan', FRAMES[frame++ % FRAMES.length] ?? '')} ${paint(output, 'dim', short(text(), output.columns - 3))}`,
      )
  }
  const clear = () => {
    if (timer) {
      clearInterval(timer)
      output.write('\r\u001b[2K')
    }
    timer = undefined
    text = undefined
  }
  return {
    set(next) {
      if (!output.live) return
      text = next
      timer ??= setInterval(draw, 100).unref()
      draw()
    },
    clear,
    above(line) {
      const kept = text
      clear()
      output.write(line)
      if (kept) this.set(kept)
    },
  }
}

/** The same for programs: one JSON object a line. */
export function openJsonView(output: Output): View {
  const print = (value: object) => output.write(`${JSON.stringify(value)}\n`)
  return {
    begin: (loop, { checkpoints }) =>
      print({
        type: 'loop-start',
        loop_id: loop.id,
        dir: loop.spec.work.dir,
        checkpoints: !('none' in checkpoints),
        agent: loop.spec.work.agent,
        agents: agentsOf(loop.spec),
        checks: allChecks(loop.spec),
        max_iterations: loop.spec.limits.iterations,
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
      else
        print({ type: 'check-start', loop_id: loop.id, iteration: loop.tally.iteration, checks: allChecks(loop.spec) })
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

const JSON_NAMES: Readonly<Record<Fact['kind'], string>> = {
  turned: 'iteration-end',
  checked: 'check-end',
  woke: 'wait-end',
  restored: 'files-restored',
  lost: 'iteration-lost',
  told: 'order-taken',
}

/** The last line of `--json`, also what `status --json` prints for a loop. */
export function loopEnd(loop: Loop): object {
  const { next, tally } = loop
  return {
    type: 'loop-end',
    loop_id: loop.id,
    status: statusOf(loop),
    reason: next.kind === 'halt' ? next.reason : null,
    proof: next.kind === 'complete' ? next.proof : null,
    sentence: endingOf(loop).sentence,
    iterations: tally.iteration,
    false_claims: tally.falseClaims,
    findings: tally.findings,
    cost_usd: tally.costUsd,
    tokens: tally.tokens,
  }
}

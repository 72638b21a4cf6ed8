/** What `ralph watch` prints: one line for each event of a task. */
import { iterationLimit } from '../../engine/limits.ts'
import type { Fact, Loop } from '../../engine/loop.ts'
import { listed } from '../../engine/proof-words.ts'
import { hasWorked } from '../../engine/tally.ts'
import { baselineLines, experimentLine, findingLines, gradeWords, isBaseline } from '../../formats/proof-words.ts'
import { timeOfDay, waitWords } from '../../operations/standing.ts'
import {
  answersTo,
  isAboutFile,
  type StartInfo,
  vaultOf,
  type WatchEvent,
  type Watched,
} from '../../operations/watch-vault.ts'
import type { Context } from './context.ts'
import { gradeOf, iterationMark, iterationSentence, type Settled } from './story.ts'
import { clock, count, type Output, paint, type Style, short } from './text.ts'
import { bypassLine, isSettled, MARK_STYLES, settledBy } from './view.ts'

export type WatchView = {
  begin(how: StartInfo): void
  tell(event: WatchEvent): void
  end(watched: Watched, stopped: boolean): void
}

export function openWatchView({ out, now }: Context): WatchView {
  const iterations = openIterations()
  let how: StartInfo | undefined
  const line = (mark: string, style: Style, text: string, task?: string) =>
    out.write(
      `${paint(out, 'dim', timeOfDay(now()).slice(0, 8))}  ${paint(out, style, mark)}  ${task === undefined ? '' : `${paint(out, 'bold', short(task, 60))}  `}${text.replace(/\s*[\n\r]\s*/g, ' ')}\n`,
    )
  return {
    begin(given) {
      how = given
      out.write(`${beginning(out, given).join('\n')}\n`)
    },
    tell(event) {
      switch (event.kind) {
        case 'started': {
          const { loop, again } = event
          iterations.begin(loop)
          const agent = (loop.next.kind === 'turn' && loop.next.agent) || loop.spec.work.agent
          const words = again ? `resumed with ${agent}` : `started with ${agent}`
          return line('▸', 'cyan', short(words, 100), idOf(loop))
        }
        case 'saw': {
          const { loop, fact } = event
          const calm = (text: string) => line('·', 'dim', short(text, 300), idOf(loop))
          if (isBaseline(fact, iterations.before(loop)?.next)) baselineLines(loop).forEach(calm)
          if (fact.kind === 'proved') calm(experimentLine(fact, loop.tally))
          const told = iterations.tell(loop, fact)
          if (told) line(told.mark, MARK_STYLES[told.mark] ?? 'dim', told.text, idOf(event.loop))
          const wait = waitWords(loop.next)
          if (wait) line('…', 'yellow', wait, idOf(event.loop))
          return
        }
        case 'waiting':
          return line('?', 'yellow', approvalWords(event.loop), idOf(event.loop))
        case 'paused':
          return line('‖', 'yellow', `paused. Resume: ralph resume ${event.loop.id}`, idOf(event.loop))
        case 'ended': {
          const { loop, status } = event
          iterations.forget(loop)
          const done = status === 'completed'
          line(done ? '✓' : '✗', done ? 'green' : 'red', endWords(event, now()), idOf(loop))
          for (const text of findingLines(loop.tally.findings)) line('!', 'yellow', short(text, 300), idOf(loop))
          return
        }
        case 'refused':
          return line('✗', 'red', refusedWords(event), event.file)
        case 'note':
          return line('!', 'yellow', event.text, event.id)
        case 'idle':
          if (how && !how.once) line('·', 'dim', `Watching ${how.vault}/Needs_Action … Press Ctrl-C to stop`)
          return
      }
    },
    end(_, stopped) {
      if (stopped) line('·', 'dim', 'Stopped. Run the same command to resume.')
    },
  }
}

function beginning(out: Output, { vault, agents, checks, slots, permissions }: StartInfo): string[] {
  const parts = [
    `${paint(out, 'bold', 'ralph')} vault ${paint(out, 'cyan', vault)}`,
    `agent ${agents.join(', then ')}`,
    ...(slots > 1 ? [`up to ${slots} at a time`] : []),
  ]
  const bypass = bypassLine(agents, permissions)
  return [parts.join(' · '), ...(bypass ? [bypass] : []), ...checks.map((check) => `check: ${check}`)]
}

function idOf(loop: Loop): string {
  return vaultOf(loop).id
}

export type Iteration = { mark: string; text: string; settled: Settled }

/** Tracks turns and the results of their checks. */
export function openIterations(): {
  begin(loop: Loop): void
  /** The loop before this fact. */
  before(loop: Loop): Loop | undefined
  tell(loop: Loop, fact: Fact): Iteration | undefined
  forget(loop: Loop): void
} {
  const open = new Map<string, { settled: Settled; loop: Loop }>()
  return {
    begin: (loop) => void open.set(loop.id, { settled: { verdicts: [] }, loop }),
    before: ({ id }) => open.get(id)?.loop,
    forget: ({ id }) => void open.delete(id),
    tell(loop, fact) {
      const { settled: known = { verdicts: [] }, loop: before } = open.get(loop.id) ?? {}
      const settled = settledBy(known, { before, loop, fact })
      open.set(loop.id, { settled, loop })
      if (isBaseline(fact, before?.next) || !isSettled(loop, fact)) return undefined
      const grade = gradeOf(loop)
      const most = iterationLimit(loop.spec.limits, loop.tally)
      return {
        mark: iterationMark(settled, grade),
        text: `iteration ${numberOf(loop, settled)} of ${most}: ${iterationSentence(settled, grade)}`,
        settled,
      }
    },
  }
}

/** An unfinished iteration is repeated under the same number. */
function numberOf({ tally }: Loop, { turn }: Settled): number {
  return turn && !hasWorked(turn) ? tally.iteration + 1 : tally.iteration
}

function approvalWords(loop: Loop): string {
  const { file, from } = vaultOf(loop)
  const question = loop.next.kind === 'wait' ? (loop.next.question ?? '') : ''
  const { approve, instead, reject } = answersTo(loop)
  if (instead !== undefined)
    return `waiting for you: ${short(question, 300)} Allow it: ${approve} · or say what to do instead: ${instead} · Reject it: ${reject}`
  if (!isAboutFile(loop)) return `asks you: ${short(question, 200)} Answer: ${approve}`
  return `waiting for you: ${question} Approve: ${approve}, or move ${file} back to ${from.split('/')[0]}`
}

type Ended = Extract<WatchEvent, { kind: 'ended' }>

function endWords({ loop, status, place }: Ended, at: number): string {
  const { tally, next } = loop
  if (next.kind === 'complete')
    return `completed in ${count(tally.iteration, 'iteration')}, ${clock(at - tally.startedAt)}, proof: ${proofWords(loop)}`
  const why = next.kind === 'halt' ? next.sentence : ''
  return `${status} after ${count(tally.iteration, 'iteration')}. ${short(why, 300)} ${place === undefined ? 'Its file was not moved.' : `Now in ${place}`}`
}

/** For an altered proof, names the files it depends on. */
function proofWords({ next, tally }: Loop): string {
  if (next.kind !== 'complete') return ''
  const paths = next.proof === 'altered' ? listed([...new Set(tally.findings.flatMap(({ path }) => path || []))]) : ''
  return `${gradeWords(next)}${paths && ` (${paths})`}. ${short(next.sentence, 300)}`
}

function refusedWords({ why, place }: Extract<WatchEvent, { kind: 'refused' }>): string {
  return `was not started. ${short(why, 300)} Now in ${place}`
}

/** The events that are worth a notification. */
export function troubleWords(event: WatchEvent): { task: string; status: string; text: string } | undefined {
  switch (event.kind) {
    case 'waiting':
      return { task: idOf(event.loop), status: 'waiting_approval', text: approvalWords(event.loop) }
    case 'refused':
      return { task: event.id, status: 'refused', text: refusedWords(event) }
    case 'ended':
      if (event.status === 'completed') return undefined
      return { task: idOf(event.loop), status: event.status, text: endWords(event, 0) }
    case 'saw': {
      const text = isSettled(event.loop, event.fact) ? waitWords(event.loop.next) : undefined
      return text === undefined ? undefined : { task: idOf(event.loop), status: 'waiting', text }
    }
    case 'started':
    case 'paused':
    case 'note':
    case 'idle':
      return undefined
  }
}

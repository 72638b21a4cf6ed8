/** What `ralph execute` prints: one line per finished iteration and, in a terminal, the running tasks below. */
import { relative } from 'node:path'
import type { Show } from '../../drive/hands.ts'
import { iterationLimit } from '../../engine/limits.ts'
import type { Fact, Loop } from '../../engine/loop.ts'
import {
  baselineLines,
  experimentLine,
  findingLines,
  gradeWords,
  isBaseline,
  provingWords,
} from '../../formats/proof-words.ts'
import { money } from '../../formats/spent-words.ts'
import type { Task } from '../../formats/tasks.ts'
import {
  type Executed,
  type Project,
  type ProjectRecord,
  proofsOf,
  type StartInfo,
} from '../../operations/execute-project.ts'
import { timeOfDay, waitWords } from '../../operations/standing.ts'
import type { Context } from './context.ts'
import { openBlock } from './live.ts'
import { diffWords, gradeOf, iterationMark, iterationSentence, type Settled } from './story.ts'
import { clock, count, jsonLine, type Output, paint, type Style, short } from './text.ts'
import { bypassLine, doingOf, isSettled, MARK_STYLES, openJsonView, settledBy } from './view.ts'

export type ProjectView = {
  begin(project: Project, record: ProjectRecord, how: StartInfo): void
  show(task: string): Show
  saw(task: string, loop: Loop, fact: Fact): void
  note(task: string, text: string): void
  progress(record: ProjectRecord, working: ReadonlySet<string>): void
  say(text: string): void
  end(project: Project, executed: Executed): void
}

/** One running task, as shown. */
type Row = { since: number; doing: string; settled: Settled; loop?: Loop }

/** What is shown of a project: the running tasks, all tasks, and the cost of each loop. */
type Shown = { startedAt: number; rows: Map<string, Row>; tasks: readonly Task[]; costs: Map<string, number> }

export function openProjectView({ out, now, cwd }: Context): ProjectView {
  const shown: Shown = { startedAt: now(), rows: new Map(), tasks: [], costs: new Map() }
  const block = openBlock(out, () => blockLines(out, shown, now()))
  const line = (text: string) => block.above(`${text}\n`)
  const rowOf = (task: string) => {
    const known = shown.rows.get(task) ?? newRow(now())
    shown.rows.set(task, known)
    return known
  }
  return {
    begin(project, record, how) {
      shown.tasks = record.tasks.tasks
      for (const text of beginning(out, project, shown.tasks, how)) line(text)
    },
    show: (task) => (event, loop) => {
      const row = rowOf(task)
      row.loop = loop
      if (event.kind === 'note') return line(`    ${paint(out, 'yellow', '!')}  ${task} ${event.text}`)
      if (event.kind === 'turn-start') row.since = now()
      row.doing = doingDuring(event, loop, row.doing)
      block.set()
    },
    saw(task, loop, fact) {
      const row = rowOf(task)
      const before = row.loop
      row.loop = loop
      shown.costs.set(loop.id, loop.tally.costUsd)
      row.settled = settledBy(row.settled, { before, loop, fact })
      if (loop.next.kind === 'wait' && loop.next.until !== undefined)
        row.doing = `${loop.next.why === 'cooldown' ? 'breaker open' : 'waiting'} until ${timeOfDay(loop.next.until)}`
      if (loop.next.kind === 'prove') row.doing = provingWords(loop.next)
      const calm = (text: string) => `  ${paint(out, 'dim', `·  ${task}  ${short(text, 200)}`)}`
      if (isBaseline(fact, before?.next)) for (const text of baselineLines(loop)) line(calm(text))
      else for (const text of factLines(out, task, row, { loop, fact })) line(text)
    },
    note: (task, text) => line(`  ${paint(out, 'yellow', '!')}  ${task ? `${paint(out, 'bold', task)}  ` : ''}${text}`),
    progress(record, working) {
      const before = completedIn(shown.tasks)
      shown.tasks = record.tasks.tasks
      for (const id of [...shown.rows.keys()]) if (!working.has(id)) shown.rows.delete(id)
      for (const id of working) rowOf(id)
      for (const text of completedLines(out, shown.tasks, before)) line(text)
      block.set()
    },
    say: line,
    end({ folder }, executed) {
      block.clear()
      out.write(ending(out, executed, spentSince(shown, now()), `${relative(cwd, folder) || '.'}/results.md`))
    },
  }
}

function newRow(since: number): Row {
  return { since, doing: 'getting ready', settled: { verdicts: [] } }
}

function completedIn(tasks: readonly Task[]): Set<string> {
  return new Set(tasks.filter(({ status }) => status === 'completed').map(({ id }) => id))
}

/** The time, and the cost if there is any. */
function spentSince({ startedAt, costs }: Shown, now: number): string[] {
  const spent = [...costs.values()].reduce((sum, cost) => sum + cost, 0)
  return [clock(now - startedAt), ...(spent > 0 ? [money(spent)] : [])]
}

function blockLines(out: Output, shown: Shown, now: number): string[] {
  const { rows, tasks } = shown
  const facts = [`${completedIn(tasks).size}/${count(tasks.length, 'task')}`, ...spentSince(shown, now)]
  const atWork = tasks.map((task) =>
    rows.has(task.id) && task.status === 'pending' ? { ...task, status: 'in_progress' as const } : task,
  )
  return [
    `${bar(out, atWork)}  ${facts.join(' · ')}`,
    ...[...rows].map(([task, { since, doing, loop }]) => {
      const limit = loop ? iterationLimit(loop.spec.limits, loop.tally) : 0
      const attempt = loop?.next.kind === 'turn' && limit > 1 ? `${loop.next.iteration}/${limit} · ` : ''
      const title = short(tasks.find(({ id }) => id === task)?.title ?? '', 28)
      const text = `${task} ${title} · ${attempt}${clock(now - since)} · ${doing}`
      return `  ${paint(out, 'dim', short(text, out.columns - 5))}`
    }),
  ]
}

function beginning(
  out: Output,
  { name }: Project,
  tasks: readonly Task[],
  { agents, checks, slots, permissions }: StartInfo,
): string[] {
  const done = completedIn(tasks).size
  const title = [
    `${paint(out, 'bold', 'ralph')} project ${paint(out, 'cyan', name)}`,
    `agent ${agents.join(', then ')}`,
    `${count(tasks.length, 'task')}${done > 0 ? `, ${done} completed` : ''}`,
    ...(slots > 1 ? [`up to ${slots} at a time`] : []),
  ].join(' · ')
  const unproven = checks.length === 0 && tasks.some(({ status, verify }) => status !== 'completed' && !verify)
  return [
    title,
    ...[bypassLine(agents, permissions) ?? []].flat(),
    ...checks.map((check) => `check: ${check}`),
    ...(unproven ? [paint(out, 'yellow', UNPROVEN)] : []),
  ]
}

const UNPROVEN = 'No check: nothing proves the tasks without "verify". Add a check for all tasks with --verify "…".'

function doingDuring(event: Parameters<Show>[0], { next }: Loop, before: string): string {
  if (event.kind === 'agent') return doingOf(event.event) ?? before
  if (next.kind === 'prove') return provingWords(next)
  return event.kind === 'check-start' ? 'checking' : 'the agent is working'
}

/** The proof of a completed task. The findings come first if an `altered` proof depends on them. */
function proofLines(out: Output, task: string, { next, tally }: Loop): string[] {
  if (next.kind !== 'complete') return []
  const line = `  ${paint(out, 'dim', '·')}  ${paint(out, 'bold', task)}  proof: ${gradeWords(next)}. ${short(next.sentence, 300)}`
  const noticed = findingLines(tally.findings).map(
    (text) => `  ${paint(out, 'yellow', '!')}  ${paint(out, 'bold', task)}  ${short(text, 300)}`,
  )
  return next.proof === 'altered' ? [...noticed, line] : [line, ...noticed]
}

/** The lines for a fact: an experiment, a finished iteration, a wait, an interruption. */
function factLines(out: Output, task: string, row: Row, { loop, fact }: { loop: Loop; fact: Fact }): string[] {
  const { next } = loop
  return [
    ...(fact.kind === 'proved'
      ? [`  ${paint(out, 'dim', `·  ${task}  ${short(experimentLine(fact, loop.tally), 200)}`)}`]
      : []),
    ...(isSettled(loop, fact) ? [iterationLine(out, task, row, { loop, at: fact.at })] : []),
    ...proofLines(out, task, loop),
    ...(next.kind === 'wait' && next.until !== undefined
      ? [`  ${paint(out, 'yellow', '…')}  ${paint(out, 'bold', task)}  ${waitWords(next)}`]
      : []),
    ...(fact.kind === 'lost'
      ? [`  ${paint(out, 'dim', `·  ${task}  was interrupted; this does not count as an attempt`)}`]
      : []),
  ]
}

function iterationLine(
  out: Output,
  task: string,
  { settled, since }: Row,
  { loop, at }: { loop: Loop; at: number },
): string {
  const grade = gradeOf(loop)
  const mark = iterationMark(settled, grade)
  const tail = [diffWords(settled.turn?.diff), clock(at - since)].join('  ').trim()
  const sentence = iterationSentence(settled, grade)
    .replace(`stage ${task} done`, 'done')
    .replace('stage merge done', 'the merge done')
  const room = Math.max(30, out.columns - tail.length - task.length - 10)
  return `  ${paint(out, MARK_STYLES[mark] ?? 'dim', mark)}  ${paint(out, 'bold', task)}  ${short(sentence, room)}  ${paint(out, 'dim', tail)}`
}

function completedLines(out: Output, tasks: readonly Task[], before: ReadonlySet<string>): string[] {
  const completed = completedIn(tasks)
  return tasks
    .filter(({ id }) => completed.has(id) && !before.has(id))
    .map(
      ({ id, title }) =>
        `  ${paint(out, 'green', '✓')}  ${paint(out, 'bold', id)}  ${short(title, 60)}: completed (${completed.size}/${tasks.length})`,
    )
}

const MORE_ATTEMPTS =
  'Simplify the task in tasks.json, raise its max_attempts or set its attempts to 0, then run the same command again.'

function ending(out: Output, { stop, iterations }: Executed, spent: readonly string[], results: string): string {
  const done = stop.reason === 'completed'
  const [mark, style]: [string, Style] = done ? ['✓', 'green'] : ['✗', stop.reason === 'paused' ? 'yellow' : 'red']
  const used = [count(iterations, 'iteration'), ...spent].join(', ')
  const advice = stop.reason === 'max-attempts' ? `${MORE_ATTEMPTS}\n  ` : ''
  return `\n${paint(out, style, mark)} ${done ? '' : `stopped (${stop.reason}). `}${stop.sentence}\n  ${advice}${paint(out, 'dim', `${used} · Details: ${results}`)}\n`
}

const WIDTH = 24

/** Completed, running, blocked and open tasks as parts of one bar. */
export function bar(out: Output, tasks: readonly Task[]): string {
  const parts = (['completed', 'in_progress', 'blocked'] as const).map(
    (status) => tasks.filter((task) => task.status === status).length,
  )
  let [seen, used] = [0, 0]
  const cells = parts.map((number) => {
    seen += number
    const upTo = Math.round((seen / Math.max(1, tasks.length)) * WIDTH)
    const width = upTo - used
    used = upTo
    return width
  })
  const [completed = 0, working = 0, blocked = 0] = cells
  return [
    paint(out, 'green', '█'.repeat(completed)),
    paint(out, 'cyan', '▓'.repeat(working)),
    paint(out, 'red', '▒'.repeat(blocked)),
    paint(out, 'dim', '░'.repeat(WIDTH - used)),
  ].join('')
}

/** The same for programs: one JSON object per line. */
export function openProjectJsonView({ out }: Context): ProjectView {
  const print = (value: object) => out.write(jsonLine(value))
  const ofLoop = (task: string) =>
    openJsonView({ ...out, write: (text) => print({ task_id: task, ...JSON.parse(text) }) })
  return {
    begin: ({ name, folder }, { tasks }, { agents, checks, slots }) =>
      print({
        type: 'project-start',
        project: name,
        folder,
        agents,
        checks,
        parallel: slots,
        tasks: tasks.tasks.length,
      }),
    show: (task) => ofLoop(task).show,
    saw: (task, loop, fact) => ofLoop(task).saw(loop, fact),
    note: (task, text) => print({ type: 'message', task_id: task || null, text }),
    progress: ({ tasks }, working) =>
      print({
        type: 'project-progress',
        completed: tasks.tasks.filter(({ status }) => status === 'completed').length,
        tasks: tasks.tasks.length,
        working: [...working],
      }),
    say: (text) => print({ type: 'message', text }),
    end: ({ name, folder }, { stop, record }) =>
      print({
        type: 'project-end',
        project: name,
        reason: stop.reason,
        sentence: stop.sentence,
        iterations: record.iteration,
        completed: record.tasks.tasks.filter(({ status }) => status === 'completed').map(({ id }) => id),
        remaining: record.tasks.tasks.filter(({ status }) => status !== 'completed').map(({ id }) => id),
        proofs: proofsOf(record.tasks.tasks, record),
        results: `${folder}/results.md`,
      }),
  }
}

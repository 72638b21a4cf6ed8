/** What `ralph execute` shows: a line for every finished iteration, and below, in a terminal, who works on what right now. */
import { relative } from 'node:path'
import type { Show } from '../../drive/hands.ts'
import { iterationLimit } from '../../engine/limits.ts'
import type { Fact, Loop } from '../../engine/loop.ts'
import type { Task } from '../../formats/tasks.ts'
import type { Executed } from '../../project/execute.ts'
import type { Project } from '../../project/folder.ts'
import type { ProjectRecord } from '../../project/record.ts'
import type { Context } from './context.ts'
import { diffWords, iterationMark, iterationSentence, type Settled } from './story.ts'
import { clock, count, money, type Output, paint, type Style, short, timeOfDay } from './text.ts'
import { bypassLine, doingOf, FRAMES, MARK_STYLES, openJsonView } from './view.ts'

export type ProjectView = {
  begin(project: Project, record: ProjectRecord, how: How): void
  show(task: string): Show
  saw(task: string, loop: Loop, fact: Fact): void
  note(task: string, text: string): void
  progress(record: ProjectRecord, working: ReadonlySet<string>): void
  say(text: string): void
  end(project: Project, executed: Executed): void
}

type How = { agents: string[]; checks: string[]; slots: number; permissions: 'bypass' | 'ask' }

/** One task under way, as it is shown. */
type Row = { since: number; doing: string; settled: Settled; loop?: Loop; costUsd: number }

export function openProjectView({ out, now, cwd }: Context): ProjectView {
  const startedAt = now()
  const rows = new Map<string, Row>()
  const costs = new Map<string, number>()
  let tasks: readonly Task[] = []
  const block = openBlock(out, () => blockLines())
  const line = (text: string) => block.above(`${text}\n`)
  const rowOf = (task: string) => {
    const known = rows.get(task) ?? { since: now(), doing: 'getting ready', settled: { verdicts: [] }, costUsd: 0 }
    rows.set(task, known)
    return known
  }

  function blockLines(): string[] {
    const spent = [...costs.values()].reduce((sum, cost) => sum + cost, 0)
    const facts = [
      `${tasks.filter(({ status }) => status === 'completed').length}/${count(tasks.length, 'task')}`,
      clock(now() - startedAt),
      ...(spent > 0 ? [money(spent)] : []),
    ]
    return [
      `${bar(
        out,
        tasks.map((task) =>
          rows.has(task.id) && task.status === 'pending' ? { ...task, status: 'in_progress' } : task,
        ),
      )}  ${facts.join(' · ')}`,
      ...[...rows].map(([task, { since, doing, loop }]) => {
        const limit = loop ? iterationLimit(loop.spec.limits, loop.tally) : 0
        const attempt = loop?.next.kind === 'turn' && limit > 1 ? `${loop.next.iteration}/${limit} · ` : ''
        const title = short(tasks.find(({ id }) => id === task)?.title ?? '', 28)
        const text = `${task} ${title} · ${attempt}${clock(now() - since)} · ${doing}`
        return `  ${paint(out, 'dim', short(text, out.columns - 5))}`
      }),
    ]
  }

  return {
    begin(project, record, { agents, checks, slots, permissions }) {
      tasks = record.tasks.tasks
      const done = tasks.filter(({ status }) => status === 'completed').length
      line(
        [
          `${paint(out, 'bold', 'ralph')} project ${paint(out, 'cyan', project.name)}`,
          `agent ${agents.join(', then ')}`,
          `${count(tasks.length, 'task')}${done > 0 ? `, ${done} completed` : ''}`,
          ...(slots > 1 ? [`up to ${slots} at a time`] : []),
        ].join(' · '),
      )
      const bypass = bypassLine(agents, permissions)
      if (bypass) line(bypass)
      if (checks.length > 0) line(checks.map((check) => `check: ${check}`).join('\n'))
      else if (tasks.some(({ status, verify }) => status !== 'completed' && !verify))
        line(
          paint(
            out,
            'yellow',
            'No check: tasks without "verify" are taken at their agent\'s word. --verify "…" would prove them.',
          ),
        )
    },
    show: (task) => (event, loop) => {
      const row = rowOf(task)
      row.loop = loop
      if (event.kind === 'note') return line(`    ${paint(out, 'yellow', '!')}  ${task} ${event.text}`)
      if (event.kind === 'turn-start') row.since = now()
      row.doing =
        event.kind === 'agent'
          ? (doingOf(event.event) ?? row.doing)
          : event.kind === 'check-start'
            ? 'checking'
            : 'the agent is at work'
      block.set()
    },
    saw(task, loop, fact) {
      const row = rowOf(task)
      row.loop = loop
      costs.set(loop.id, loop.tally.costUsd)
      if (fact.kind === 'turned') row.settled = { turn: fact.turn, verdicts: [] }
      if (fact.kind === 'checked') row.settled = { ...row.settled, verdicts: fact.verdicts }
      if ((fact.kind === 'turned' || fact.kind === 'checked') && loop.next.kind !== 'check') {
        const completed = loop.next.kind === 'complete'
        const mark = iterationMark(row.settled, completed)
        const tail = [diffWords(row.settled.turn?.diff), clock(fact.at - row.since)].join('  ').trim()
        const sentence = iterationSentence(row.settled, completed)
          .replace(`stage ${task} is`, 'it is')
          .replace('stage merge is', 'the merge is')
        const room = Math.max(30, out.columns - tail.length - task.length - 10)
        line(
          `  ${paint(out, MARK_STYLES[mark] ?? 'dim', mark)}  ${paint(out, 'bold', task)}  ${short(sentence, room)}  ${paint(out, 'dim', tail)}`,
        )
      }
      if (loop.next.kind === 'wait' && loop.next.until !== undefined) {
        row.doing = `waiting until ${timeOfDay(loop.next.until)}`
        line(
          `  ${paint(out, 'yellow', '…')}  ${paint(out, 'bold', task)}  waiting until ${timeOfDay(loop.next.until)} for the agent's ${loop.next.why === 'limit' ? 'limit to reset' : 'service to recover'}`,
        )
      }
      if (fact.kind === 'lost')
        line(`  ${paint(out, 'dim', `·  ${task}  was interrupted; that does not count as an attempt`)}`)
    },
    note: (task, text) => line(`  ${paint(out, 'yellow', '!')}  ${task ? `${paint(out, 'bold', task)}  ` : ''}${text}`),
    progress(record, working) {
      const before = new Set(tasks.filter(({ status }) => status === 'completed').map(({ id }) => id))
      tasks = record.tasks.tasks
      for (const id of [...rows.keys()]) if (!working.has(id)) rows.delete(id)
      for (const id of working) rowOf(id)
      for (const { id, title, status } of tasks)
        if (status === 'completed' && !before.has(id))
          line(
            `  ${paint(out, 'green', '✓')}  ${paint(out, 'bold', id)}  ${short(title, 60)}: completed (${tasks.filter((task) => task.status === 'completed').length}/${tasks.length})`,
          )
      block.set()
    },
    say: line,
    end({ folder }, { stop, iterations }) {
      block.clear()
      const done = stop.reason === 'completed'
      const [mark, style]: [string, Style] = done ? ['✓', 'green'] : ['✗', stop.reason === 'paused' ? 'yellow' : 'red']
      const spent = [...costs.values()].reduce((sum, cost) => sum + cost, 0)
      const used = [count(iterations, 'iteration'), clock(now() - startedAt), ...(spent > 0 ? [money(spent)] : [])]
      out.write(`\n${paint(out, style, mark)} ${done ? '' : `stopped (${stop.reason}). `}${stop.sentence}\n`)
      const story = `The whole story: ${relative(cwd, folder) || '.'}/results.md`
      out.write(`  ${paint(out, 'dim', `${used.join(', ')} · ${story}`)}\n`)
    },
  }
}

const WIDTH = 24

/** Completed, at work, blocked and open tasks as parts of one bar. */
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

/** The lines that move. Elsewhere than in a terminal there are none. */
function openBlock(out: Output, lines: () => string[]): { set(): void; clear(): void; above(text: string): void } {
  let timer: NodeJS.Timeout | undefined
  let drawn = 0
  let frame = 0
  const erase = () => (drawn > 0 ? `${drawn > 1 ? `\u001b[${drawn - 1}A` : ''}\r\u001b[J` : '')
  const draw = () => {
    const spinner = paint(out, 'cyan', FRAMES[frame++ % FRAMES.length] ?? '')
    const text = lines().map((line, index) => (index === 0 ? `${spinner} ${line}` : line))
    out.write(`${erase()}${text.join('\n')}`)
    drawn = text.length
  }
  const clear = () => {
    if (timer) clearInterval(timer)
    timer = undefined
    out.write(erase())
    drawn = 0
  }
  return {
    set() {
      if (!out.live) return
      timer ??= setInterval(draw, 100).unref()
    },
    clear,
    above(text) {
      const moving = timer !== undefined
      clear()
      out.write(text)
      if (moving) this.set()
    },
  }
}

/** The same for programs: one JSON object a line. */
export function openProjectJsonView({ out }: Context): ProjectView {
  const print = (value: object) => out.write(`${JSON.stringify(value)}\n`)
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
        results: `${folder}/results.md`,
      }),
  }
}

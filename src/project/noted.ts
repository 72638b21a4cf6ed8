/** Obstacles that ralph notes itself: checks that fail, and agents that did not get to work. */
import type { Turn, Verdict } from '../engine/loop.ts'
import type { Failing } from '../formats/results.ts'
import { freeId } from './edits.ts'
import type { Noted, OpenTurn, ProjectRecord } from './record.ts'

/** `worked`: the agent finished its turn. `done`: the task is completed. */
type Ending = { task: string; turn: OpenTurn; worked: boolean; done: boolean }

/** What a turn ran into becomes an obstacle; what it overcame is resolved. */
export function withNoted(record: ProjectRecord, { task, turn, worked, done }: Ending): ProjectRecord {
  const { iteration, verdicts = [], trouble } = turn
  const passed = new Set(verdicts.filter(({ result }) => result === 'pass').map(({ check }) => check))
  const isOver = (noted: Noted) =>
    noted.task === task && (done || (noted.check === undefined ? worked : passed.has(noted.check)))
  const over = new Set((record.noted ?? []).filter(isOver).map(({ id }) => id))
  const found = [
    ...(trouble && !PASSING.has(trouble.end) ? [{ message: troubleWords(trouble) }] : []),
    ...(done ? [] : verdicts.filter(({ result }) => result !== 'pass').map(failure)),
  ]
  const taken = new Set(record.obstacles.map(({ id }) => id))
  const noted = found.map((each) => {
    const id = freeId(taken)
    taken.add(id)
    return { ...each, id, task, iteration }
  })
  return {
    ...record,
    obstacles: [
      ...record.obstacles.map((old) => (over.has(old.id) ? { ...old, resolved: true } : old)),
      ...noted.map(({ id, message }) => ({ id, task_id: task, message, resolved: false, iteration })),
    ],
    noted: [...(record.noted ?? []).filter(({ id }) => !over.has(id)), ...noted.map(({ message: _, ...rest }) => rest)],
  }
}

/** Only waiting helps against these. */
const PASSING: ReadonlySet<Turn['end']> = new Set(['limited', 'overloaded'])

/** The outcome of a turn in which the agent did not get to work. */
export function troubleWords({ end, words }: Pick<Turn, 'end' | 'words'>): string {
  return `${TROUBLE[end]}: ${endOf(words) || 'it gave no reason'}`
}

const TROUBLE: Readonly<Record<Turn['end'], string>> = {
  failed: 'The agent crashed',
  limited: 'The agent hit a rate limit',
  overloaded: "The agent's service was overloaded",
  unusable: 'The agent could not be used',
  'context-full': 'The agent ran out of context',
  ok: 'The agent ended',
}

function failure({ check, result, tail }: Verdict): { message: string; check: string; tail: string } {
  const end = endOf(tail)
  const what = { fail: 'fails.', timeout: 'timed out.', broken: 'cannot be started.', pass: 'passes.' }[result]
  return { message: `The check \`${check}\` ${what} Its output ends with:\n${end}`, check, tail: end }
}

const LINES_KEPT = 12
const LETTERS_KEPT = 800

/** The last lines of a text. */
function endOf(text: string): string {
  const lines = text.trimEnd().split('\n').slice(-LINES_KEPT).join('\n')
  return [...lines].slice(-LETTERS_KEPT).join('').trim()
}

/** The checks that keep open tasks from being completed, and how often they failed. */
export function failingOf({ noted = [], tasks }: Pick<ProjectRecord, 'noted' | 'tasks'>): Failing[] {
  const failing = new Map<string, Failing>()
  for (const { task: task_id, check, tail = '', iteration } of noted) {
    const isOpen = tasks.tasks.some(({ id, status }) => id === task_id && status !== 'completed')
    if (check === undefined || !isOpen) continue
    const key = JSON.stringify([task_id, check])
    failing.set(key, { task_id, check, tail, iteration, times: 1 + (failing.get(key)?.times ?? 0) })
  }
  return [...failing.values()]
}

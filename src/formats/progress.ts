/** state.json: what every agent did, one entry per turn. Append-only. */
import { isCount, isObject, isTexts, type Json, printJson, quote, readJson } from './json-file.ts'

export type Entry = {
  iteration: number
  task_id: string
  status: 'completed' | 'attempted'
  summary: string
  files_modified: string[]
  /** Ids of obstacles, or an agent's own words for one. */
  obstacles: string[]
}

/** The entries in a text, or all its problems. */
export function readProgress(text: string): { entries: Entry[] } | { problems: string[] } {
  const json = readJson(text)
  if ('problem' in json) return { problems: [json.problem] }
  if (!Array.isArray(json.value)) return { problems: [`it must be a list of entries, got ${quote(json.value)}.`] }
  const problems = json.value.flatMap((entry, index) => entryProblems(entry, index + 1))
  return problems.length > 0 ? { problems } : { entries: (json.value as Json[]).map(toEntry) }
}

export function printProgress(entries: readonly Entry[]): string {
  return printJson(entries)
}

function entryProblems(entry: unknown, place: number): string[] {
  if (!isObject(entry)) return [`entry ${place} must be an object, got ${quote(entry)}.`]
  const wrong = (field: string, expected: string) =>
    `entry ${place}: ${field} must be ${expected}, got ${quote(entry[field])}.`
  return [
    ...(isCount(entry.iteration) ? [] : [wrong('iteration', 'a whole number')]),
    ...(typeof entry.task_id === 'string' ? [] : [wrong('task_id', 'the id of a task')]),
    ...(typeof entry.status === 'string' ? [] : [wrong('status', 'completed or attempted')]),
    ...(entry.files_modified === undefined || isTexts(entry.files_modified)
      ? []
      : [wrong('files_modified', 'a list of paths')]),
    ...(entry.obstacles === undefined || isTexts(entry.obstacles) ? [] : [wrong('obstacles', 'a list of ids')]),
  ]
}

function toEntry({ iteration, task_id, status, summary, files_modified, obstacles, ...more }: Json): Entry {
  return {
    iteration: Number(iteration),
    task_id: String(task_id),
    status: status === 'completed' ? 'completed' : 'attempted',
    summary: typeof summary === 'string' ? summary : '',
    files_modified: (files_modified ?? []) as string[],
    obstacles: (obstacles ?? []) as string[],
    ...more,
  }
}

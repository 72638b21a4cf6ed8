/** The script of the scripted agent: one list of steps per turn, the last one repeated; per task for projects and boards. */
import { RalphError } from '../error.ts'
import { isObject, readJson } from './json-file.ts'

/** `attempt` limits a step to one attempt of its iteration; without it, the step runs in all. */
export type Step = { attempt?: number } & (
  | { text: string }
  | { edit: { path: string; content: string } }
  | { shell: string[] }
  | { sleep: number }
  | { usage: { tokens: number; costUsd?: number } }
  | { denied: string }
  | { fail: string; exit?: number }
  /** Reports the task's status in the project files, as the prompt asks, and ends the turn. */
  | { report: { status: 'completed' | 'attempted' | 'blocked'; summary?: string; obstacle?: string } }
  /** In a terminal: a permission that the user gives (y) or denies (n). Elsewhere it is denied. */
  | { ask: string }
  /** In a terminal, as the first step of a turn: silently discards what was typed. */
  | { ignore: true }
  /** In a terminal, as the first step of a turn: the first N presses of Enter break the line, as a busy client does after a paste. */
  | { 'line-breaks': number }
  | { 'rate-limit': { resetsInSeconds?: number; message?: string } }
)

export type Script = { turns: Step[][]; tasks: Readonly<Record<string, Step[][]>> }

export function parseScript(text: string, file: string): Script {
  const problem = (what: string) =>
    new RalphError(
      'input-invalid',
      `${file}: ${what} A script is {"turns": [[{"text": "…"}, …], …]}, or {"tasks": {"T1": [[…], …], …}} for a project.`,
    )
  const read = readJson(text)
  if ('problem' in read) throw problem(read.problem)
  const { value } = read
  const { turns, tasks = {} } = isObject(value) ? value : {}
  if (!isObject(tasks)) throw problem('expected an object with the turns of each task.')
  for (const [where, list] of [
    ...(turns === undefined && 'tasks' in Object(value) ? [] : [['', turns]]),
    ...Object.entries(tasks),
  ] as [string, unknown][]) {
    if (!Array.isArray(list) || list.length === 0 || !list.every(Array.isArray))
      throw problem(`expected a list of turns${where && ` for ${where}`}, each a list of steps.`)
    for (const [turn, steps] of list.entries())
      for (const [index, step] of steps.entries())
        if (!isStep(step))
          throw problem(
            `step ${index + 1} of turn ${turn + 1}${where && ` for ${where}`} is not one of ${Object.keys(SHAPES).join(', ')}.`,
          )
  }
  return { turns: (turns ?? []) as Step[][], tasks: tasks as Record<string, Step[][]> } // every step has been checked
}

const isText = (value: unknown) => typeof value === 'string'

const SHAPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  text: isText,
  edit: (value) => isObject(value) && isText(value.path) && isText(value.content),
  shell: (value) => Array.isArray(value) && value.length > 0 && value.every(isText),
  sleep: (value) => typeof value === 'number' && value >= 0,
  usage: (value) => isObject(value) && typeof value.tokens === 'number',
  denied: isText,
  fail: isText,
  report: (value) => isObject(value) && ['completed', 'attempted', 'blocked'].includes(String(value.status)),
  ask: isText,
  ignore: (value) => value === true,
  'line-breaks': (value) => Number.isInteger(value) && Number(value) > 0,
  'rate-limit': isObject,
}

function isStep(step: unknown): boolean {
  return (
    isObject(step) && Object.entries(SHAPES).filter(([name, fits]) => name in step && fits(step[name])).length === 1
  )
}

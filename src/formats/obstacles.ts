/** obstacles.json: what stood in the way. Append-only; `resolved` may be set later. */
import { isCount, isObject, type Json, printJson, quote, readJson } from './json-file.ts'

export type Obstacle = { id: string; task_id: string; message: string; resolved: boolean; iteration: number }

/** The obstacles in a text, or all its problems. */
export function readObstacles(text: string): { obstacles: Obstacle[] } | { problems: string[] } {
  const json = readJson(text)
  if ('problem' in json) return { problems: [json.problem] }
  const list = isObject(json.value) ? json.value.obstacles : undefined
  if (!Array.isArray(list)) return { problems: ['it must be an object with a list of "obstacles".'] }
  const problems = list.flatMap((obstacle, index) => obstacleProblems(obstacle, index + 1))
  return problems.length > 0 ? { problems } : { obstacles: (list as Json[]).map(toObstacle) }
}

export function printObstacles(obstacles: readonly Obstacle[]): string {
  return printJson({ obstacles })
}

function obstacleProblems(obstacle: unknown, place: number): string[] {
  if (!isObject(obstacle)) return [`obstacle ${place} must be an object, got ${quote(obstacle)}.`]
  const wrong = (field: string, expected: string) =>
    `obstacle ${place}: ${field} must be ${expected}, got ${quote(obstacle[field])}.`
  const { message, resolved, iteration } = obstacle
  return [
    ...(typeof message === 'string' && message.trim() ? [] : [wrong('message', 'a string')]),
    ...(resolved === undefined || typeof resolved === 'boolean' ? [] : [wrong('resolved', 'true or false')]),
    ...(iteration === undefined || isCount(iteration) ? [] : [wrong('iteration', 'a whole number')]),
  ]
}

function toObstacle({ id, task_id, message, resolved, iteration, ...more }: Json): Obstacle {
  return {
    id: idText(id),
    task_id: idText(task_id),
    message: String(message),
    resolved: resolved === true,
    iteration: Number(iteration ?? 0),
    ...more,
  }
}

// Agents also write a bare number.
function idText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

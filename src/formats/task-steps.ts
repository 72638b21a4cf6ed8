/** The steps of a vault's task: the checkboxes in its file. */
import { readBoxes } from './import-boxes.ts'
import { cutTo } from './one-line.ts'

/** `step`: the current or next one; empty if all are done. */
export type Steps = { total: number; completed: number; step: string }

const MOST_LETTERS = 300

/** Undefined if there are none. */
export function readSteps(text: string): Steps | undefined {
  const { tasks: boxes } = readBoxes(text.replaceAll('\r\n', '\n'))
  if (boxes.length === 0) return undefined
  const open = boxes.filter(({ status }) => status !== 'completed')
  const next = open.find(({ status }) => status === 'in_progress') ?? open[0]
  return {
    total: boxes.length,
    completed: boxes.length - open.length,
    step: cutTo(next?.title ?? '', MOST_LETTERS),
  }
}

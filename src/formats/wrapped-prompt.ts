/** The wrapped prompt: a task followed by its limit and its promise. */
import { claimTag } from '../engine/claim.ts'

/** Defaults: 10 iterations and COMPLETE. */
export type Wrapping = { maxIterations?: number; promise?: string }

/** The exact text. Without an iteration limit (0), the line with the maximum is left out. */
export function wrapPrompt(prompt: string, { maxIterations = 10, promise = 'COMPLETE' }: Wrapping = {}): string {
  return `${prompt}

${HEADING}
- Work on this task iteratively until all requirements are met
${maxIterations > 0 ? `- Maximum iterations allowed: ${maxIterations}\n` : ''}- Test and validate your work thoroughly
- When you have fully completed all requirements and all tests pass,
  output exactly: ${claimTag(promise)}
- Do NOT output the completion promise unless the task is actually complete

${ENDING}`
}

const HEADING = 'IMPORTANT COMPLETION CRITERIA:'
const ENDING = 'The task will loop until you output the completion signal or reach the iteration limit.'

/** The lines of `wrapPrompt`, except the maximum and the promise. */
const OWN = new Set([
  HEADING,
  '- Work on this task iteratively until all requirements are met',
  '- Test and validate your work thoroughly',
  '- When you have fully completed all requirements and all tests pass,',
  '- Do NOT output the completion promise unless the task is actually complete',
])
const MOST = /^- Maximum iterations allowed:\s*(\d+)$/
const PROMISE = /^(?:.*\boutput exactly:\s*)<promise>(.*?)<\/promise>$/

type Unwrapped = { prompt: string; maxIterations?: number; promise: string }

/**
 * Finds the task, the limit and the promise in a wrapped prompt; undefined for any other text. What follows it, and
 * criteria that are not ralph's own, belong to the task; `maxIterations` is absent if they do not set it.
 */
export function unwrapPrompt(text: string): Unwrapped | undefined {
  const at = text.lastIndexOf(`\n${HEADING}`)
  if (at < 0) return undefined
  const criteria = text.slice(at)
  const promise = /output exactly:\s*<promise>(.*?)<\/promise>/.exec(criteria)?.[1]
  if (promise === undefined) return undefined
  const most = /max(?:imum)? iterations(?: allowed)?:?\s*(\d+)/i.exec(criteria)?.[1]
  const [within = '', ...rest] = criteria.split(ENDING)
  const isOwn = within.split(/\r?\n/).every((line) => line.trim() === '' || isOwnLine(line.trim()))
  if (!isOwn)
    return { prompt: text.trimEnd(), promise: promise.trim(), ...(most ? { maxIterations: Number(most) } : {}) }
  const behind = rest.join(ENDING).trim()
  const prompt = `${text.slice(0, at).trimEnd()}${behind && `\n\n${behind}`}`
  return { prompt, maxIterations: Number(most ?? 0), promise: promise.trim() }
}

function isOwnLine(line: string): boolean {
  return OWN.has(line) || MOST.test(line) || PROMISE.test(line)
}

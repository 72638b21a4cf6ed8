/** ralph-loop.local.md: a loop in an agent's session, as a file that people can read and edit. */
import { splitFrontmatter } from './frontmatter.ts'
import { headValue } from './head-value.ts'

export type LoopFile = {
  active: boolean
  iteration: number
  /** 0: no count limit. */
  maxIterations: number
  /** Empty: there is none. */
  promise: string
  startedAt: string
  sessionId: string
  loopId: string
  prompt: string
}

/** Undefined if it is no longer such a file. Unknown frontmatter lines are ignored. */
export function parseLoopFile(text: string): LoopFile | undefined {
  const [head, body = ''] = splitFrontmatter(text)
  if (head === undefined) return undefined
  const fields = new Map(
    head.split('\n').flatMap((line) => {
      const [, key, value = ''] = /^\s*(\w+)\s*:\s*(.*?)\s*$/s.exec(line) ?? []
      return key === undefined ? [] : [[key, headValue(value)] as const]
    }),
  )
  // Windows line endings do not make it another file.
  const prompt = (head.includes('\r\n') ? body.replaceAll('\r\n', '\n') : body).replace(/^\n/, '')
  const maxIterations = whole(fields.get('max_iterations'))
  if (maxIterations === undefined || !prompt.trim()) return undefined
  return {
    active: fields.get('active') !== 'false',
    iteration: whole(fields.get('iteration')) ?? 1,
    maxIterations,
    promise: fields.get('completion_promise') ?? '',
    startedAt: fields.get('started_at') ?? '',
    sessionId: fields.get('session_id') ?? '',
    loopId: fields.get('loop_id') ?? '',
    prompt: prompt.replace(/\n$/, ''),
  }
}

/** Strings are quoted, so that no character has a special meaning. */
export function printLoopFile(file: LoopFile): string {
  const head = [
    `active: ${file.active}`,
    `iteration: ${file.iteration}`,
    `max_iterations: ${file.maxIterations}`,
    `completion_promise: ${file.promise ? JSON.stringify(file.promise) : 'null'}`,
    `started_at: ${JSON.stringify(file.startedAt)}`,
    `session_id: ${JSON.stringify(file.sessionId)}`,
    `loop_id: ${JSON.stringify(file.loopId)}`,
  ]
  return `---\n${head.join('\n')}\n---\n\n${file.prompt}\n`
}

/** Decimal, even with leading zeros. */
function whole(value: string | undefined): number | undefined {
  return value !== undefined && /^\d{1,9}$/.test(value) ? Number(value) : undefined
}

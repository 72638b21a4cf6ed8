/** The message that brings comments on its changes to a loop. */
import type { Order } from '../engine/loop.ts'

type Comment = {
  id: number
  iteration: number
  path: string
  line: number
  side: 'old' | 'new'
  quote: string
  text: string
}

/** The order with the comments and their numbers. */
export function reviewOrder(comments: readonly Comment[]): Extract<Order, { kind: 'say' }> {
  const parts = comments.map(({ iteration, path, line, side, quote, text }) => {
    const where = `${path}:${line} (${side === 'old' ? 'before' : 'after'} iteration ${iteration})`
    return `${where}\n> ${quote}\n${text.trim()}`
  })
  const lead =
    comments.length === 1
      ? 'There is a comment on a line you changed. Address it, or say why not.'
      : 'There are comments on lines you changed. Address each one, or say why not.'
  return {
    kind: 'say',
    words: [lead, ...parts].join('\n\n'),
    comments: comments.map(({ id }) => id),
  }
}

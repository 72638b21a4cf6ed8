/** What was said since the last time, for a host that repeats all of its answers. */
import { createHash } from 'node:crypto'
import type { Armed } from '../../session/armed.ts'

export function newPart(text: string, before: Armed['heard']): { message: string; heard: Armed['heard'] } {
  const hash = (part: string) => createHash('sha1').update(part).digest('hex')
  const repeated = before && text.length >= before.length && hash(text.slice(0, before.length)) === before.hash
  return {
    message: repeated ? text.slice(before.length) : text,
    heard: { length: text.length, hash: hash(text) },
  }
}

/** The text since the last time, for a host that repeats all of its answers. */
import { createHash } from 'node:crypto'
import type { Armed } from '../../session/armed.ts'
import { wasCancelled } from './transcript.ts'

/** Nothing if the user stopped the answer midway, which only the session's own transcript shows. */
export function newPart(
  text: string,
  before: Armed['heard'],
  record: string,
): { message: string; heard: Armed['heard'] } {
  const hash = (part: string) => createHash('sha1').update(part).digest('hex')
  const repeated = before && text.length >= before.length && hash(text.slice(0, before.length)) === before.hash
  const said = repeated ? text.slice(before.length) : text
  return { message: wasCancelled(record) ? '' : said, heard: { length: text.length, hash: hash(text) } }
}

/** Names for new loops. */
import { randomBytes } from 'node:crypto'

/** Eight letters and digits that are hard to confuse. */
export function newLoopId(): string {
  return [...randomBytes(8)].map((byte) => 'abcdefghjkmnpqrstvwxyz23456789'[byte % 30]).join('')
}

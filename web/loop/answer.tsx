/** What the loop asks a person, answered where one reads it. */
import { isRecorded } from '../data/source.ts'
import type { Found } from './head.tsx'

export function LoopAnswer({ found }: { found: Found }) {
  if (isRecorded()) return null
  return <section class="callout amber">{found.standing.sentence}</section>
}

/** What the loop needs from a person, answered in place. */
import { AnswerBox } from '../needs/answer.tsx'
import { NeedBody } from '../needs/body.tsx'
import type { Found } from './head.tsx'
import type { Need } from './need.ts'

export function LoopAnswer({ found, need }: { found: Found; need: Need | undefined }) {
  const isAnswered = need && (need.kind === 'question' || need.kind === 'permission' || need.kind === 'allow')
  return (
    <section class="callout amber" aria-label="It needs you">
      <h2>This loop needs you</h2>
      {isAnswered ? (
        <AnswerBox asked={need} />
      ) : need ? (
        <NeedBody need={need} focus={false} dismiss={() => {}} />
      ) : (
        <p>{found.standing.sentence}</p>
      )}
    </section>
  )
}

/** What the loop wants from a person, answered where one reads it; who reads it has seen it. */
import { useEffect } from 'preact/hooks'
import { anyLoop, useQuery } from '../data/query.ts'
import { call } from '../data/source.ts'
import { AnswerBox } from '../needs/answer.tsx'
import { NeedBody } from '../needs/body.tsx'
import type { Found } from './head.tsx'

export function LoopAnswer({ found }: { found: Found }) {
  const { id } = found.loop
  const { value, refresh } = useQuery('list_needs', {}, anyLoop)
  const need = value?.needs.find(({ loop }) => loop === id)
  useEffect(() => {
    if (need?.unread) void call('mark_seen', { loop: id, n: need.n }).then(refresh, () => {})
  }, [need?.n, need?.unread])
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

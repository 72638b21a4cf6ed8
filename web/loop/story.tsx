/** Everything that happened to the loop, in order, in plain sentences. */
import { ofLoop, useQuery } from '../data/query.ts'
import { Loading, Problem } from '../parts/common.tsx'
import { timeOf } from '../words.ts'

export function StoryTab({ id }: { id: string }) {
  const { value, error, refresh } = useQuery('wait_loop', { loop: id, after: 0, seconds: 0 }, ofLoop(id))
  if (error && !value) return <Problem error={error} retry={refresh} />
  if (!value) return <Loading />
  return (
    <div class="story">
      <p class="muted">The last {value.events.length} things that happened.</p>
      <ol>
        {value.events.map(({ seq, at, words }) => (
          <li key={seq}>
            <time dateTime={at}>{timeOf(Date.parse(at))}</time>
            <span dir="auto">{words}</span>
          </li>
        ))}
      </ol>
      <p>
        <strong>Now:</strong> {value.sentence}
      </p>
    </div>
  )
}

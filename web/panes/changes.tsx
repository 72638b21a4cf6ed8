/** Recent events of the agents in panes. */
import { useEffect, useState } from 'preact/hooks'
import { useQuery } from '../data/query.ts'
import { BadgeView, Link } from '../parts/common.tsx'
import { timeOf } from '../words.ts'
import { stateBadge } from './pane-card.tsx'

const PORTION = 500
const SHOWN = 12

export function Changes({ config }: { config: string }) {
  const [after, setAfter] = useState(0)
  const changes = useQuery('list_changes', { config, after }, ({ type }) => type === 'pane-change').value?.changes ?? []
  const last = changes.at(-1)?.seq
  // They arrive oldest first, in batches.
  useEffect(() => {
    if (changes.length >= PORTION && last !== undefined) setAfter(last)
  }, [last])
  if (changes.length === 0) return null
  return (
    <section class="card changes">
      <header>
        <h2>What happened</h2>
      </header>
      <ol>
        {changes
          .slice(-SHOWN)
          .reverse()
          .map(({ seq, at, agent, state, words, loop, iteration }) => (
            <li key={seq}>
              <span class="number muted">{timeOf(at)}</span>
              <strong>{agent}</strong>
              <BadgeView badge={stateBadge(state)} />
              <span class="path">
                {words}{' '}
                {loop !== undefined && iteration !== undefined && (
                  <Link to={`/loops/${loop}`}>{iteration > 0 ? `Iteration ${iteration}` : 'Its loop'}</Link>
                )}
              </span>
            </li>
          ))}
      </ol>
    </section>
  )
}

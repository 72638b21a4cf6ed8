/** One task in the list. */
import { go, withQuery } from '../data/route.ts'
import { BadgeView, Button, Link, Sentence } from '../parts/common.tsx'
import { memo } from '../parts/memo.ts'
import { ago, money } from '../words.ts'
import { actionsOf } from './actions.tsx'
import { noteOf, repoName, stateBadge, type Task } from './states.ts'

/** `tick`: changes over time, since the row shows durations. */
type Row = { task: Task; chosen: boolean; tick: number }

export const TaskRow = memo(({ task, chosen }: Row) => {
  const { id, title, state, submitter, project, priority, repo, branch, loop_id, spent_usd, created_at } = task
  const where = repo === null ? ['no repository'] : [repoName(repo), branch]
  return (
    <article class={`loop-row fleet-row${chosen ? ' chosen' : ''}`} aria-current={chosen}>
      <div class="what">
        <Link to={`/loops/${loop_id}`} class="cover">
          {title}
        </Link>
        <small title={repo ?? ''}>{[...where, ago(created_at)].join(' · ')}</small>
      </div>
      <BadgeView badge={stateBadge(state)} />
      <span class="note">
        <Sentence text={noteOf(task)} />
      </span>
      <div class="what whose">
        <span>{submitter}</span>
        {project && <small>{project}</small>}
      </div>
      <span class="right number">{priority}</span>
      <span class="right number">{spent_usd > 0 ? money(spent_usd) : '–'}</span>
      <span class="row-actions">
        {actionsOf(task).map(({ words, run }) => (
          <Button key={words} kind="quiet" run={run} label={`${words.replace(' …', '')}: ${title}`}>
            {words.replace(' …', '')}
          </Button>
        ))}
        <Button
          kind="quiet"
          label={`Details: ${title}`}
          title="Details (d)"
          run={() => go(withQuery({ task: id }), { replace: true })}
        >
          ⋯
        </Button>
      </span>
    </article>
  )
})

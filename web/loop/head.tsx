/** The head of a loop: its task, where it works, and its actions. */
import type { BoardOwner } from '../../src/board/owner.ts'
import { homeFolder, shownFolder } from '../../src/engine/home-folder.ts'
import type { FleetOwner } from '../../src/fleet/owner.ts'
import type { Badge } from '../badge.ts'
import { ofLoop, useQuery } from '../data/query.ts'
import { isRecorded, type OutputOf } from '../data/source.ts'
import type { Action } from '../parts/actions.tsx'
import { BadgeView, Button, Link } from '../parts/common.tsx'
import { editTask } from '../screens/task-dialog.tsx'
import { agentName, folderName, titleOf } from '../words.ts'

export type Found = OutputOf<'get_loop'>

export function LoopHead({ found, badge, actions }: { found: Found; badge: Badge; actions: readonly Action[] }) {
  const { loop } = found
  const { work } = loop.spec
  const { worktree } = work
  const { task } = (work.owner?.kind === 'board' ? work.owner : {}) as Partial<BoardOwner> // the board's own kind
  return (
    <header class="loop-head">
      <div class="grow">
        <p class="muted crumbs">
          {!isRecorded() && (
            <>
              <Link to="/loops">Loops</Link> ›{' '}
            </>
          )}
          <span title={shownFolder(loop)}>{folderName(homeFolder(loop))}</span> ·{' '}
          {(loop.spec.agents ?? [work.agent]).map(agentName).join(', then ')}
          {worktree && ` · ${worktree.branch}${worktree.base ? ` from ${worktree.base}` : ''}`} · <code>{loop.id}</code>
          {work.parent && !isRecorded() && (
            <>
              {' '}
              · continues{' '}
              <Link to={`/loops/${work.parent.loop}?i=${work.parent.iteration}`}>
                {work.parent.loop} after {work.parent.iteration}
              </Link>
            </>
          )}
          {work.owner?.kind === 'fleet' && !isRecorded() ? (
            <FleetTaskLine owner={work.owner as FleetOwner} loop={loop.id} />
          ) : (
            !task && found.whose && ` · ${found.whose}`
          )}
        </p>
        <div class="title-line">
          <h1>{titleOf(loop.spec.prompt)}</h1>
          <BadgeView badge={badge} />
        </div>
      </div>
      {isRecorded() ? (
        <p class="muted">A ralph report</p>
      ) : (
        <div class="loop-actions">
          {task && <Button run={() => editTask({ id: task })}>Edit task …</Button>}
          {actions.map(({ name, words, keys, danger, run }, at) => (
            <Button
              key={name}
              kind={
                danger
                  ? 'danger'
                  : at === 0 && (name === 'accept' || name === 'retry' || name === 'resume')
                    ? 'primary'
                    : 'plain'
              }
              run={run}
              title={keys ? `${words} (${keys})` : words}
            >
              {words}
            </Button>
          ))}
        </div>
      )}
    </header>
  )
}

/** The fleet task behind the loop, with its branch and its worker. */
function FleetTaskLine({ owner: { task, repo, branch }, loop }: { owner: FleetOwner; loop: string }) {
  const found = useQuery('get_fleet_task', { task }, ofLoop(loop)).value
  return (
    <>
      {' '}
      · task <Link to={`/fleet?task=${encodeURIComponent(task)}`}>{task}</Link> of the fleet
      {found?.worker && `, on worker ${found.worker}`}
      {repo && `, branch ${branch}`}
      {found?.why && `. ${found.why}`}
    </>
  )
}

/** One loop: its state and why, its iterations, and the details of the selected one. */
import { badgeOf } from '../badge.ts'
import { useIterations } from '../data/iterations.ts'
import { ofLoop, useQuery } from '../data/query.ts'
import { go, route, withQuery } from '../data/route.ts'
import { isRecorded } from '../data/source.ts'
import { Curve } from '../loop/curve.tsx'
import { type Found, LoopHead } from '../loop/head.tsx'
import { IterationPanel } from '../loop/iteration.tsx'
import { LimitsCard } from '../loop/limits.tsx'
import { Standing } from '../loop/standing.tsx'
import { showTab, TABS } from '../loop/tabs.ts'
import { Timeline } from '../loop/timeline.tsx'
import { type Action, actionsFor } from '../parts/actions.tsx'
import { Loading, Problem } from '../parts/common.tsx'
import { useShortcuts } from '../parts/keys.tsx'
import { attempt } from '../parts/toast.tsx'
import { titleOf } from '../words.ts'

export function LoopScreen({ id }: { id: string }) {
  const { value, error, refresh } = useQuery('get_loop', { loop: id, brief: true }, ofLoop(id))
  if (value) return <OpenLoop found={value} />
  return (
    <div class="screen">
      <h1 class={error ? '' : 'visually-hidden'}>Loop {id}</h1>
      {error ? <Problem error={error} retry={refresh} /> : <Loading lines={6} />}
    </div>
  )
}

function OpenLoop({ found }: { found: Found }) {
  const { loop, status, unattended } = found
  const { rows, error, loading } = useIterations(loop.id).value
  const { query } = route.value
  const newest = loop.next.kind === 'turn' ? loop.next.iteration : loop.tally.iteration
  const asked = Number(query.i)
  const chosen = asked >= 1 && asked <= newest ? Math.floor(asked) : rows.at(-1)?.n || newest || undefined
  const choose = (n: number) => go(withQuery({ i: String(n) }), { replace: true })
  const move = (by: number) => {
    const next = (chosen ?? 0) + by
    if (next >= 1 && next <= newest) choose(next)
  }
  const actions = isRecorded() ? [] : actionsOf(found)
  useShortcuts([
    { keys: 'j', words: 'Earlier iteration', run: () => move(-1) },
    { keys: 'k', words: 'Later iteration', run: () => move(1) },
    ...TABS.map(({ key, tab, words }) => ({
      keys: key,
      words: `Show: ${words}`,
      run: () => showTab(tab, chosen),
    })),
    ...actions.flatMap(({ keys, words, run }) =>
      keys ? [{ keys, words: words.replace(' …', ''), run: () => void attempt(run) }] : [],
    ),
    ...(isRecorded() ? [] : [{ keys: 'u', words: 'Back to the list', run: () => go('/loops') }]),
  ])
  const badge = badgeOf({ status, next: loop.next, iteration: loop.tally.iteration, unattended })
  return (
    <div class="screen loop">
      <LoopHead found={found} badge={badge} actions={actions} />
      <Standing found={found} />
      {loading ? (
        <Loading lines={8} />
      ) : (
        <div class="loop-columns">
          <div class="loop-side">
            <Curve loop={loop} rows={rows} />
            {error && <Problem error={error} />}
            <Timeline loop={loop} rows={rows} chosen={chosen} choose={choose} />
            <LimitsCard loop={loop} />
          </div>
          <IterationPanel found={found} rows={rows} chosen={chosen} />
        </div>
      )}
    </div>
  )
}

function actionsOf({ loop, status, standing, unattended }: Found): Action[] {
  const { spec, next, id } = loop
  return actionsFor({
    id,
    title: titleOf(spec.prompt),
    status,
    next,
    unattended,
    acceptable: standing.acceptable,
    owner: spec.work.owner?.kind,
  })
}

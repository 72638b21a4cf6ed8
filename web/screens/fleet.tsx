/** The fleet: its tasks and why each one waits, its workers, and what may be spent. */

import { go, route } from '../data/route.ts'
import { Budgets } from '../fleet/budgets.tsx'
import { NoFleet } from '../fleet/empty.tsx'
import { Filters } from '../fleet/filters.tsx'
import { Paused } from '../fleet/paused.tsx'
import { submitTask } from '../fleet/submit.tsx'
import { TaskDetails } from '../fleet/task-details.tsx'
import { Tasks } from '../fleet/tasks.tsx'
import { PARTS, Tiles } from '../fleet/tiles.tsx'
import { useFleet } from '../fleet/use-fleet.ts'
import { Workers } from '../fleet/workers.tsx'
import { Button, Loading, Problem } from '../parts/common.tsx'
import { useShortcuts } from '../parts/keys.tsx'

export function FleetScreen({ part }: { part: string }) {
  const { fleet, error, isMissing, refresh } = useFleet()
  const { task } = route.value.query
  useShortcuts([
    ...PARTS.map(({ to, words }, at) => ({ keys: `${at + 1}`, words: `Show: ${words}`, run: () => go(to) })),
    { keys: 'n', words: 'Submit a task', run: submitTask },
  ])
  return (
    <div class={`screen fleet${part ? '' : ' full'}`}>
      <header class="screen-head">
        <h1>Fleet</h1>
        {fleet && part === '' && <Filters />}
        {fleet && (
          <Button kind="primary" run={submitTask} title="Submit a task (n)">
            Submit a task
          </Button>
        )}
      </header>
      {error && (isMissing ? <NoFleet message={error.message} /> : <Problem error={error} retry={refresh} />)}
      {!fleet && !error && <Loading lines={8} />}
      {fleet && (
        <>
          <Tiles fleet={fleet} part={part} />
          {part === 'workers' ? (
            <Workers fleet={fleet} />
          ) : part === 'budgets' ? (
            <Budgets budgets={fleet.budgets} />
          ) : (
            <>
              <Paused accounts={fleet.accounts} />
              <Tasks fleet={fleet} />
            </>
          )}
        </>
      )}
      {task && <TaskDetails key={task} id={task} />}
    </div>
  )
}

/**
 * ralph's own time between two iterations, without the spawn.
 *
 * The agent is `date +%s%N`, which only writes the time. The gap between two timestamps is everything that happens
 * between two runs of an agent: in a real `ralph run`, and for comparison in two bare loops. Subtracted is the spawn: what
 * a bare Node loop takes to start the same agent through a small sh with a watcher next to it, read its pipes and see it
 * end. The rest is ralph's own time: recording, finding what the agent left running, looking at the folder, deciding,
 * saving, showing. The bare shell loop shows how much of the spawn is Node's.
 */
import { amidProcesses } from './crowd.ts'
import { nodeGaps, ralphGaps, shellGaps } from './gaps.ts'
import { inTemporaryFolder } from './leftovers.ts'
import { piecesAmidProcesses, piecesOfOwnTime } from './own-pieces.ts'
import type { Row } from './row.ts'
import { sideBySide, spread } from './spread.ts'

const ROUNDS = 16
const CROWD = 1_000

export async function* ownTime(): AsyncGenerator<Row> {
  yield* gaps('alone')
  yield* piecesOfOwnTime()
  yield* amidProcesses(CROWD, async function* () {
    const among = `among ${CROWD.toLocaleString('en')} processes`
    yield* gaps(among)
    yield* piecesAmidProcesses()
  })
}

async function* gaps(where: string): AsyncGenerator<Row> {
  const taken = await sideBySide(ROUNDS, {
    ralph: () => inTemporaryFolder(ralphGaps),
    node: () => nodeGaps(),
    watched: () => inTemporaryFolder((folder) => shellGaps(folder, 'watched')),
    bare: () => inTemporaryFolder((folder) => shellGaps(folder, 'bare')),
  })
  const [ralph, node, watched, bare] = [
    spread(taken.ralph),
    spread(taken.node),
    spread(taken.watched),
    spread(taken.bare),
  ]
  yield {
    what: `between two iterations, ${where}`,
    measured: ralph,
    unit: 'ms',
    yardstick: { what: 'bare Node loop', measured: node },
    figure: { value: ralph.calm - node.calm, unit: 'ms' },
    budget: 5,
  }
  yield {
    what: 'the same, compared to a shell loop with the watcher',
    measured: ralph,
    unit: 'ms',
    yardstick: { what: 'shell loop with watcher', measured: watched },
    figure: { value: ralph.calm - watched.calm, unit: 'ms' },
  }
  yield {
    what: 'the same, compared to a shell loop with only the agent',
    measured: ralph,
    unit: 'ms',
    yardstick: { what: 'bare shell loop', measured: bare },
    figure: { value: ralph.calm - bare.calm, unit: 'ms' },
  }
  yield {
    what: 'the first iterations, before the compiler has warmed up',
    measured: spread(taken.ralph.map((times) => times.slice(0, 1))),
    unit: 'ms',
  }
}

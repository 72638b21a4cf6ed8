/**
 * ralph's own time between two iterations.
 *
 * The agent is `date +%s%N`. It does nothing but write the time, so its one stamp is the last thing of one run and the
 * first of the next, and the gap between two stamps is everything that lies between two runs of an agent: in a real
 * `ralph run`, and beside it in a bare shell loop. What is subtracted is the bare loop's gap: a fork, the start of a
 * small sh that leaves a watcher beside the agent (ralph's spawn does that, too, so that nothing outlives a killed
 * ralph), the exec of the agent and its end. Not subtracted, and so ralph's own: that Node starts processes more slowly
 * than a shell does, the pipes it reads, recording, looking for what the agent left running, looking at the folder,
 * deciding, saving, and showing.
 */
import { amidProcesses } from './crowd.ts'
import { ralphGaps, shellGaps } from './gaps.ts'
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
    watched: () => inTemporaryFolder((folder) => shellGaps(folder, 'watched')),
    bare: () => inTemporaryFolder((folder) => shellGaps(folder, 'bare')),
  })
  const [ralph, watched, bare] = [spread(taken.ralph), spread(taken.watched), spread(taken.bare)]
  yield {
    what: `between two iterations, ${where}`,
    measured: ralph,
    unit: 'ms',
    yardstick: { what: 'shell loop, watcher beside', measured: watched },
    figure: { value: ralph.calm - watched.calm, unit: 'ms' },
    budget: 5,
  }
  yield {
    what: 'the same, nothing but the agent in the shell loop',
    measured: ralph,
    unit: 'ms',
    yardstick: { what: 'bare shell loop', measured: bare },
    figure: { value: ralph.calm - bare.calm, unit: 'ms' },
  }
  yield {
    what: 'the first of a run, before the compiler has warmed up',
    measured: spread(taken.ralph.map((times) => times.slice(0, 1))),
    unit: 'ms',
  }
}

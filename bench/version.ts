/** The smallest start of ralph. */
import { timeStarts } from './machine.ts'
import { RALPH } from './ralph.ts'
import type { Row } from './row.ts'
import { sideBySide, spread } from './spread.ts'

export async function* version(): AsyncGenerator<Row> {
  const times = await sideBySide(10, {
    ralph: () => timeStarts(process.execPath, [RALPH, '--version']),
    node: () => timeStarts(process.execPath, ['-e', '0']),
  })
  const [ralph, node] = [spread(times.ralph), spread(times.node)]
  yield {
    what: 'ralph --version',
    measured: ralph,
    unit: 'ms',
    yardstick: { what: 'node -e 0', measured: node },
    figure: { value: ralph.calm / node.calm, unit: '×' },
    budget: 1.5,
  }
}

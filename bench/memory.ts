/** The most memory that ralph uses while an agent prints far more than fits in memory. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inTemporaryFolder } from './leftovers.ts'
import { ralphRun } from './ralph.ts'
import type { Row } from './row.ts'

const GIGABYTE = 2 ** 30
const LINE = 'A line like those that an agent prints while it works, of about eighty characters.'

const AGENTS = {
  'in lines': `yes '${LINE}' | head -c ${GIGABYTE}\n`,
  'without a line break': `head -c ${GIGABYTE} /dev/zero | tr '\\0' x\n`,
} as const

export async function* memory(): AsyncGenerator<Row> {
  const node = peakOfNode()
  for (const [how, script] of Object.entries(AGENTS)) {
    const peak = await inTemporaryFolder((folder) => peakOfRalph(folder, script))
    yield {
      what: `peak memory, an agent prints 1 GB ${how}`,
      measured: { median: peak, calm: peak },
      unit: 'MB',
      yardstick: { what: 'node -e 0', measured: { median: node, calm: node } },
      figure: { value: peak, unit: 'MB' },
      budget: 150,
    }
  }
}

async function peakOfRalph(folder: string, script: string): Promise<number> {
  const dir = join(folder, 'work')
  mkdirSync(dir)
  writeFileSync(join(folder, 'agent.sh'), script)
  let peak = 0
  let watching: NodeJS.Timeout | undefined
  try {
    await ralphRun(['--agent', `command:/bin/sh "${join(folder, 'agent.sh')}"`, '--max-iterations', '1'], {
      dir,
      home: join(folder, 'home'),
      timeoutMs: 80_000,
      // The kernel keeps the peak, so the last reading before the end is enough; afterwards there is nothing to read.
      whileItRuns: ({ pid }) => {
        watching = setInterval(() => (peak = peakOf(`/proc/${pid}/status`) ?? peak), 10)
      },
    })
  } finally {
    clearInterval(watching)
  }
  if (peak === 0) throw new Error('The peak of ralph could not be read from /proc.')
  return peak
}

function peakOf(status: string): number | undefined {
  try {
    return parsePeak(readFileSync(status, 'utf8'))
  } catch {
    return undefined // it has just ended
  }
}

function peakOfNode(): number {
  const { stdout } = spawnSync(process.execPath, ['-p', 'fs.readFileSync("/proc/self/status", "utf8")'], {
    encoding: 'utf8',
    timeout: 20_000,
  })
  return parsePeak(stdout) ?? Number.NaN
}

/** `VmHWM` in megabytes. A process that is already ending has none. */
function parsePeak(status: string): number | undefined {
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]
  return kilobytes === undefined ? undefined : Number(kilobytes) / 1024
}

/** The machine that the numbers come from, and the two programs everything is compared with. */
import { spawnSync } from 'node:child_process'
import { cpus, loadavg } from 'node:os'
import type { Row } from './row.ts'
import { sideBySide, spread, timeEach } from './spread.ts'

export type Machine = { cores: number; processor: string; node: string; load: number }

/** `load`: how many programs wanted a core in the last minute, before any of this ran. */
export function readMachine(): Machine {
  const processors = cpus()
  return {
    cores: processors.length,
    processor: processors[0]?.model ?? 'unknown processor',
    node: process.version,
    load: loadavg()[0] ?? 0,
  }
}

export function printMachine({ cores, processor, node, load }: Machine): string {
  return `${cores} cores · ${processor} · node ${node} · load ${load.toFixed(1)}`
}

export async function* yardsticks(): AsyncGenerator<Row> {
  const { shell, node } = await sideBySide(8, {
    shell: () => timeStarts('/bin/sh', ['-c', ':']),
    node: () => timeStarts(process.execPath, ['-e', '0']),
  })
  yield { what: 'yardstick: sh -c :', measured: spread(shell), unit: 'ms' }
  yield { what: 'yardstick: node -e 0', measured: spread(node), unit: 'ms' }
}

const STARTS = 5

/** From the start of a program to its end, a few times, in milliseconds. */
export function timeStarts(program: string, args: readonly string[]): Promise<number[]> {
  return timeEach(STARTS, () => {
    const { status, error } = spawnSync(program, args, { stdio: 'ignore', timeout: 20_000 })
    if (error || status !== 0) throw new Error(`${program} ${args.join(' ')} failed.`, { cause: error })
  })
}

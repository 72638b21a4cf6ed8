import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

const SIM = join(import.meta.dirname, '..', 'bench', 'fleet-sim.ts')
const TINY = ['--workers', '2,5', '--tasks', '500', '--minutes', '60']

function sim(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, ['--no-warnings', SIM, ...args], { encoding: 'utf8', timeout: 50_000 })
}

function costsFile(costs: object): string {
  const folder = mkdtempSync(join(tmpdir(), 'ralph-fleet-sim-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'costs.json'), JSON.stringify(costs))
  return join(folder, 'costs.json')
}

test('simulates a small fleet, with the same result for the same seed', () => {
  const { status, stdout } = sim(...TINY)
  expect(status).toBe(0)
  expect(stdout).toContain('60 min with 5 workers')
  expect(stdout).toMatch(/ 5: the agents: every slot is busy/)
  expect(stdout).toMatch(/5 +ann +\d/)
  // Only what is timed on this machine differs, and with it the width of its column.
  const steady = (text: string) => text.replace(/ *\S+ \/ \S+ \/ \S+ ms$|Simulated in.*/gm, '').replace(/ +/g, ' ')
  expect(steady(sim(...TINY).stdout)).toBe(steady(stdout))
})

test('names the bottleneck with measured costs', () => {
  const slow = costsFile({ database: { commitMs: 100, connections: 20 } })
  const { stdout } = sim(...TINY, '--costs', slow)
  expect(stdout).toMatch(/ 5: connections: 27 wanted, 20 allowed/)
  expect(stdout).toMatch(/ 2: .*the row that numbers events: one commit at a time, at most 10\/s/)
})

test.each<[what: string, args: () => string[], words: string]>([
  ['unknown costs', () => ['--costs', costsFile({ calls: { lunch: 1 } })], 'unknown key: calls.lunch'],
  [
    'costs that are not numbers',
    () => ['--costs', costsFile({ candidates: 'all' })],
    'must have a number of 0 or more at candidates',
  ],
  ['no workers', () => ['--workers', '0'], 'whole and above 0'],
])('refuses %s', (_, args, words) => {
  const { status, stderr } = sim(...args())
  expect(status).toBe(2)
  expect(stderr).toContain(words)
})

import { expect, test } from 'vitest'
import { taskCommand } from './task-command.ts'

test.each<[given: Parameters<typeof taskCommand>, line: string]>([
  [['state', 'a'], 'ralph task state a'],
  [['state', 'a b', '/My Vault'], "ralph task state --vault '/My Vault' 'a b'"],
  [['approve', 'a', '/V', '--note', '…'], "ralph task approve --vault /V --note '…' a"],
  [['approve', '-x', '/V', '--note', '…'], "ralph task approve --vault /V --note '…' -- -x"],
  [['reject', '--', '/V'], 'ralph task reject --vault /V -- --'],
])('%j reads %s', (given, line) => {
  expect(taskCommand(...given)).toBe(line)
})

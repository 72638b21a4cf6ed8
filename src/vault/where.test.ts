import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Turn } from '../engine/loop.ts'
import { temporaryFolder } from '../host/place.test-support.ts'
import type { VaultTask } from './vault-task.ts'
import { judgeByPlace } from './where.ts'

const TURN: Turn = { end: 'ok', claim: { kind: 'none' }, words: 'x', ranTests: false, tokens: 0 }
const ASKS: Turn = { ...TURN, ask: { kind: 'person', words: 'b.md is no longer in the vault.' } }

test.each<[where: string, turn: Turn, about: string | undefined]>([
  ['Pending_Approval', TURN, 'approval'],
  ['Pending_Approval', ASKS, 'approval'],
  ['..', TURN, 'gone'],
  ['Needs_Action', ASKS, undefined],
])('with the file in %s, it is known what the user is asked', (where, turn, about) => {
  const path = join(temporaryFolder(), 'vault')
  for (const folder of ['Needs_Action', 'Pending_Approval']) mkdirSync(join(path, folder), { recursive: true })
  const task: VaultTask = {
    kind: 'vault',
    path,
    id: 'a',
    file: 'a.md',
    from: 'Needs_Action/a.md',
    done: 'Done',
    state: 'Ralph_State',
    by: 'watch',
  }
  writeFileSync(join(path, 'a.md'), 'Do it.\n')
  renameSync(join(path, 'a.md'), join(path, where, 'a.md'))
  expect(judgeByPlace(task, turn).ask?.about).toBe(about)
})

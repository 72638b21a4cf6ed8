import { expect, test } from 'vitest'
import { startLoop, type VaultTask } from '../../engine/loop.ts'
import { START, specOf } from '../../engine/stories.test-support.ts'
import { troubleWords } from './watch-view.ts'

test.each<[question: string, says: string]>([
  ['Red or blue?', "asks you: Red or blue? Answer: ralph task approve --vault /V --note '…' -- -x"],
  [
    '-x.md waits in Pending_Approval for your approval.',
    'waits for you: -x.md waits in Pending_Approval for your approval. Approve: ralph task approve --vault /V -- -x, or move -x.md back to Needs_Action',
  ],
  [
    '-x.md is in no folder of the vault any more.',
    'waits for you: -x.md is in no folder of the vault any more. Approve: ralph task approve --vault /V -- -x, or move -x.md back to Needs_Action',
  ],
])('who is asked %s is told what to type', (question, says) => {
  const vault: VaultTask = {
    path: '/V',
    id: '-x',
    file: '-x.md',
    from: 'Needs_Action/-x.md',
    done: 'Done',
    state: 'Ralph_State',
    by: 'watch',
  }
  const spec = specOf()
  const loop = startLoop('abc', { ...spec, work: { ...spec.work, vault } }, { at: START })
  const waits = { ...loop, next: { kind: 'wait', why: 'person', question } } as const
  expect(troubleWords({ kind: 'waiting', loop: waits })?.text).toBe(says)
})

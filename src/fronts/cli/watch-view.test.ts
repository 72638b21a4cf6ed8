import { expect, test } from 'vitest'
import { startLoop } from '../../engine/loop.ts'
import { START, specOf } from '../../engine/stories.test-support.ts'
import type { VaultTask } from '../../vault/vault-task.ts'
import { troubleWords } from './watch-view.ts'

test.each<[question: string, about: string | undefined, says: string]>([
  ['Red or blue?', undefined, "asks you: Red or blue? Answer: ralph task approve --vault /V --note '…' -- -x"],
  [
    '-x.md waits in Pending_Approval for your approval.',
    'approval',
    'waits for you: -x.md waits in Pending_Approval for your approval. Approve: ralph task approve --vault /V -- -x, or move -x.md back to Needs_Action',
  ],
  [
    '-x.md is in no folder of the vault any more.',
    'gone',
    'waits for you: -x.md is in no folder of the vault any more. Approve: ralph task approve --vault /V -- -x, or move -x.md back to Needs_Action',
  ],
])('who is asked %s is told what to type', (question, about, says) => {
  const owner: VaultTask = {
    kind: 'vault',
    path: '/V',
    id: '-x',
    file: '-x.md',
    from: 'Needs_Action/-x.md',
    done: 'Done',
    state: 'Ralph_State',
    by: 'watch',
  }
  const spec = specOf()
  const loop = startLoop('abc', { ...spec, work: { ...spec.work, owner } }, { at: START })
  const waits = { ...loop, next: { kind: 'wait', why: 'person', question, ...(about ? { about } : {}) } } as const
  expect(troubleWords({ kind: 'waiting', loop: waits })?.text).toBe(says)
})

import { expect, test } from 'vitest'
import type { Held } from './picture.ts'
import { heldSentence } from './schedule-words.ts'

test.each<[held: Held, sentence: string]>([
  [{ kind: 'dependencies', on: ['T1'] }, 'Waiting for T1 to finish.'],
  [{ kind: 'dependencies', on: [...'abcdefg'] }, 'Waiting for a, b, c, d and 3 more to finish.'],
  [{ kind: 'not-due', until: 7 }, 'Starts after 7 o’clock.'],
  [{ kind: 'no-worker', lack: { kind: 'workers' } }, 'No worker is running. Start one with `ralph worker`.'],
  [{ kind: 'no-worker', lack: { kind: 'draining' } }, 'Every worker that could run it is draining.'],
  [{ kind: 'no-worker', lack: { kind: 'agents', agents: ['pi', 'codex'] } }, 'No worker offers pi or codex.'],
  [{ kind: 'no-worker', lack: { kind: 'labels', labels: ['gpu'] } }, 'No worker has the label gpu.'],
  [{ kind: 'no-worker', lack: { kind: 'labels', labels: ['gpu', 'arm'] } }, 'No worker has the labels gpu and arm.'],
  [
    { kind: 'no-worker', lack: { kind: 'combination' } },
    'No single worker has both the agent and all the labels it needs.',
  ],
  [{ kind: 'account-paused', accounts: ['team'], until: 7 }, 'Rate-limited: account team is paused until 7 o’clock.'],
  [
    { kind: 'account-paused', accounts: ['own', 'team'], until: 7 },
    'Rate-limited: accounts own and team are paused, the first until 7 o’clock.',
  ],
  [{ kind: 'branch-taken', by: 'T1' }, 'Waiting for T1, which uses the same branch.'],
  [
    { kind: 'files-taken', by: 'T1', glob: 'src/*.ts', theirs: 'src/**' },
    'Waiting for T1, which may change the same files: src/*.ts overlaps src/**.',
  ],
  [
    { kind: 'over-budget', reserveUsd: 2, leftUsd: -1 },
    'Waiting for budget: it may cost $2.00, but its submitter has only $0.00 left today (UTC).',
  ],
  [{ kind: 'no-slot', slots: 1 }, 'Waiting for the only worker slot that can run it.'],
  [{ kind: 'no-slot', slots: 8 }, 'Waiting for one of the 8 worker slots that can run it.'],
])('%j', (held, sentence) => {
  expect(heldSentence(held, (at) => `${at} o’clock`)).toBe(sentence)
})

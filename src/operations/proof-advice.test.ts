import { expect, test } from 'vitest'
import { type FindingKind, type Loop, type Run, startLoop, type Trial } from '../engine/loop.ts'
import { specOf } from '../engine/stories.test-support.ts'
import { adviceFor } from './proof-advice.ts'

type Known = { kind?: FindingKind; git?: boolean; trials?: Partial<Record<Run, Trial>> }

function altered({ kind = 'tests-changed', git = true, trials = {} }: Known): Loop {
  const spec = specOf({ checks: ['npm test'] })
  const work = { ...spec.work, ...(git ? { gitDir: '/repo/.git' } : {}) }
  const loop = startLoop('k3f', { ...spec, work }, { at: 0, tree: 'tree 0' })
  const findings = [{ kind, path: 'a.test.ts', words: 'was changed' }]
  return {
    ...loop,
    tally: { ...loop.tally, tree: 'tree 1', findings, trials: { tree: 'tree 1', ...trials } },
    next: { kind: 'complete', proof: 'altered', sentence: '' },
  }
}

const fails: Trial = { ran: [{ check: 'npm test', result: 'fail' }] }
const passes: Trial = { ran: [{ check: 'npm test', result: 'pass' }] }

test.each<[name: string, known: Known, advice: string]>([
  ['changed tests', { trials: { sealed: fails, control: passes } }, 'put back a.test.ts'],
  ['new tests', { kind: 'tests-added', trials: { sealed: fails, control: passes } }, 'begin with the tests'],
  ['checks that need ignored files', { trials: { sealed: fails, control: fails } }, '"worktree_files"'],
  [
    'checks that are too slow',
    { trials: { sealed: { ran: [{ check: 'npm test', result: 'timeout' }] } } },
    'more time',
  ],
  ['a folder without git', { git: false, trials: { sealed: { ran: [], why: 'no git' } } }, 'git init'],
])('%s', (_, known, advice) => {
  expect(adviceFor(altered(known))).toContain(advice)
})

import { expect, test } from 'vitest'
import { type FindingKind, type Loop, type Ran, type Run, startLoop, type Trial } from '../engine/loop.ts'
import { specOf } from '../engine/stories.test-support.ts'
import { adviceFor } from './proof-advice.ts'

type Known = { kind?: FindingKind; git?: boolean; before?: Ran['result']; trials?: Partial<Record<Run, Trial>> }

function altered({ kind = 'tests-changed', git = true, before, trials = {} }: Known): Loop {
  const spec = specOf({ checks: ['npm test'] })
  const work = { ...spec.work, ...(git ? { gitDir: '/repo/.git' } : {}) }
  const loop = startLoop('k3f', { ...spec, work }, { at: 0, tree: 'tree 0' })
  const findings = [{ kind, path: 'a.test.ts', words: 'was changed' }]
  const baseline = before ? { before: [{ check: 'npm test', result: before }] } : {}
  return {
    ...loop,
    tally: { ...loop.tally, tree: 'tree 1', ...baseline, findings, trials: { tree: 'tree 1', ...trials } },
    next: { kind: 'complete', proof: 'altered', sentence: '' },
  }
}

const fails: Trial = { ran: [{ check: 'npm test', result: 'fail' }] }
const passes: Trial = { ran: [{ check: 'npm test', result: 'pass' }] }

test.each<[name: string, known: Known, advice: string]>([
  ['changed tests', { trials: { sealed: fails, control: passes } }, 'restore a.test.ts'],
  ['new tests', { kind: 'tests-added', trials: { sealed: fails, control: passes } }, 'start with the tests'],
  ['checks that need ignored files', { trials: { sealed: fails, control: fails } }, '"worktree_files"'],
  [
    'checks that are too slow',
    { trials: { sealed: { ran: [{ check: 'npm test', result: 'timeout' }] } } },
    'more time',
  ],
  [
    'a sealed run that shows nothing',
    { before: 'fail', trials: { sealed: passes, reversed: fails, control: passes, start: passes } },
    'find everything they need',
  ],
  [
    'tests that may be changed',
    { kind: 'may-change', before: 'fail', trials: { reversed: passes } },
    'pass without changing it.',
  ],
  [
    'no git where tests may be changed',
    { kind: 'may-change', git: false, trials: { reversed: { ran: [], why: 'x' } } },
    'git init',
  ],
  ['a folder without git', { git: false, trials: { sealed: { ran: [], why: 'no git' } } }, 'git init'],
])('%s', (_, known, advice) => {
  expect(adviceFor(altered(known))).toContain(advice)
})

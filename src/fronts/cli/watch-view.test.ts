import { expect, test } from 'vitest'
import { ALLOW, type Finding, type Loop, startLoop } from '../../engine/loop.ts'
import { step } from '../../engine/step.ts'
import {
  cancel,
  checked,
  checks,
  claims,
  cooling,
  crashes,
  type Happening,
  idles,
  loopAfter,
  START,
  specOf,
  times,
  works,
} from '../../engine/stories.test-support.ts'
import type { WatchEvent } from '../../operations/watch-vault.ts'
import type { VaultTask } from '../../vault/vault-task.ts'
import { openScreen } from './screen.test-support.ts'
import { openWatchView, troubleWords } from './watch-view.ts'

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

function begun(spec = specOf()): Loop {
  return startLoop('abc', { ...spec, work: { ...spec.work, agent: 'command:agent', owner } }, { at: START })
}

test.each<[question: string, about: string | undefined, says: string]>([
  ['Red or blue?', undefined, "asks you: Red or blue? Answer: ralph task approve --vault /V --note '…' -- -x"],
  [
    '-x.md is waiting in Pending_Approval for your approval.',
    'approval',
    'waiting for you: -x.md is waiting in Pending_Approval for your approval. Approve: ralph task approve --vault /V -- -x, or move -x.md back to Needs_Action',
  ],
  [
    '-x.md is no longer in the vault.',
    'gone',
    'waiting for you: -x.md is no longer in the vault. Approve: ralph task approve --vault /V -- -x, or move -x.md back to Needs_Action',
  ],
])('the question "%s" comes with the command that answers it', (question, about, says) => {
  const waits = { ...begun(), next: { kind: 'wait', why: 'person', question, ...(about ? { about } : {}) } } as const
  expect(troubleWords({ kind: 'waiting', loop: waits })?.text).toBe(says)
})

/** What is printed for these events, without the time of day. */
function printed(...events: WatchEvent[]): string[] {
  const { context, lines } = openScreen()
  const view = openWatchView(context)
  for (const event of events) view.tell(event)
  return lines().map((line) => line.replace(/^\d\d:\d\d:\d\d {2}/, ''))
}

function saw(loop: Loop, happening: Happening): Extract<WatchEvent, { kind: 'saw' }> {
  const fact = typeof happening === 'function' ? happening(loop) : happening
  return { kind: 'saw', loop: step(loop, fact), fact }
}

test('a task is shown from start to end', () => {
  const first = saw(begun(), works)
  const last = saw(first.loop, claims('clear'))
  expect(
    printed({ kind: 'started', loop: begun(), again: false }, first, last, {
      kind: 'ended',
      loop: last.loop,
      status: 'completed',
      place: 'Done/-x.md',
    }),
  ).toEqual([
    '▸  -x  started with command:agent',
    '·  -x  iteration 1 of 10: worked: Step 1.1 is taken.',
    '✓  -x  iteration 2 of 10: claimed done; there is no check',
    '✓  -x  completed in 2 iterations, 0:00, proof: claimed. There is no check, so the agent is taken at its word.',
  ])
})

test('a checked task shows its baseline, its experiments, and what its proof depends on', () => {
  const spec = specOf({ checks: ['npm test'] })
  const start = startLoop('abc', { ...spec, work: { ...spec.work, agent: 'command:agent', owner } }, { at: START })
  const findings: Finding[] = [{ kind: 'tests-changed', path: 'a.test.js', words: 'the test was changed' }]
  const story: Happening[] = [
    checks('fail'),
    claims('clear'),
    checked([{ check: 'npm test', result: 'pass', tail: '' }], findings),
    { kind: 'proved', at: START, run: 'sealed', ran: [], why: 'there is no git' },
  ]
  const seen: Extract<WatchEvent, { kind: 'saw' }>[] = []
  for (const happening of story) seen.push(saw(seen.at(-1)?.loop ?? start, happening))
  const loop = seen.at(-1)?.loop ?? start
  const lines = printed({ kind: 'started', loop: start, again: false }, ...seen, {
    kind: 'ended',
    loop,
    status: 'completed',
    place: 'Done/-x.md',
  })
  expect(lines).toEqual([
    '▸  -x  started with command:agent',
    '·  -x  before: npm test fails',
    '·  -x  sealed: could not run: there is no git',
    '✓  -x  iteration 1 of 10: claimed done; npm test passes',
    expect.stringMatching(/^✓ {2}-x {2}completed in 1 iteration, 0:00, proof: altered \(a\.test\.js\)\. /),
    '!  -x  changed tests: a.test.js',
  ])
})

test('a task whose checks were bent shows how to allow the changes', () => {
  const next = { kind: 'wait', why: 'person', question: 'Only a.test.js makes them pass.', about: ALLOW } as const
  expect(troubleWords({ kind: 'waiting', loop: { ...begun(), next } })?.text).toBe(
    'waiting for you: Only a.test.js makes them pass. Allow it: ralph allow abc · or say what to do instead: ralph steer abc "…" · Reject it: ralph task reject --vault /V -- -x',
  )
})

test('an open breaker sends a notification, after a turn and after its checks', () => {
  const text = expect.stringMatching(/^3 iterations in a row changed nothing\. The breaker is open; one more try at /)
  const last = saw(loopAfter(begun(cooling({}, { noProgress: 3 })), ...times(3, idles)), idles)
  expect(troubleWords(last)).toEqual({ task: '-x', status: 'waiting', text })
  const unproven = loopAfter(begun(cooling({ checks: ['npm test'] })), checks('fail'), ...times(4, idles))
  expect(troubleWords(saw(unproven, checks('fail')))).toEqual({ task: '-x', status: 'waiting', text })
  expect(printed(last).at(-1)).toMatch(/^… {2}-x {2}3 iterations in a row changed nothing\./)
})

test.each<[what: string, event: WatchEvent, line: string]>([
  ['a resumed task', { kind: 'started', loop: begun(), again: true }, '▸  -x  resumed with command:agent'],
  ['a crash', saw(begun(), crashes('Boom')), '!  -x  iteration 1 of 10: failed: Boom'],
  ['a pause', { kind: 'paused', loop: begun() }, '‖  -x  paused. Resume: ralph resume abc'],
  [
    'a cancelled task',
    { kind: 'ended', loop: saw(begun(), cancel).loop, status: 'failed', place: 'Failed/-x.md' },
    '✗  -x  failed after 0 iterations. Cancelled by Ada. Now in Failed/-x.md',
  ],
  [
    'a file that is not a task',
    { kind: 'refused', id: 'bad', file: 'bad.md', why: 'It is empty.', place: 'Failed/bad.md' },
    '✗  bad.md  was not started. It is empty. Now in Failed/bad.md',
  ],
  ['a note with two lines', { kind: 'note', text: 'mind\n  the gap' }, '!  mind the gap'],
])('%s is printed as one line', (_, event, line) => {
  expect(printed(event)).toEqual([line])
})

test('a watcher says what it watches and how to resume', () => {
  const { context, lines } = openScreen()
  const view = openWatchView(context)
  const how = { vault: '/V', agents: ['command:agent'], checks: ['npm test'], slots: 2, once: false } as const
  view.begin({ ...how, agents: [...how.agents], checks: [...how.checks], permissions: 'bypass' })
  view.tell({ kind: 'idle' })
  view.end({ failed: 0, waiting: 0 }, true)
  expect(lines().map((line) => line.replace(/^\d\d:\d\d:\d\d {2}/, ''))).toEqual([
    'ralph vault /V · agent command:agent · up to 2 at a time',
    'check: npm test',
    '·  Watching /V/Needs_Action … Press Ctrl-C to stop',
    '·  Stopped. Run the same command to resume.',
  ])
})

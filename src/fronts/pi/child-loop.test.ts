import { expect, test } from 'vitest'
import { type Answer, parseAnswer } from './answer.ts'
import { afterEvent, type ChildEvent, readChildLine, startChildLoop } from './child-loop.ts'

const read = (value: object) => readChildLine(JSON.stringify(value))
const begun = parseAnswer('{"next":"none","status":"running","loop":"abc","max_iterations":5,"promise":"P"}') as Answer

test.each<[object, ChildEvent | undefined]>([
  [
    { type: 'iteration-start', iteration: 2, attempt: 1 },
    { kind: 'iteration', iteration: 2 },
  ],
  [
    { type: 'agent-event', event: { kind: 'tool', name: 'bash', summary: 'ls' } },
    { kind: 'doing', doing: 'bash ls' },
  ],
  [
    { type: 'agent-event', event: { kind: 'text', text: 'I\nlook' } },
    { kind: 'doing', doing: 'I look' },
  ],
  [{ type: 'agent-event', event: { kind: 'usage' } }, undefined],
  [
    { type: 'iteration-end', iteration: 2, turn: { words: 'Done.', costUsd: 0.5 } },
    { kind: 'said', iteration: 2, text: 'Done.', costUsd: 0.5 },
  ],
  [
    { type: 'check-start', checks: ['npm test'] },
    { kind: 'doing', doing: 'checking: npm test' },
  ],
  [
    { type: 'check-end', verdicts: [{ check: 'npm test', result: 'fail', tail: 'x' }] },
    { kind: 'checked', checks: [{ check: 'npm test', result: 'fail' }] },
  ],
  [
    { type: 'message', text: 'Note.' },
    { kind: 'message', text: 'Note.' },
  ],
  [
    { type: 'error', code: 'loop-held', message: 'Held.' },
    { kind: 'error', text: 'Held.' },
  ],
  [{ type: 'something-new' }, undefined],
])('%o', (line, event) => {
  expect(read(line)).toEqual(event)
})

test('an invalid line is skipped', () => {
  expect(readChildLine('Segmentation fault')).toBeUndefined()
})

test('the last line says how the loop ended', () => {
  const end = read({
    type: 'loop-end',
    status: 'halted',
    reason: 'no-progress',
    sentence: 'It stood still.',
    iterations: 3,
    cost_usd: 1,
  })
  expect(end && afterEvent(begun, end)).toMatchObject({
    status: 'halted',
    reason: 'no-progress',
    iteration: 3,
    costUsd: 1,
    promise: 'P',
    maxIterations: 5,
    show: [{ level: 'warning', text: 'It stood still.' }],
  })
})

test('a process that exits silently is reported as an error, once', async () => {
  const seen: ChildEvent[] = []
  const dies = startChildLoop(
    [process.execPath, '-e', 'console.error("no such loop"); process.exit(2)'],
    '.',
    (event) => seen.push(event),
  )
  await dies.ended
  expect(seen).toEqual([{ kind: 'error', text: 'no such loop' }])
  const missing = startChildLoop(['/nowhere/node'], '.', (event) => seen.push(event))
  await missing.ended
  expect(seen).toHaveLength(2)
})

test('it can be ended', async () => {
  const seen: ChildEvent[] = []
  const said = '{"type":"loop-end","status":"paused","sentence":"Paused."}'
  const obeys = `process.on('SIGTERM', () => { console.log('${said}'); process.exit(0) })`
  const script = `${obeys}; setInterval(() => {}, 1000); console.log('{"type":"iteration-start","iteration":1}')`
  const child = startChildLoop([process.execPath, '-e', script], '.', (event) => {
    seen.push(event)
    if (event.kind === 'iteration') child.end()
  })
  await child.ended
  expect(seen.map(({ kind }) => kind)).toEqual(['iteration', 'end'])
})

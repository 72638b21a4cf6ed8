/** Loops in Gemini CLI's own session. */
import { expect } from 'vitest'
import { gemini } from './clients/gemini.ts'
import { DONE, failure } from './model-server.ts'
import { always, answersItself, enter, openSitting } from './session-live.ts'
import { type Seat, situations, waitsForLoopEnd, work } from './session-scenarios.ts'
import { HOSTILE, promptOf } from './session-tui.ts'

const host: Seat = {
  client: gemini,
  install: (root) => [['gemini', 'extensions', 'link', `${root}/plugins/gemini`, '--consent']],
  headless: ['gemini', '--yolo', '--skip-trust', '--prompt'],
  messagesIn: ({ stderr }) => stderr,
  terminal: ['gemini', '--yolo'],
  prefix: '/ralph:',
  face: '.gemini',
  ready: (terminal) => terminal.shows('Type your message', 60_000),
  again: ['--resume', 'latest'],
  rests: always('paused'),
  stopped: /Request cancelled/,
  clear: (terminal) => enter(terminal, '/clear', () => !terminal.visible().includes('Forget this')),
  compacted: /history compressed from/,
  // It keeps retrying after other errors for minutes.
  fails: { reply: failure(400, 'INVALID_ARGUMENT', 'No such thing.'), shown: /No such thing/ },
}

const sitting = openSitting(host)

situations(host, sitting, { 'typed meanwhile': waitsForLoopEnd })
answersItself(host, sitting, ({ stderr }) => stderr)

const { live, script, requests, ask, newest } = sitting

live('gemini gets what the user typed unchanged, and none of it is run', async () => {
  script([...work(sitting, 1), ...work(sitting, 2), DONE])
  await ask(`/ralph:loop  ${HOSTILE}\n\n  second  line --completion-promise COMPLETE --max-iterations 5`)
  expect(await newest()).toMatchObject({ status: 'completed', proof: 'claimed', iterations: 3 })
  expect(promptOf(sitting.place)).toBe(`${HOSTILE}\n\n  second  line`)
  expect(requests()).toHaveLength(5)
  expect(JSON.stringify(requests()[4])).toContain(JSON.stringify(HOSTILE).slice(1, -1))
  expect(JSON.stringify(requests()[4])).toContain('Step 1 is done')
})

live('gemini forgets earlier turns if the loop wants that', async () => {
  script([...work(sitting, 1), ...work(sitting, 2), ...work(sitting, 3)])
  await ask('/ralph:loop --context fresh --max-iterations 3 Go on.')
  expect(await newest()).toMatchObject({ status: 'halted', reason: 'max-iterations', iterations: 3 })
  expect(sitting.place.read('a.txt')).toBe('1\n2\n3\n')
  expect(requests()).toHaveLength(6)
  const third = JSON.stringify(requests()[4])
  expect(third).toContain('This is iteration 3 of at most 3')
  expect(third.match(/Step [12] is|iteration [12] of|ralph:loop/)).toBeNull()
})

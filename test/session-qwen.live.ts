/** Loops in Qwen Code's own session. */
import { expect } from 'vitest'
import { qwen } from './clients/qwen.ts'
import { DONE, failure, type Reply } from './model-server.ts'
import { always, answersItself, enter, expectNothingLeft, openSitting, PLUGIN } from './session-live.ts'
import { type Seat, situations } from './session-scenarios.ts'

const host: Seat = {
  client: qwen,
  install: () => [['qwen', 'extensions', 'install', PLUGIN, '--consent']],
  headless: ['qwen', '--yolo'],
  stdin: true,
  prefix: '/ralph:',
  messagesIn: ({ stderr }) => stderr,
  face: '.qwen',
  terminal: ['qwen', '--yolo'],
  async ready(terminal) {
    await terminal.shows('Type your message', 60_000)
    // Commands of extensions are known a moment later.
    terminal.type('/ralph:he')
    await terminal.shows('Explain loops')
    terminal.press('C-u')
  },
  again: ['--continue'],
  rests: always('interrupted'),
  stopped: /Request cancelled/,
  clear: (terminal) => enter(terminal, '/clear', () => !terminal.visible().includes('Forget this')),
  compact: '/compress',
  compacted: /[Cc]ompressed/,
  // It keeps retrying after other errors for over a minute.
  fails: { reply: failure(400, 'invalid_request_error', 'No such thing.'), shown: /No such thing/ },
}

const sitting = openSitting(host)

situations(host, sitting)
answersItself(host, sitting)

sitting.live('qwen -p prints the answer to a command', async () => {
  const { stderr } = await sitting.ask('', ['-p', '/ralph:help'])
  expect(stderr).toContain('loop PROMPT [options]')
  expect(sitting.requests()).toEqual([])
})

sitting.live("qwen's own hook limit pauses a loop, and it continues in the resumed session", async () => {
  const { bash, script, requests, ask, newest, armed } = sitting
  const work = (n: number): Reply[] => [bash(`echo ${n} >> a.txt`), { text: `Step ${n} is done.` }]
  script(Array.from({ length: 12 }, (_, index) => work(index + 1)).flat())
  const { stderr } = await ask('/ralph:loop Write the file. --max-iterations 12 --completion-promise COMPLETE')
  expect(stderr).toContain('ralph: paused after 8 iterations')
  expect(stderr).not.toContain('overriding')
  expect(requests()).toHaveLength(2 * 8)
  expect(await newest()).toMatchObject({ status: 'paused', iterations: 8 })
  script([bash('echo 9 >> a.txt'), DONE])
  expect(await ask('/ralph:resume', ['--resume', String(armed()[0])])).toMatchObject({ code: 0 })
  expect(await newest()).toMatchObject({ status: 'completed', iterations: 9 })
  expectNothingLeft(sitting)
})

sitting.live('qwen escapes brackets in the first prompt: it is asked for a sign without them', async () => {
  const { script, requests, ask, newest } = sitting
  script([{ text: 'All done.\n\nTASK_COMPLETE' }])
  expect(await ask('/ralph:loop Keep <b> & "c". --completion-promise COMPLETE')).toMatchObject({ code: 0 })
  const first = JSON.stringify(requests()[0])
  expect(first).toContain('Keep &lt;b&gt; & \\"c\\".')
  expect(first).toContain('the task as typed is in')
  expect(first).toContain('put `TASK_COMPLETE` alone on the last line')
  expect(first).not.toContain('&lt;promise')
  expect(await newest()).toMatchObject({ status: 'completed' })
})

/** Loops in Qwen Code's own session. */
import { expect } from 'vitest'
import { qwen } from './clients/qwen.ts'
import { DONE, type Reply } from './model-server.ts'
import { answersItself, expectNothingLeft, type Host, headlessEndings, openSitting, PLUGIN } from './session-live.ts'

const host: Host = {
  client: qwen,
  install: () => [['qwen', 'extensions', 'install', PLUGIN, '--consent']],
  headless: ['qwen', '--yolo'],
  stdin: true,
  prefix: '/ralph:',
  hears: ({ stderr }) => stderr,
  face: '.qwen',
}

const sitting = openSitting(host)

headlessEndings(host, sitting)
answersItself(host, sitting)

sitting.live('qwen -p prints the answer to a command', async () => {
  const { stderr } = await sitting.ask('', ['-p', '/ralph:help'])
  expect(stderr).toContain('loop PROMPT [options]')
  expect(sitting.requests()).toEqual([])
})

sitting.live("qwen's own limit of hooks pauses a loop, and it goes on in the resumed session", async () => {
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

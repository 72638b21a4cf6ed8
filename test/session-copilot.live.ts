/** Loops in GitHub Copilot CLI's own session. */
import { expect } from 'vitest'
import { copilot } from './clients/copilot.ts'
import { DONE, type Reply } from './model-server.ts'
import {
  answersItself,
  expectNothingLeft,
  type Host,
  headlessEndings,
  openSitting,
  PLUGIN,
  terminalEndings,
} from './session-live.ts'
import { hasTmux } from './tmux.ts'

const host: Host = {
  client: copilot,
  hears: ({ stderr }) => stderr,
  headless: ['copilot', '--plugin-dir', PLUGIN, '--yolo', '--no-ask-user', '--no-auto-update', '-p'],
  prefix: '/ralph:',
  face: '.copilot',
  terminal: ['copilot', '--plugin-dir', PLUGIN, '--yolo', '--no-auto-update'],
  stopKey: 'C-c', // Escape must come twice within a moment
  stopped: /Operation cancelled by user/,
  mute: true,
}

const sitting = openSitting(host)
const { live, bash, script, requests, ask, newest } = sitting

headlessEndings(host, sitting)
answersItself(host, sitting, ({ stdout }) => stdout)

live('copilot goes on in a resumed session where its own limit of hooks has ended the first', async () => {
  const work = (n: number): Reply[] => [bash(`echo ${n} >> a.txt`), { text: `Step ${n} is done.` }]
  const steps = Array.from({ length: 20 }, (_, index) => work(index + 1)).flat()
  script(steps)
  const { stderr } = await ask('/ralph:loop Write the file. --max-iterations 11 --completion-promise COMPLETE')
  expect(requests()).toHaveLength(2 * 9)
  expect(await newest()).toMatchObject({ status: 'paused', iterations: 9 })
  const [, session = ''] = /--resume=([\w-]+)/.exec(stderr) ?? []
  script([...work(10), bash('echo 11 >> a.txt'), DONE])
  expect(await ask('/ralph:resume', [`--resume=${session}`])).toMatchObject({ code: 0 })
  expect(await newest()).toMatchObject({ status: 'completed', iterations: 11 })
  expectNothingLeft(sitting)
})

live('copilot in a terminal: four loops in one session, each ends in another way', async ({ skip }) => {
  skip(!hasTmux, 'tmux is not here')
  const terminal = sitting.open()
  await terminal.shows('Confirm folder trust', 60_000)
  terminal.press('Enter')
  await terminal.shows('/ commands')
  await terminalEndings(host, sitting, terminal)
  terminal.close()
})

/** Loops in GitHub Copilot CLI's own session. */
import { expect } from 'vitest'
import { copilot } from './clients/copilot.ts'
import { DONE, failure, type Reply } from './model-server.ts'
import { until } from './ralph.ts'
import { always, answersItself, enter, expectNothingLeft, openSitting, PLUGIN } from './session-live.ts'
import { type Seat, situations, steers } from './session-scenarios.ts'

const host: Seat = {
  client: copilot,
  messagesIn: ({ stderr }) => stderr,
  headless: ['copilot', '--plugin-dir', PLUGIN, '--yolo', '--no-ask-user', '--no-auto-update', '-p'],
  prefix: '/ralph:',
  face: '.copilot',
  terminal: ['copilot', '--plugin-dir', PLUGIN, '--yolo', '--no-auto-update'],
  stopKey: 'C-c', // Escape must be pressed twice in quick succession
  stopped: /Operation cancelled by user/,
  mute: true,
  async ready(terminal) {
    const asks = /Confirm folder trust|Session in use/
    const isReady = () => {
      const screen = terminal.visible()
      if (asks.test(screen)) terminal.press('Enter')
      return !asks.test(screen) && screen.includes('/ commands')
    }
    await until('its input line', isReady, 60_000)
  },
  again: ['--continue'],
  rests: always('interrupted'),
  clear: (terminal) => enter(terminal, '/clear', () => !terminal.visible().includes('Forget this')),
  // It retries after other errors, a second each.
  fails: { reply: failure(402, 'payment_required', 'You have no credits left.'), shown: /no credits left/ },
  compacted: /[Cc]ompact(ed|ion completed)/,
}

const sitting = openSitting(host)
const { live, bash, script, requests, ask, newest } = sitting

situations(host, sitting, { 'typed meanwhile': steers })
answersItself(host, sitting, ({ stdout }) => stdout)

live('copilot continues in a resumed session after its own hook limit ended the first', async () => {
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

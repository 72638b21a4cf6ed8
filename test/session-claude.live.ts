/** Loops in Claude Code's own session, and what must not disturb them there. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { claude } from './clients/claude.ts'
import { DONE, type Reply } from './model-server.ts'
import { until } from './ralph.ts'
import { always, enter, expectNothingLeft, type Host, openSitting, PLUGIN, steered } from './session-live.ts'
import { HANGS, type Seat, situations } from './session-scenarios.ts'
import { hasTmux } from './tmux.ts'

const BYPASS = ['--dangerously-skip-permissions', '--plugin-dir', PLUGIN]

const host: Seat = {
  client: claude,
  headless: ['claude', ...BYPASS, '--output-format', 'stream-json', '--verbose', '-p'],
  messagesIn: ({ stdout }) => stdout,
  terminal: ['claude', ...BYPASS],
  prefix: '/ralph:',
  face: '.claude',
  ready: (terminal) => terminal.shows('bypass permissions on', 60_000),
  again: ['--continue'],
  rests: always('interrupted'),
  clear: (terminal) => enter(terminal, '/clear', () => !/interrupted/i.test(terminal.screen())),
  compacted: /Compacted/,
}

const sitting = openSitting(host)
const { live, bash, script, requests, ask, newest } = sitting

const LOOP = '/ralph:loop Write the file. --completion-promise COMPLETE'
const work = (n: number): Reply[] => [bash(`echo ${n} >> a.txt`), { text: `Step ${n} is done, more is left.` }]
const begun = () => until('the agent to work', () => existsSync(join(sitting.place.dir, 'begun')), 60_000)
const says = (body: unknown, words: string) => JSON.stringify(body).includes(words)

situations(host, sitting)

describe('claude', () => {
  live('leaves another session in the same folder alone', async () => {
    const mine = [bash(HANGS), { text: 'Step 1 is done.' }, ...work(2), bash('echo 3 >> a.txt'), DONE]
    script((body) => (says(body, 'Only a question.') ? { text: 'Only an answer.' } : (mine.shift() ?? {})))
    const looping = sitting.start(LOOP)
    await begun()
    const other = await ask('Only a question.')
    expect(other.stdout).toContain('Only an answer.')
    expect(other.stdout).not.toContain('ralph: ')
    expect(sitting.armed()).toHaveLength(1)
    sitting.place.write('go', '')
    expect(await looping.ended).toMatchObject({ code: 0 })
    expect(requests().filter((body) => says(body, 'Only a question.'))).toHaveLength(1)
    expect(await newest()).toMatchObject({ status: 'completed', iterations: 3 })
    expectNothingLeft(sitting)
  })

  live('gets a prompt as typed, whatever a shell would make of it', async () => {
    const prompt = 'It\'s "quoted" $(touch PWNED) `touch PWNED2`; touch PWNED3 \\n $HOME $1\n---\n  --- last line'
    script([bash(`cp ${sitting.face} face.md`), DONE])
    expect(await ask(`/ralph:loop ${prompt} --completion-promise COMPLETE`)).toMatchObject({ code: 0 })
    expect(await newest()).toMatchObject({ status: 'completed', prompt })
    expect(JSON.stringify(requests()[0])).toContain(JSON.stringify(prompt).slice(1, -1))
    expect(sitting.place.read('face.md')).toContain(`\n${prompt}\n`)
  })

  live('gets each iteration once, and not as an error', async () => {
    script([...work(1), bash('echo 2 >> a.txt'), DONE])
    const { stdout } = await ask(LOOP)
    expect(JSON.stringify(requests()[2]).split('This is iteration 2')).toHaveLength(2)
    expect(JSON.stringify(requests()[2]).split('Nobody is watching')).toHaveLength(2) // it already has the rules
    expect(stdout).not.toContain('stop-hook-error')
    expect(await newest()).toMatchObject({ status: 'completed', iterations: 2 })
  })

  live('is pointed to the loop file if its client would truncate the prompt', async () => {
    sitting.place.write('long.md', 'Keep every word of this line. '.repeat(400))
    script([bash(`wc -c < ${sitting.face} > size.txt`), { text: 'Step 1.' }, { text: 'TASK_COMPLETE' }])
    expect(await ask('/ralph:loop --file long.md')).toMatchObject({ code: 0 })
    for (const request of [requests()[0], requests()[2]]) {
      expect(says(request, `The task is in the file ${join(sitting.place.dir, sitting.face)}`)).toBe(true)
      expect(says(request, 'persisted-output')).toBe(false)
    }
    expect(Number(sitting.place.read('size.txt'))).toBeGreaterThan(12_000)
    expect(await newest()).toMatchObject({ status: 'completed', iterations: 2 })
  })

  live('may change its folder', async () => {
    const moves = bash('mkdir -p sub && cd sub && echo 1 > in.txt')
    script([moves, { text: 'Step 1.' }, bash('pwd > in.txt'), { text: 'Step 2.' }, bash('echo 3 > in.txt'), DONE])
    expect(await ask(LOOP)).toMatchObject({ code: 0 })
    expect(await newest()).toMatchObject({ status: 'completed', iterations: 3 })
    expect(sitting.place.read('sub/in.txt')).toBe('3\n') // it stayed there
    expect(existsSync(join(sitting.place.dir, 'sub', sitting.face))).toBe(false)
    expectNothingLeft(sitting)
  })

  live('may leave something running: that turn has not ended yet', async () => {
    const command = { command: 'sleep 1; echo over', run_in_background: true, description: 'a step' }
    const inBackground = { tools: [{ name: 'Bash', input: command }] }
    script([...work(1), inBackground, { text: 'It goes on in the background.' }, bash('echo 2 >> a.txt'), DONE])
    expect(await ask(LOOP)).toMatchObject({ code: 0 })
    expect(requests()).toHaveLength(6)
    expect(await newest()).toMatchObject({ status: 'completed', iterations: 2 })
    expectNothingLeft(sitting)
  })

  live('may send a subagent, whose end is not its own', async () => {
    const input = { description: 'a look', prompt: 'Look around.', subagent_type: 'general-purpose' }
    const sends = { tools: [{ name: 'Agent', input: { ...input, run_in_background: false } }] }
    const mine = [...work(1), sends, bash('echo 2 >> a.txt'), { text: 'Step 2.' }, bash('echo 3 >> a.txt'), DONE]
    script((body) => (says(body, 'Write the file.') ? (mine.shift() ?? {}) : { text: '<promise>COMPLETE</promise>' }))
    expect(await ask(LOOP)).toMatchObject({ code: 0 })
    expect(requests().filter((body) => !says(body, 'Write the file.'))).toHaveLength(1)
    expect(await newest()).toMatchObject({ status: 'completed', iterations: 3 })
    expectNothingLeft(sitting)
  })

  live('continues when its session is resumed', async () => {
    script([...work(1), bash(HANGS)])
    const killed = sitting.start(LOOP)
    await begun()
    killed.end('SIGKILL')
    const [first = ''] = (await killed.ended).stdout.split('\n')
    sitting.place.write('go', '')
    script([...work(2), bash('echo 3 >> a.txt'), DONE])
    expect(await ask('/ralph:resume', ['--resume', JSON.parse(first).session_id])).toMatchObject({ code: 0 })
    expect(requests()).toHaveLength(4)
    expect(JSON.stringify(requests()[0])).toContain('This is iteration 2 of at most 10')
    expect(await newest()).toMatchObject({ status: 'completed', iterations: 3 })
    expectNothingLeft(sitting)
  })

  for (const [command, words] of [
    ['status', 'no loop is active in this session'],
    ['cancel', 'no loop is active in this session'],
    ['help', '--max-iterations N'],
    ['loop', 'No prompt given.'],
  ] as const)
    live(`is not asked for /ralph:${command}`, async () => {
      script([DONE])
      expect((await ask(`/ralph:${command}`)).stdout).toContain(words)
      expect(requests()).toEqual([])
    })
})

live(
  'claude in a terminal gets what was typed meanwhile when the turn has ended, not only after the loop',
  async (test) => {
    test.skip(!hasTmux, 'tmux is not installed')
    const terminal = await sitting.terminal()
    script([...work(1), bash(HANGS), { text: 'Step 2 is done.' }, ...work(3)])
    await enter(terminal, LOOP, () => requests().length > 0)
    await begun()
    await enter(terminal, '/ralph:cancel', () => terminal.screen().includes('queued'))
    sitting.place.write('go', '')
    await sitting.over()
    expect(requests()).toHaveLength(4)
    expect(await newest()).toMatchObject({ status: 'cancelled' })
    expectNothingLeft(sitting)
  },
)

live('claude gets a message for the next iteration when the turn has ended, and does not pause', async ({ skip }) => {
  skip(!hasTmux, 'tmux is not installed')
  await steered(host, sitting, await sitting.terminal())
})

describe('claude with the plugin from its marketplace', () => {
  const installed: Host = {
    ...host,
    install: (root) => [
      ['claude', 'plugin', 'marketplace', 'add', root],
      ['claude', 'plugin', 'install', 'ralph@ralph'],
    ],
    headless: ['claude', '--dangerously-skip-permissions', '-p'],
  }
  const other = openSitting(installed)

  other.live('loops in the same way', async () => {
    other.script([other.bash('echo 1 >> a.txt'), { text: 'More is left.' }, other.bash('echo 2 >> a.txt'), DONE])
    expect(await other.ask(LOOP)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('All done.'),
      stderr: expect.stringMatching(/^ralph: done after 2 iterations, on the agent's word alone/),
    })
    expect(await other.newest()).toMatchObject({ status: 'completed', iterations: 2 })
    expectNothingLeft(other)
  })
})

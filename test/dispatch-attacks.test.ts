/** The dispatcher against users and tasks that do what nobody expects. */
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { crewOf } from '../src/dispatch/crew.ts'
import { DONE, makeCrew, WORKS } from './crew.ts'
import { carriers, LAUNCHER, until } from './ralph.ts'
import { hasTmux, openTerminal } from './tmux.ts'

const CHECK = 'checks: test -f done.txt'

describe.skipIf(!hasTmux)('a dispatcher', { concurrent: true }, () => {
  test('types nothing that a task contains as keys, whatever the task is', async () => {
    const crew = makeCrew([{ name: 'one', turns: [DONE], more: CHECK }])
    crew.start()
    await crew.stands('one', 'READY')
    await crew.say('1:', 'First \u001b[201~\rrm -rf x\r\u001b[200~ \u0003 \u001b[31mred\u001b[0m')
    await crew.stands('one', 'DONE')
    expect(crew.prompts('one')).toEqual([expect.stringMatching(/^First \nrm -rf x\n {2}red\n/)])
  })

  test("reports a task's outcome once, even if the user looked while it was running", async () => {
    const slow = [...WORKS(1), { shell: ['sh', '-c', 'while [ ! -e ../go ]; do sleep 0.05; done'] }]
    const crew = makeCrew([{ name: 'one', turns: [slow, DONE], more: CHECK }])
    const running = crew.start()
    await crew.stands('one', 'READY')
    await crew.say('1:', 'Go on.')
    await until('the first turn', () => crew.prompts('one').length === 1)
    await crew.say('status', '1')
    expect((await crew.place.ralph(['dispatch', 'retry', '1'])).code).toBe(2)
    writeFileSync(join(crew.dir('one'), '..', 'go'), '')
    await crew.stands('one', 'DONE')
    expect(crew.prompts('one')).toHaveLength(2)
    await crew.leave(running)
    const second = crew.start()
    await until('the agent to be back', () => second.lines().length > 0)
    await crew.say('1:', 'Go on.')
    await until('the end of the task', () => states(second).includes('DONE'))
    expect(states(running)).toEqual(['WORKING', 'DONE'])
    expect(states(second)).toEqual(['WORKING', 'DONE'])
  })

  test('is not done before it has started', async () => {
    const crew = makeCrew([{ name: 'one', turns: [DONE] }])
    const running = crew.start()
    await crew.stands('one', 'READY')
    await crew.say('1:', 'Go on.')
    await crew.stands('one', 'DONE')
    await crew.say('status', '1')
    await crew.stands('one', 'READY')
    await crew.say('1:', 'Go on.')
    await crew.stands('one', 'DONE')
    await crew.leave(running)
    expect(states(running)).toEqual(['WORKING', 'DONE', 'READY', 'WORKING', 'DONE'])
  })

  test('does not wait for an unanswered webhook when it leaves, and says that it left', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = silent.address() as AddressInfo // it listens on a port
    const crew = makeCrew([{ name: 'one', turns: [DONE] }], `  notify_webhook: http://127.0.0.1:${port}\n`)
    const terminal = openTerminal([process.execPath, LAUNCHER, 'dispatch'], crew.place)
    await terminal.shows('ralph>')
    await terminal.enter('1: Go on.')
    await crew.stands('one', 'DONE')
    await terminal.enter('quit')
    expect(await terminal.ended(8_000)).toBe(0)
    expect(terminal.screen()).toContain('The agents keep running in their panes.')
    silent.closeAllConnections()
    silent.close()
  })

  test('takes pasted text as one task, whatever its lines are', async () => {
    const crew = makeCrew([{ name: 'one', turns: [DONE] }])
    const terminal = openTerminal([process.execPath, LAUNCHER, 'dispatch'], crew.place)
    await terminal.shows('ralph>')
    await terminal.paste('1: First.\nquit\nThird.')
    await crew.stands('one', 'DONE')
    expect(crew.prompts('one')[0]).toMatch(/^First\.\nquit\nThird\.\n/)
    await terminal.enter('quit')
    expect(await terminal.ended()).toBe(0)
  })

  test('stops at the total cost limit, between two turns of one agent, and says so', async () => {
    const turns = [
      [...WORKS(1), { usage: { tokens: 1, costUsd: 0.6 } }],
      [...WORKS(2), { usage: { tokens: 1, costUsd: 0.6 } }],
      DONE,
    ]
    const crew = makeCrew(
      [
        { name: 'dear', turns },
        { name: 'other', turns },
      ],
      '  max_total_cost_usd: 1\n',
    )
    crew.start()
    await crew.stands('dear', 'READY')
    await crew.say('1:', 'Go on.')
    expect(await crew.stands('dear', 'STUCK')).toMatchObject({ iteration: 2, cost_usd: 1.2 })
    await crew.say('2:', 'Go on.')
    expect((await crew.stands('other', 'NEEDS YOU')).words).toContain('max_total_cost_usd')
    expect((await crew.place.ralph(['dispatch', 'wait', '2', '--timeout', '1'])).code).toBe(4)
    expect(crew.prompts('other')).toEqual([])
    await crew.say('drop', '2', '1')
    await crew.stands('other', 'READY')
  })

  test('knows its agents by the numbers of the config that it was started with', async () => {
    const names = ['one', 'two', 'three']
    const crew = makeCrew(names.map((name) => ({ name, turns: [DONE] })))
    let running = crew.start()
    for (const name of names) await crew.stands(name, 'READY')
    await crew.leave(running)
    await crew.say('three:', 'Left in the queue.')
    const [head = '', ...agents] = readFileSync(crew.config, 'utf8').split(/^(?= {2}- name)/m)
    writeFileSync(crew.config, [head, agents[1], agents[0]].join(''))
    running = crew.start()
    await crew.stands('three', 'DONE')
    const numbers = Object.values(await crew.agents()).map(({ number, name }) => `${number} ${name}`)
    expect(numbers).toEqual(['1 two', '2 one', '3 three'])
    await crew.say('1:', 'For two.')
    await crew.stands('two', 'DONE')
    expect(states(running, 'one')).toEqual([])
  })

  test('reopens a pane that the user closed when there is a task for it', async () => {
    const crew = makeCrew([{ name: 'shut', turns: [DONE], more: CHECK }])
    crew.start()
    await until('the pane to be open', async () => (await crew.agents()).shut?.words === '')
    crew.server('kill-session', '-t', crew.tag('shut'))
    await until('the pane to be noticed', async () => (await crew.agents()).shut?.words.startsWith('It has exited'))
    await crew.say('1:', 'Go on.')
    await crew.stands('shut', 'DONE')
  })

  test('leaves a pane closed until the loop that it had is resumed', async () => {
    const crew = makeCrew([{ name: 'shut', turns: [[{ shell: ['sleep', '30'] }], DONE], more: CHECK }])
    crew.start()
    await crew.stands('shut', 'READY')
    await crew.say('1:', 'Go on.')
    await until('the first turn', () => crew.prompts('shut').length === 1)
    crew.server('kill-session', '-t', crew.tag('shut'))
    expect((await crew.stands('shut', 'NEEDS YOU')).words).toContain('Its pane was closed.')
    const its = `RALPH_PANE=${crewOf(crew.config)}/shut`
    await until('the end of its program', () => carriers(its).length === 0, 10_000)
    await crew.say('say', '1', 'Use tabs.') // it is looked at once more
    expect((await crew.tmux.look())?.panes.has(crew.tag('shut'))).toBe(false)
    await crew.say('resume', '1')
    await crew.stands('shut', 'DONE')
    expect(crew.prompts('shut')).toHaveLength(2)
  })

  test('retries an agent that did not start once the user has fixed it', async () => {
    const crew = makeCrew([{ name: 'gone', turns: [[{ fail: 'Oh.' }], DONE], more: CHECK }])
    crew.start()
    await until('the agent to be up', async () => (await crew.agents()).gone?.words === '')
    const script = readFileSync(crew.script('gone'), 'utf8')
    writeFileSync(crew.script('gone'), 'Not a script.')
    await crew.say('1:', 'Go on.')
    expect((await crew.stands('gone', 'NEEDS YOU')).words).toContain('exits as soon as it starts')
    writeFileSync(crew.script('gone'), script)
    await crew.say('resume', '1')
    await crew.stands('gone', 'DONE')
  })

  test('starts no task in a folder whose setup failed, and serves the others while one hangs', async () => {
    const crew = makeCrew([
      { name: 'fails', turns: [DONE], more: 'setup: test -f ready.txt' },
      { name: 'hangs', turns: [DONE], more: 'setup: sleep 1000' },
    ])
    crew.start()
    await until('the task to be known', async () => (await crew.agents()).hangs)
    await crew.say('1:', 'Go on.')
    expect((await crew.stands('fails', 'NEEDS YOU')).words).toContain('its setup (test -f ready.txt) failed')
    await crew.say('remove', 'hangs')
    await until('the task to be dropped', async () => !('hangs' in (await crew.agents())))
    writeFileSync(join(crew.dir('fails'), 'ready.txt'), '')
    await crew.say('resume', '1')
    await crew.stands('fails', 'DONE')
  })

  test('drops a one-time task that was removed before it arrived', async () => {
    const asks = [{ ask: 'Run rm?' }]
    const crew = makeCrew([{ name: 'plain', turns: [asks, WORKS(1)] }], '  enabled: false\n')
    crew.start()
    await crew.stands('plain', 'READY')
    await crew.say('1:', 'First.')
    await crew.stands('plain', 'BLOCKED')
    await crew.say('1:', 'Second.')
    await crew.say('drop', '1', '1')
    await crew.tmux.press(crew.tag('plain'), 'y')
    await until('the second task', () => crew.prompts('plain').length === 2)
    await until('the end of the task', async () => (await crew.agents()).plain?.queue.length === 0)
    expect(crew.prompts('plain')).toEqual(['First.', 'Second.'])
  })

  test('reports an agent that cannot be started for a one-time task', async () => {
    const crew = makeCrew([{ name: 'plain', turns: [DONE] }], '  enabled: false\n')
    const running = crew.start()
    await until('the dispatcher to be up', async () => (await crew.agents()).plain?.words === '')
    writeFileSync(crew.script('plain'), 'Not a script.')
    crew.server('kill-session', '-t', crew.tag('plain'))
    await until('the task to be noticed', async () => (await crew.agents()).plain?.words.startsWith('It has exited'))
    await crew.say('1:', 'Go on.')
    await until('the report', () => running.lines().some(({ text }) => String(text).startsWith('its task was dropped')))
    expect((await crew.agents()).plain).toMatchObject({ state: 'READY', queue: [] })
  })
})

/** The states that a dispatcher has reported, oldest first. */
function states({ lines }: ReturnType<ReturnType<typeof makeCrew>['start']>, name?: string): unknown[] {
  return lines().flatMap((line) =>
    line.type === 'agent' && (name === undefined || line.name === name) ? [line.state] : [],
  )
}

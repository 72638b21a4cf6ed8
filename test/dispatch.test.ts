/** The dispatcher with scripted agents in real tmux: its promises for one agent and for ten at once. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { DONE, makeCrew, WORKS } from './crew.ts'
import { until } from './ralph.ts'
import { hasTmux } from './tmux.ts'

const CHECK = 'checks: test -f done.txt'
const UNTIL_GO = { shell: ['sh', '-c', 'while [ ! -e ../go ]; do sleep 0.05; done'] }

describe.skipIf(!hasTmux)('a dispatcher', { concurrent: true }, () => {
  test('keeps an agent on its original prompt until its claim is proven', async () => {
    const crew = makeCrew([{ name: 'council', turns: [WORKS(1), WORKS(2), DONE], more: CHECK }])
    const running = crew.start()
    await crew.stands('council', 'READY')
    await crew.say('1:', 'Write', 'the file.')
    const done = await crew.stands('council', 'DONE')
    expect(done).toMatchObject({
      iteration: 3,
      max_iterations: 10,
      proof: 'verified',
      last: 'All done.',
      breaker: 'closed',
    })
    const prompts = crew.prompts('council')
    expect(prompts).toHaveLength(3)
    for (const prompt of prompts) expect(prompt).toMatch(/^Write the file\.\n/)
    expect(prompts[2]).toContain('This is iteration 3 of at most 10')

    const { stdout } = await crew.place.ralph(['dispatch', 'status', 'council'])
    expect(stdout).toMatch(/^Agent 1 \[council\] - DONE\n {2}Ralph: iteration 3\/10, last: "All done\."\n/)
    await crew.stands('council', 'READY') // it has been looked at
    expect((await crew.place.ralph(['status', '--json'])).lines).toMatchObject([
      { loop_id: done.loop_id, status: 'completed' },
    ])
    await crew.leave(running)
    expect((await crew.tmux.look())?.panes.get(crew.tag('council'))).toMatchObject({ alive: true })
  })

  test('stops at the iteration limit, and accepts signals of its config as a claim', async () => {
    const crew = makeCrew(
      [
        { name: 'limited', turns: [WORKS(1), WORKS(2), WORKS(3)], more: 'ralph:\n  max_iterations: 2' },
        { name: 'signals', turns: [WORKS(1), [{ text: 'It is finished.\n\nALL_GREEN' }]] },
      ],
      '  completion_signals:\n    - ALL_GREEN\n',
    )
    crew.start()
    await crew.stands('limited', 'READY')
    await crew.say('task', 'limited', 'Go on.')
    await crew.say('task', 'signals', 'Go on.')
    expect(await crew.stands('limited', 'STUCK')).toMatchObject({ iteration: 2, max_iterations: 2 })
    expect(await crew.stands('signals', 'DONE')).toMatchObject({ iteration: 2, proof: 'claimed' })
    expect(await wait(crew, '--any', 'limited')).toBe(1)
    expect(await wait(crew, '--any', 'signals')).toBe(0)
    expect(await wait(crew)).toBe(1)
    expect(crew.prompts('limited')).toHaveLength(2)
  })

  test('keeps ten agents going at once, and a message for one reaches only that one', {
    concurrent: false,
  }, async () => {
    const names = Array.from({ length: 10 }, (_, n) => `a${n + 1}`)
    const turns = (name: string) => [[{ edit: { path: 'own.txt', content: name } }, { text: 'One.' }], WORKS(2), DONE]
    const crew = makeCrew(names.map((name) => ({ name, turns: turns(name), more: CHECK })))
    crew.start()
    for (const name of names) await crew.stands(name, 'READY')
    await Promise.all(names.map((name) => crew.say(`${name}:`, `The task of ${name}.`)))
    const code = await wait(crew, '--all')
    const agents = await crew.agents()
    expect(code, JSON.stringify(agents)).toBe(0)
    for (const name of names) {
      expect(agents[name]).toMatchObject({ state: 'DONE', proof: 'verified', iteration: 3 })
      expect(crew.prompts(name).map((prompt) => prompt.split('\n')[0])).toEqual(Array(3).fill(`The task of ${name}.`))
      expect(readFileSync(join(crew.dir(name), 'own.txt'), 'utf8')).toBe(name)
    }
  })

  test('never types into an agent that asks for permission', async () => {
    const asks = [{ ask: 'Run rm?' }, { edit: { path: 'steps.txt', content: '1' } }, { text: 'Step 1.' }]
    const crew = makeCrew([{ name: 'careful', turns: [asks, DONE], more: CHECK }])
    crew.start()
    await crew.stands('careful', 'READY')
    await crew.say('1:', 'Clean up.')
    expect(await crew.stands('careful', 'BLOCKED')).toMatchObject({ words: 'It asks: Run rm?' })
    expect(await wait(crew, '--any')).toBe(4)
    await crew.tmux.press(crew.tag('careful'), 'y')
    await crew.stands('careful', 'DONE')
    expect(crew.prompts('careful')).toHaveLength(2)
  })

  test('sends a prompt that did not arrive once more, and then says so', async () => {
    const crew = makeCrew([
      { name: 'deaf', turns: [[{ ignore: true }], DONE], more: CHECK },
      { name: 'deafer', turns: [[{ ignore: true }], [{ ignore: true }], DONE], more: CHECK },
    ])
    crew.start()
    await crew.stands('deaf', 'READY')
    await crew.say('1:', 'Once.')
    await crew.say('2:', 'Twice.')
    await crew.stands('deaf', 'DONE')
    expect(crew.prompts('deaf')).toHaveLength(1)
    await crew.stands('deafer', 'STALLED')
    await crew.say('resume', '2')
    await crew.stands('deafer', 'DONE')
    expect(crew.prompts('deafer')).toHaveLength(1)
  })

  test('presses Enter again as long as a pasted prompt is only there, not sent', async () => {
    const crew = makeCrew([{ name: 'slow', turns: [[{ 'line-breaks': 3 }, ...WORKS(1)], DONE], more: CHECK }])
    crew.start()
    await crew.stands('slow', 'READY')
    await crew.say('1:', 'In good time.')
    await crew.stands('slow', 'DONE')
    expect(crew.prompts('slow')).toHaveLength(2)
  })

  test('restarts a crashed agent where it was', async () => {
    const crew = makeCrew([
      { name: 'brittle', turns: [WORKS(1), [{ fail: 'Segmentation fault', exit: 139 }], DONE], more: CHECK },
    ])
    crew.start()
    await crew.stands('brittle', 'READY')
    await crew.say('1:', 'Carefully.')
    expect(await crew.stands('brittle', 'DONE')).toMatchObject({ iteration: 2, restarts: 1 })
    const { lines } = await crew.place.ralph(['show', String((await crew.agents()).brittle?.loop_id), '--json'])
    expect(lines.flatMap(({ fact }) => (fact ? [(fact as { kind: string }).kind] : []))).toEqual(
      ['checked', 'turned', 'turned', 'turned', 'checked'], // the crash is a turn that does not count
    )
  })

  test("waits for one agent's rate limit while the others continue", async () => {
    const limited = [{ 'rate-limit': { resetsInSeconds: 3 } }]
    const crew = makeCrew([
      { name: 'poor', turns: [limited, WORKS(1), DONE], more: CHECK },
      { name: 'rich', turns: [WORKS(1), WORKS(2), DONE], more: CHECK },
    ])
    crew.start()
    await crew.stands('poor', 'READY')
    await crew.say('1:', 'Go on.')
    expect(await crew.stands('poor', 'WAITING')).toMatchObject({ until: expect.stringContaining('T') })
    await crew.say('2:', 'Go on.')
    await crew.stands('rich', 'DONE')
    expect(await crew.stands('poor', 'DONE')).toMatchObject({ iteration: 2 })
  })

  test('lets the user type in a pane, waits for them, and asks', async () => {
    const first = [...WORKS(1), UNTIL_GO]
    const crew = makeCrew([{ name: 'shared', turns: [first, [{ text: 'It is four.' }], DONE], more: CHECK }])
    crew.start()
    await crew.stands('shared', 'READY')
    await crew.say('1:', 'Go on.')
    await until('the first turn', () => crew.prompts('shared').length === 1)
    await crew.tmux.paste(crew.tag('shared'), 'What is two and two?')
    writeFileSync(join(crew.dir('shared'), '..', 'go'), '')
    expect(await crew.stands('shared', 'NEEDS YOU')).toMatchObject({
      words: expect.stringContaining('Somebody is typing'),
    })
    await crew.tmux.press(crew.tag('shared'), 'Enter')
    await until(
      'its question',
      async () => (await crew.agents()).shared?.words === 'You typed in its pane. Continue with "resume 1".',
    )
    expect(crew.prompts('shared')[1]).toBe('What is two and two?')
    await crew.say('resume', '1')
    await crew.stands('shared', 'DONE')
    expect(crew.prompts('shared')).toHaveLength(3)
  })

  test('takes what the user types in a pane as the answer to its question', async () => {
    const crew = makeCrew([{ name: 'asking', turns: [[{ text: '<ask>Tabs or blanks?</ask>' }], DONE], more: CHECK }])
    crew.start()
    await crew.stands('asking', 'READY')
    await crew.say('1:', 'Format it.')
    expect(await crew.stands('asking', 'NEEDS YOU')).toMatchObject({ words: 'It asks: Tabs or blanks?' })
    await crew.tmux.paste(crew.tag('asking'), 'Blanks.')
    await crew.tmux.press(crew.tag('asking'), 'Enter')
    await crew.stands('asking', 'DONE')
    expect(crew.prompts('asking')).toEqual([expect.stringContaining('Format it.'), 'Blanks.'])
  })

  test('queues tasks, drops them, cancels, pauses, limits and says', async () => {
    const slow = [...WORKS(1), { sleep: 30 }]
    const crew = makeCrew([{ name: 'busy', turns: [slow, DONE, DONE, WORKS(3), WORKS(4), WORKS(5)] }])
    crew.start()
    await crew.stands('busy', 'READY')
    for (const task of ['First.', 'Second.', 'Third.']) await crew.say('1:', task)
    await until('the first turn', () => crew.prompts('busy').length === 1)
    expect(await crew.say('queue', '1')).toMatchObject([{ prompt: 'Second.' }, { prompt: 'Third.' }])
    expect(await crew.say('drop', '1', '2')).toMatchObject([{ prompt: 'Third.' }])
    await crew.say('cancel', 'busy')
    await until('the end of the second task', async () => (await crew.agents()).busy?.proof === 'claimed')
    expect(crew.prompts('busy')[1]).toContain('Second.')
    const statuses = (await crew.place.ralph(['status', '--json'])).lines.map(({ status }) => status)
    expect(statuses).toEqual(['completed', 'cancelled'])

    await crew.say('1:', 'Fourth.')
    await until('the fourth task', () => crew.prompts('busy').length >= 4)
    await crew.say('limit', '1', '20')
    await crew.say('say', '1', 'Use tabs.')
    await until('the message to arrive', () => crew.prompts('busy').some((prompt) => prompt.includes('Use tabs.')))
    expect((await crew.agents()).busy).toMatchObject({ max_iterations: 20 })
    await crew.say('pause', '1')
    await crew.stands('busy', 'NEEDS YOU')
  })

  test('continues where a closed pane was, if asked to', async () => {
    const crew = makeCrew([{ name: 'shut', turns: [[{ sleep: 30 }], DONE], more: CHECK }])
    crew.start()
    await crew.stands('shut', 'READY')
    await crew.say('1:', 'Go on.')
    await until('the first turn', () => crew.prompts('shut').length === 1)
    crew.server('kill-session', '-t', crew.tag('shut'))
    expect(await crew.stands('shut', 'NEEDS YOU')).toMatchObject({
      words: 'Its pane was closed. Continue with "resume 1".',
    })
    await crew.say('resume', '1')
    await crew.stands('shut', 'DONE')
  })

  test('brings all agents and loops back when their terminal server has died', async () => {
    const names = ['one', 'two', 'three']
    const crew = makeCrew(names.map((name) => ({ name, turns: [[{ sleep: 30 }], DONE], more: CHECK })))
    crew.start()
    for (const name of names) await crew.stands(name, 'READY')
    for (const name of names.slice(0, 2)) await crew.say(`${name}:`, 'Go on.')
    for (const name of names.slice(0, 2)) await until('the first turn', () => crew.prompts(name).length === 1)
    crew.killServer()
    for (const name of names.slice(0, 2)) await crew.stands(name, 'DONE')
    await until('the idle agent to be back', async () => (await crew.tmux.look())?.panes.get(crew.tag('three'))?.alive)
  })

  test('gives each task its own worktree, which is merged when it is accepted', async () => {
    const crew = makeCrew([
      { name: 'apart', turns: [WORKS(1), DONE], more: 'worktree: true\nchecks: test -f done.txt' },
    ])
    crew.start()
    await until('the task to be known', async () => (await crew.agents()).apart)
    await crew.say('1:', 'Go on.')
    const done = await crew.stands('apart', 'DONE')
    expect(existsSync(join(crew.dir('apart'), 'done.txt'))).toBe(false)
    expect(done.dir).toContain('worktrees')
    await crew.say('accept', '1')
    expect(existsSync(join(crew.dir('apart'), 'done.txt'))).toBe(true)
    await crew.stands('apart', 'READY')
  })

  test('ends the loops of all agents when they reach their total cost limit', async () => {
    const spends = (n: number) => [...WORKS(n), { usage: { tokens: 10, costUsd: 0.4 } }]
    const turns = [spends(1), spends(2), spends(3), spends(4), spends(5)]
    const crew = makeCrew(
      [
        { name: 'one', turns },
        { name: 'two', turns },
      ],
      '  max_total_cost_usd: 1\n',
    )
    crew.start()
    await crew.stands('one', 'READY')
    await crew.say('1:', 'Go on.')
    expect(await crew.stands('one', 'STUCK')).toMatchObject({ iteration: 3, cost_usd: expect.closeTo(1.2) })
    expect((await crew.agents()).one?.words).toMatch(/^cost: /)
    expect(await crew.say('2:', 'Go on.')).toMatchObject([{ agent: 'two' }])
    expect((await crew.agents()).two).toMatchObject({ queue: ['Go on.'], loop_id: null })
  })

  test('gives a task once and does not repeat it if that is not enabled', async () => {
    const crew = makeCrew([{ name: 'plain', turns: [WORKS(1)] }], '  enabled: false\n')
    crew.start()
    await crew.stands('plain', 'READY')
    await crew.say('1:', 'Just this.')
    await until('the task to arrive', () => crew.prompts('plain').length === 1)
    await until(
      'the end of the task',
      async () => (await crew.agents()).plain?.state === 'READY' && (await crew.agents()).plain?.queue.length === 0,
    )
    expect(crew.prompts('plain')).toEqual(['Just this.'])
  })

  test('reports every transition', async () => {
    const crew = makeCrew([{ name: 'told', turns: [DONE] }])
    crew.start()
    await crew.stands('told', 'READY')
    const events = crew.place.start(['dispatch', 'events', '--json', '--after', '0'])
    await crew.say('1:', 'Go on.')
    await until('all reports', () => events.lines().some(({ state }) => state === 'DONE'))
    expect(events.lines().map(({ state }) => state)).toEqual(['WORKING', 'DONE'])
    events.child.kill('SIGINT')
    expect((await events.ended).code).toBe(130)
  })

  test('finds its loops again when the database was lost and is rebuilt', async () => {
    const crew = makeCrew([{ name: 'known', turns: [[...WORKS(1), UNTIL_GO], DONE], more: CHECK }])
    const running = crew.start()
    await crew.stands('known', 'READY')
    await crew.say('1:', 'Go on.')
    await until('the first turn', () => crew.prompts('known').length === 1)
    const { known } = await crew.agents()
    await crew.leave(running)
    crew.killServer()
    for (const suffix of ['', '-wal', '-shm']) rmSync(join(crew.place.home, `ralph.db${suffix}`), { force: true })
    await crew.place.ralph(['doctor', '--rebuild'])
    writeFileSync(join(crew.dir('known'), '..', 'go'), '')
    crew.start()
    expect(await crew.stands('known', 'DONE')).toMatchObject({ loop_id: known?.loop_id, proof: 'verified' })
  })

  test('is the only one with its config', async () => {
    const crew = makeCrew([{ name: 'one', turns: [DONE] }])
    crew.start()
    await crew.stands('one', 'READY')
    const { code, stderr } = await crew.place.ralph(['dispatch'])
    expect(code).toBe(1)
    expect(stderr).toContain('is already running')
  })
})

async function wait({ place }: ReturnType<typeof makeCrew>, ...words: string[]): Promise<number | null> {
  return (await place.ralph(['dispatch', 'wait', ...words, '--timeout', '1'])).code
}

/** A loop inside a session of OpenCode, in a terminal, against a scripted model on loopback. `opencode run` ends with its first turn. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterEach, expect, type TestContext } from 'vitest'
import { opencode } from './clients/opencode.ts'
import { openLive } from './conformance.ts'
import { DONE, failure, type Replies, type Reply } from './model-server.ts'
import { makePlace, type Place, until } from './ralph.ts'
import { expectSessionReleased, HOSTILE, historyOf, loopOf, promptOf, stands } from './session-tui.ts'
import { hasTmux, openTerminal, type Terminal } from './tmux.ts'

const { live, start, requests, bash } = openLive(opencode)

const terminals: Terminal[] = []
afterEach(() => {
  for (const terminal of terminals.splice(0)) terminal.close()
})

type Opened = { place: Place; terminal: Terminal; again(...args: string[]): Promise<Terminal> }

/** A terminal with an OpenCode that has the plugin; `again` opens another one. */
async function open(replies: Replies, { skip }: TestContext): Promise<Opened> {
  skip(!hasTmux, 'tmux is not installed')
  const place = makePlace()
  const env = { ...place.env, ...(await start(replies, place)), TERM: 'screen-256color' }
  addPlugin(place)
  await place.ralph(['status']) // so that the database can be queried at once
  const again = async (...args: string[]) => {
    const terminal = openTerminal(['opencode', '--auto', ...args], { dir: place.dir, env })
    terminals.push(terminal)
    await terminal.shows('ctrl+p commands', 60_000)
    return terminal
  }
  return { place, terminal: await again(), again }
}

function addPlugin({ root, dir }: Place): void {
  const folder = join(root, 'home', '.config', 'opencode')
  mkdirSync(join(folder, 'plugins'), { recursive: true })
  symlinkSync(resolve('plugins/opencode/ralph.js'), join(folder, 'plugins', 'ralph.js'))
  const lock = { packages: { '': { dependencies: { '@opencode-ai/plugin': '*' } } } }
  // With these it does not download the package with the plugin types: for ours, and for a project that has its folder.
  for (const each of [folder, join(dir, '.opencode')]) {
    mkdirSync(join(each, 'node_modules'), { recursive: true })
    writeFileSync(join(each, 'package-lock.json'), JSON.stringify(lock))
  }
}

const works = (n: number): Reply[] => [bash(`echo ${n} >> steps.txt`), { text: `Step ${n}.` }]

live('loops on a prompt as typed, until a promise, up to a limit, and until its check passes', async (context) => {
  const replies = [
    ...[...works(1), ...works(2), DONE],
    ...[...works(3), ...works(4), ...works(5)],
    ...[...works(6), DONE, bash('echo all > done.txt'), DONE],
  ]
  const { place, terminal } = await open(replies, context)
  await terminal.submit('/ralph:status ')
  await terminal.shows('no loop is active in this session')
  expect(requests()).toHaveLength(0)

  await terminal.paste(`/ralph:loop  ${HOSTILE}\n\n  second  line --completion-promise COMPLETE --max-iterations 5`)
  await stands(place, 'completed', terminal)
  await terminal.shows('ralph: done after 3 iterations')
  expect(await loopOf(place)).toMatchObject({ proof: 'claimed', iterations: 3, tokens: 5 * 120 })
  expect(promptOf(place)).toBe(`${HOSTILE}\n\n  second  line`)
  expect(await historyOf(place)).toEqual(['turned', 'turned', 'turned'])
  expect(requests()).toHaveLength(5)
  expect(told(4)).toContain(HOSTILE)
  expect(told(4)).toContain('Step 1.')
  expect(told(4)).not.toContain('no loop is active')
  expectSessionReleased(place, '.opencode')

  await terminal.submit('/ralph:loop --context fresh --max-iterations 3 Go on.')
  await stands(place, 'halted', terminal)
  await terminal.shows('(max-iterations)')
  expect(await loopOf(place)).toMatchObject({ reason: 'max-iterations', iterations: 3 })
  expect(requests()).toHaveLength(11)
  expect(told(9)).toContain('This is iteration 3 of at most 3')
  expect(told(9)).not.toMatch(/Step \d|iteration [12] of/)
  expectSessionReleased(place, '.opencode')

  await terminal.submit('/ralph:loop Finish it. --verify "test -f done.txt" --completion-promise=COMPLETE')
  await stands(place, 'completed', terminal)
  expect(await loopOf(place)).toMatchObject({ proof: 'verified', iterations: 3, false_claims: 1 })
  const checked = ['checked fail', 'turned', 'turned', 'checked fail', 'turned', 'checked pass']
  // It started where the previous loop left off, so that loop's start was tested as well.
  expect(await historyOf(place)).toEqual([...checked, 'proved', 'proved'])
  expect(requests()).toHaveLength(16)
  expect(told(14)).toContain('The check `test -f done.txt` failed')
  expectSessionReleased(place, '.opencode')
})

live('pauses when the user presses escape or says something else, resumes, and is cancelled', async (context) => {
  const long = bash('rm -f go; touch begun; while [ ! -e go ]; do sleep 0.1; done')
  const replies = [
    ...works(1),
    { text: 'I begin.', hang: true, cut: true } as const,
    ...works(2),
    long,
    { text: 'It is four.' },
    ...works(3),
    long,
  ]
  const { place, terminal } = await open(replies, context)
  await terminal.submit('/ralph:loop Go on.')
  await until('the second turn', () => requests().length === 3, 40_000)
  await interrupt(terminal)
  await stands(place, 'paused', terminal)
  await terminal.shows('ralph: paused after 1 iteration')

  await terminal.submit('/ralph:resume ')
  await until('the tool of the third turn', () => existsSync(join(place.dir, 'begun')), 40_000)
  await terminal.submit('What is two and two?')
  await stands(place, 'paused', terminal)
  place.write('go', '')
  await terminal.shows('It is four.')
  expect(await loopOf(place)).toMatchObject({ iterations: 2 })
  expect(requests()).toHaveLength(7)

  rmSync(join(place.dir, 'begun'))
  await terminal.submit('/ralph:resume ')
  await until('the tool of the fourth turn', () => existsSync(join(place.dir, 'begun')), 40_000)
  await terminal.submit('/ralph:cancel ')
  await stands(place, 'cancelled', terminal)
  expect(await loopOf(place)).toMatchObject({ iterations: 3 })
  const rested = ['told pause', 'told resume', 'turned']
  expect(await historyOf(place)).toEqual(['turned', ...rested, ...rested, 'told cancel'])
  expect(requests()).toHaveLength(10)
  expectSessionReleased(place, '.opencode')
})

live(
  'asks, is stopped in a tool, outlives /compact and an API error, and leaves other sessions alone',
  async (context) => {
    const { place, terminal, again, script } = await openScripted(context)
    const long = bash('touch begun; while [ ! -e go ]; do sleep 0.1; done; rm begun go; touch ended')
    const begun = () => until('the tool', () => existsSync(join(place.dir, 'begun')), 40_000)

    script(bash('echo 1 > a.txt'), { text: 'I must know.\n\n<ask>Which color?</ask>' }, long)
    await terminal.submit('/ralph:loop Paint it. --max-iterations 9')
    await stands(place, 'needs-input', terminal)
    await terminal.shows('the agent asks: Which color?')
    await terminal.submit('Blue, please.')
    await begun()
    expect(told(requests().length - 1)).toContain('A person says: Blue, please.')
    expect(terminal.visible()).not.toContain('This is iteration 2') // only the agent sees that

    await interrupt(terminal)
    await stands(place, 'paused', terminal)
    expect(await loopOf(place)).toMatchObject({ iterations: 1 })
    expect(existsSync(join(place.dir, 'ended'))).toBe(false)
    rmSync(join(place.dir, 'begun'))

    script({ text: 'A summary of it.' })
    await choose(terminal, '/compact')
    await terminal.shows('A summary of it.')
    script(...works(2), long)
    await terminal.submit('/ralph:resume ')
    await begun()
    expect(told(requests().length - 1)).toContain('A summary of it.')
    expect(told(requests().length - 1)).toContain('This is iteration 3 of at most 9')

    const other = await again()
    script({ text: 'Hello to you.' })
    await other.submit('Who are you?')
    await other.shows('Hello to you.')
    await other.submit('/ralph:status ')
    await other.shows('running in another session of OpenCode, 2 of 9')
    script(bash('echo other > other.txt'), DONE)
    await other.submit('/ralph:loop Something else. --verify "test -f other.txt"')
    await other.shows('ralph: done after 1 iteration')

    script(failure(503, 'overloaded_error', 'Overloaded'))
    place.write('go', '')
    await terminal.shows('ralph: waiting for the agent after 2 iterations')
    script(...works(3), DONE)
    await terminal.submit('/ralph:resume ')
    await terminal.shows('ralph: done after 4 iterations')
    expectSessionReleased(place, '.opencode')
  },
)

live(
  'is interrupted when its terminal is closed, resumed when that is opened again, and after /new',
  async (context) => {
    const { place, terminal, again, script } = await openScripted(context)
    const long = bash('touch begun; while [ ! -e go ]; do sleep 0.1; done')
    const begun = () => until('the tool', () => existsSync(join(place.dir, 'begun')), 40_000)
    script(...works(1), long)
    await terminal.submit('/ralph:loop Paint it.')
    await begun()
    await choose(terminal, '/exit')
    expect(await terminal.ended()).toBe(0)
    expect((await place.ralph(['status'])).stdout).toContain('interrupted')
    rmSync(join(place.dir, 'begun'))

    script(...works(2), long)
    const back = await again('-c')
    await back.submit('/ralph:status ')
    await back.shows('ralph: interrupted after 1 iteration; /ralph:resume')
    await back.submit('/ralph:resume ')
    await begun()
    expect((await place.ralph(['status'])).stdout).toContain('running in a session of OpenCode')

    // The old session continues behind the new one.
    const id = String((await loopOf(place)).loop_id)
    await choose(back, '/new')
    await back.shows('Ask anything')
    await back.submit(`/ralph:resume ${id} `)
    await back.shows('Pause it first')
    await place.ralph(['pause', id])
    const asked = requests().length
    script({ text: 'Step 3.' })
    place.write('go', '')
    await until('the end of its tool', () => requests().length > asked)
    await stands(place, 'paused', back)
    script(DONE)
    await back.submit(`/ralph:resume ${id} `)
    await back.shows('ralph: done after 3 iterations')
    expectSessionReleased(place, '.opencode')
  },
)

live('says in `opencode run`, which ends with its first turn, that no loop can run there', async () => {
  const place = makePlace()
  const env = { ...place.env, ...(await start([DONE], place)) }
  addPlugin(place)
  const child = spawn(opencode.program, ['run', '--auto', '--command', 'ralph:loop', 'Go on.'], {
    cwd: place.dir,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
  expect(await once(child, 'close')).toEqual([1, null])
  expect(said).toContain('ralph: `opencode run` ends with its first turn')
  expect(said).toContain('`ralph run --agent opencode`')
  expect(requests()).toHaveLength(0)
  expect(existsSync(join(place.home, 'armed'))).toBe(false)
})

/** A terminal whose model gives the replies that the test sets; the last one is repeated. */
async function openScripted(context: TestContext): Promise<Opened & { script(...replies: Reply[]): void }> {
  let replies: Reply[] = []
  const opened = await open(() => (replies.length > 1 ? replies.shift() : replies[0]) ?? {}, context)
  return {
    ...opened,
    script(...next) {
      replies = next
    },
  }
}

/** What the model got in its n-th request, counted from 0. */
function told(n: number): string {
  const { messages } = requests()[n] as { messages: { role: string; content: unknown }[] }
  const texts = messages.filter(({ role }) => role !== 'system').map(({ content }) => content)
  return texts.map((text) => (typeof text === 'string' ? text : JSON.stringify(text))).join('\n')
}

/** It asks for the key twice. */
async function interrupt(terminal: Terminal): Promise<void> {
  terminal.press('Escape')
  await terminal.shows('again to interrupt')
  terminal.press('Escape')
}

/** One of its own commands, from the list that opens while it is typed. */
async function choose(terminal: Terminal, name: string): Promise<void> {
  terminal.type(name)
  await until(`${name} in the list`, () => new RegExp(`${name} {2,}\\w`).test(terminal.visible()))
  terminal.press('Enter')
}

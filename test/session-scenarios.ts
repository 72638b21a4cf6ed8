/** The situations of the table, each tried in the terminal of a real client. They share one session as long as nothing fails. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { DONE, failure, type Reply } from './model-server.ts'
import { until } from './ralph.ts'
import {
  type Ending,
  endings,
  enter,
  expectEnding,
  expectNothingLeft,
  type Host,
  headlessEndings,
  interrupt,
  type Sitting,
} from './session-live.ts'
import { historyOf, stands } from './session-tui.ts'
import { eachSituation, SITUATIONS, type Situation, TABLE } from './situations.ts'
import { hasTmux, type Terminal } from './tmux.ts'

/** A client in which the situations can be tried. */
export type Seat = Host & Required<Pick<Host, 'terminal' | 'ready' | 'again' | 'rests' | 'clear' | 'compacted'>>

/** A session in a terminal, and repeated actions in it. */
export type Scene = {
  host: Seat
  sitting: Sitting
  terminal: Terminal
  /** Types the command of a loop, and waits until the model is asked. */
  loop(prompt: string): Promise<void>
  /** Types a ralph command, and waits until it has taken effect. */
  command(words: string, taken: () => boolean): Promise<void>
  /** `/ralph:resume`, and the rest of the loop: one iteration, and one with a claim. */
  resume(words?: string): Promise<void>
  /** Presses Esc, and waits until ralph knows. */
  stop(during?: 'tool' | 'answer'): Promise<void>
  /** Waits until the hanging tool has started. */
  begun(): Promise<unknown>
  /** What `ralph status` calls the newest loop. */
  status(): Promise<string>
}

export type Scenario = (scene: Scene) => Promise<void>

/** A file ends it if the client does not. */
export const HANGS = 'touch begun; while [ ! -f go ]; do sleep 0.05; done'
// Some clients show only whole lines.
const HALF: Reply = { text: 'Half an answer.\n\nAnd of the rest', cut: true, hang: true }

/** Every cell of the table for one client. If it has a limit, `own` tries that. */
export function situations(host: Seat, sitting: Sitting, own: Partial<Record<Situation, Scenario>> = {}): void {
  const { name } = host.client
  const tries = (situation: Exclude<Situation, 'print modes'>) => (title: string) => {
    const scenario = own[situation] ?? SCENARIOS[situation]
    const isLimit = TABLE[name]?.cells[situation] !== 'passes'
    if (isLimit !== situation in own) throw new Error(`${name}: "${situation}" is not tested as its cell says.`)
    sitting.live(title, async ({ skip }) => {
      skip(!hasTmux, 'tmux is not installed')
      await scenario(await sceneIn(host, sitting))
    })
  }
  const inTerminal = SITUATIONS.filter((situation) => situation !== 'print modes')
  eachSituation(name, {
    ...(Object.fromEntries(inTerminal.map((each) => [each, tries(each)])) as Record<(typeof inTerminal)[number], Try>),
    'print modes': (title) => headlessEndings(host, sitting, title),
  })
}

type Try = (title: string) => void

export async function sceneIn(host: Seat, sitting: Sitting, more: string[] = []): Promise<Scene> {
  const terminal = await sitting.terminal(more)
  const { bash, place } = sitting
  async function status() {
    const { loop_id: id } = await sitting.newest()
    const [line = ''] = (await place.ralph(['status', String(id)])).stdout.split('\n')
    return line.split(' · ')[1] ?? line
  }
  // The blank prevents completions.
  const command: Scene['command'] = (words, taken) =>
    enter(terminal, `${host.terminalPrefix ?? host.prefix}${words} `, taken)
  return {
    host,
    sitting,
    terminal,
    command,
    loop: (prompt) => command(`loop ${prompt}`, () => sitting.requests().length > 0),
    async resume(words = 'resume') {
      sitting.script([...work(sitting, 2), bash('echo 3 >> a.txt'), DONE])
      await command(words, () => sitting.requests().length > 0)
      await sitting.over()
      expect(await sitting.newest()).toMatchObject({ status: 'completed', iterations: 3 })
      expect(sitting.requests()).toHaveLength(4)
      expectNothingLeft(sitting)
    },
    async stop(during = 'tool') {
      await interrupt(terminal, host)
      await untilStopped({ terminal, status }, host.rests[during])
    },
    begun: () =>
      until('the tool', () => existsSync(join(place.dir, 'begun')), 30_000).catch((cause) => {
        throw new Error(`The tool has not started.\n${terminal.screen()}`, { cause })
      }),
    status,
  }
}

/** Waits until `ralph status` knows that the turn has been stopped. */
async function untilStopped({ terminal, status }: Pick<Scene, 'terminal' | 'status'>, how: string): Promise<void> {
  await until(`it to be ${how}`, async () => (await status()) === how, 10_000).catch((cause) => {
    throw new Error(`It is not ${how}.\n${terminal.screen()}`, { cause })
  })
}

export function work({ bash }: Sitting, n: number): Reply[] {
  return [bash(`echo ${n} >> a.txt`), { text: `Step ${n} is done, more is left.` }]
}

const PROMISED = '--completion-promise COMPLETE'

/** One of the ends without user input. */
function ending(number: number): Scenario {
  return async ({ host, sitting, terminal, loop }) => {
    const end = endings(sitting)[number] as Ending
    sitting.script(end.replies)
    await loop(`Write the file. ${end.options}`)
    if (!host.mute) await terminal.shows(end.says, 60_000)
    await sitting.over()
    await expectEnding(sitting, end)
  }
}

/** A loop whose second turn the user stops, and that continues when they say so. */
function stopped(
  during: 'tool' | 'answer',
  reply: (sitting: Sitting) => Reply,
  isThere: (scene: Scene) => Promise<unknown>,
): Scenario {
  return async (scene) => {
    const { sitting, loop, stop, resume } = scene
    sitting.script([...work(sitting, 1), reply(sitting)])
    await loop(`Stop here. ${PROMISED}`)
    await isThere(scene)
    await stop(during)
    await resume()
  }
}

/** Typed text waits until the loop has ended. */
export const waitsForLoopEnd: Scenario = async ({ sitting, terminal, loop, begun }) => {
  const { bash } = sitting
  const rest: Reply[] = [bash(HANGS), { text: 'Step 2.' }, bash('echo 3 >> a.txt'), DONE, { text: 'It is four.' }]
  sitting.script([...work(sitting, 1), ...rest])
  await loop(`Be asked. ${PROMISED}`)
  await begun()
  await enter(terminal, QUESTION, () => true)
  sitting.place.write('go', '')
  await terminal.shows('It is four.')
  await sitting.over()
  expect(await sitting.newest()).toMatchObject({ status: 'completed', iterations: 3 })
  expect(sitting.requests().findIndex((body) => JSON.stringify(body).includes(QUESTION))).toBe(6)
}

/** Typed text reaches the working agent, even in the middle of a tool, and no hook gets it. */
export const steers: Scenario = async ({ sitting, loop, begun, terminal }) => {
  const { bash } = sitting
  sitting.script([...work(sitting, 1), bash(HANGS), { text: 'It is four.' }, bash('echo 3 >> a.txt'), DONE])
  await loop(`Be asked. ${PROMISED}`)
  await begun()
  await enter(terminal, QUESTION, () => true)
  // Copilot moves the tool to the background, and reports its end as typed text. Droid waits for it.
  await until('the text to arrive', () => sitting.requests().length > 3, 3_000).catch(() => {})
  sitting.place.write('go', '')
  await sitting.over()
  expect(await sitting.newest()).toMatchObject({ status: 'completed', iterations: 3 })
  expect(await historyOf(sitting.place)).toEqual(['turned', 'turned', 'turned'])
  expect(JSON.stringify(sitting.requests())).toContain(QUESTION)
  sitting.leave() // including a loop prompt that may still be on its way
}

/** Stops a loop and compacts its session. */
async function compacted({ host, sitting, terminal, loop, begun, stop }: Scene): Promise<void> {
  const [first = {}, second = {}] = work(sitting, 1)
  // Some compact only long sessions.
  const usage = { input: 40_000, output: 100 }
  sitting.script([first, second, { ...sitting.bash(HANGS), usage }])
  await loop(`Keep this in mind. ${PROMISED}`)
  await begun()
  await stop()
  sitting.script([{ text: 'A summary of all that.', usage }])
  await enter(terminal, host.compact ?? '/compact', () => sitting.requests().length > 0)
  await terminal.shows(host.compacted)
}

/** The summary is in a new session, which takes the loop over. */
export const movesToNewSession: Scenario = async (scene) => {
  await compacted(scene)
  const { loop_id: id } = await scene.sitting.newest()
  await scene.resume(`resume ${id}`)
}

const QUESTION = 'Tell me two and two.'

const SCENARIOS: Record<Exclude<Situation, 'print modes'>, Scenario> = {
  promise: ending(0),
  limit: ending(1),
  'refused then proven': ending(2),

  async cancel({ host, sitting, terminal, loop, command, begun, stop }) {
    sitting.script([...work(sitting, 1), ...work(sitting, 2), sitting.bash(HANGS)])
    await loop('Write the file. Again.')
    await begun()
    await stop()
    const shown = (words: RegExp) => () => words.test(terminal.screen())
    await command('status', shown(host.stands ?? /2 of 10 iterations\s+finished/))
    await command('cancel', shown(/ralph: cancelled after 2 iterations/))
    expect(sitting.requests()).toHaveLength(5)
    expect(await sitting.newest()).toMatchObject({ status: 'cancelled', iterations: 2 })
    expectNothingLeft(sitting)
  },

  'Esc in an answer': stopped(
    'answer',
    () => HALF,
    async ({ host, sitting, terminal }) => {
      await until('the second turn', () => sitting.requests().length > 2)
      await terminal.shows(host.answering ?? 'Half an answer.')
    },
  ),
  'Esc in a tool': stopped(
    'tool',
    ({ bash }) => bash(HANGS),
    ({ begun }) => begun(),
  ),

  async 'typed meanwhile'({ sitting, terminal, loop, begun, resume }) {
    sitting.script((body, n) =>
      n > 2 && JSON.stringify(body).includes(QUESTION)
        ? { text: 'It is four.' }
        : ([...work(sitting, 1), sitting.bash(HANGS)][n] ?? { text: 'Step 2 is done.' }),
    )
    await loop(`Be asked. ${PROMISED}`)
    await begun()
    await enter(terminal, QUESTION, () => true)
    sitting.place.write('go', '')
    await terminal.shows('It is four.')
    await stands(sitting.place, 'paused', terminal)
    expect(await sitting.newest()).toMatchObject({ status: 'paused' })
    await resume()
  },

  async 'quit and resume'({ host, sitting, loop, begun }) {
    sitting.script([...work(sitting, 1), sitting.bash(HANGS)])
    await loop(`Leave here. ${PROMISED}`)
    await begun()
    sitting.leave()
    sitting.place.write('go', '')
    const { resume } = await sceneIn(host, sitting, host.again)
    await resume()
  },

  async '/clear'({ host, sitting, terminal, loop, begun, stop, resume }) {
    sitting.script([...work(sitting, 1), sitting.bash(HANGS)])
    await loop(`Forget this. ${PROMISED}`)
    await begun()
    await stop()
    const before = await historyOf(sitting.place)
    await host.clear(terminal)
    sitting.script([{ text: 'Hello yourself.' }])
    await enter(terminal, 'Hello there.', () => sitting.requests().length > 0)
    await terminal.shows('Hello yourself.')
    expect(sitting.requests()).toHaveLength(1)
    const { loop_id: id, ...left } = await sitting.newest()
    expect(left).toMatchObject({ iterations: 1, false_claims: 0 })
    expect(await historyOf(sitting.place)).toEqual(before)
    await resume(`resume ${id}`)
  },

  async '/compact'(scene) {
    await compacted(scene)
    await scene.resume()
  },

  async 'two sessions'({ host, sitting, loop, begun }) {
    const mine = [...work(sitting, 1), sitting.bash(HANGS), { text: 'Step 2.' }, sitting.bash('echo 3 >> a.txt'), DONE]
    const other: Reply[] = [...(host.late ? [{ text: 'What is that?' }] : []), sitting.bash('echo b > b.txt'), DONE]
    sitting.script((body) => (JSON.stringify(body).includes('The other one') ? other : mine).shift() ?? {})
    await loop(`Write the file. ${PROMISED}`)
    const first = await sitting.newest()
    await begun()
    expect(await sitting.ask(`${host.prefix}loop The other one. ${PROMISED}`)).toMatchObject({ code: 0 })
    expect(await sitting.newest()).toMatchObject({ prompt: 'The other one.', status: 'completed', iterations: 1 })
    expect(sitting.armed()).toHaveLength(1)
    sitting.place.write('go', '')
    await until('the end of both', () => sitting.armed().length === 0, 60_000)
    const loops = (await sitting.place.ralph(['status', '--json'])).lines
    expect(loops.find(({ loop_id: id }) => id === first.loop_id)).toMatchObject({ status: 'completed', iterations: 3 })
    expect([mine, other]).toEqual([[], []])
    expectNothingLeft(sitting)
  },

  async ask({ host, sitting, terminal, loop }) {
    const asks = { text: 'I must know more.\n\n<ask>Which color?</ask>' }
    sitting.script([...work(sitting, 1), asks, ...work(sitting, 3).slice(0, 1), DONE])
    await loop(`Paint it. ${PROMISED}`)
    if (!host.mute) await terminal.shows('the agent asks: Which color?')
    await stands(sitting.place, 'needs-input', terminal)
    await enter(terminal, 'Blue, please.', () => sitting.requests().length > 3)
    await sitting.over()
    expect(JSON.stringify(sitting.requests()[3])).toContain('Blue, please.')
    expect(await historyOf(sitting.place)).toEqual(['turned', 'turned', 'told say', 'turned'])
    expect(await sitting.newest()).toMatchObject({ status: 'completed', iterations: 3 })
    expectNothingLeft(sitting)
  },

  async 'API error'({ host, sitting, terminal, loop, status, resume }) {
    const [first, second] = work(sitting, 1) as [Reply, Reply]
    const fails = host.fails?.reply ?? failure(500, 'api_error', 'Internal server error')
    sitting.script([first, second, fails])
    await loop(`Meet an error. ${PROMISED}`)
    await terminal.shows(host.fails?.shown ?? /Internal server error/)
    await untilStopped({ terminal, status }, host.rests.error)
    await resume()
  },
}

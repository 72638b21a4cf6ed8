/** A loop inside a session of OpenCode, in a terminal, against a scripted model on loopback. `opencode run` ends with its first turn. */
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, type TestContext } from 'vitest'
import { opencode } from './clients/opencode.ts'
import { openLive } from './conformance.ts'
import { DONE, type Reply } from './model-server.ts'
import { makePlace, type Place, until } from './ralph.ts'
import { expectFree, HOSTILE, historyOf, loopOf, promptOf, stands } from './session-tui.ts'
import { hasTmux, openTerminal, type Terminal } from './tmux.ts'

const { live, start, requests, bash } = openLive(opencode)

/** A terminal with an OpenCode that has the plugin. */
async function open(replies: Reply[], { skip }: TestContext): Promise<{ place: Place; terminal: Terminal }> {
  skip(!hasTmux, 'tmux is not here')
  const place = makePlace()
  const env = { ...place.env, ...(await start(replies, place)), TERM: 'screen-256color' }
  const folder = join(place.root, 'home', '.config', 'opencode')
  mkdirSync(join(folder, 'plugins'), { recursive: true })
  symlinkSync(resolve('plugins/opencode/ralph.js'), join(folder, 'plugins', 'ralph.js'))
  // With these it does not ask npm for the package of plugins' types before it loads one.
  mkdirSync(join(folder, 'node_modules'))
  const lock = { packages: { '': { dependencies: { '@opencode-ai/plugin': '*' } } } }
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock))
  const terminal = openTerminal(['opencode', '--auto'], { dir: place.dir, env })
  await terminal.shows('Ask anything', 60_000)
  return { place, terminal }
}

const works = (n: number): Reply[] => [bash(`echo ${n} >> steps.txt`), { text: `Step ${n}.` }]

live('loops as it was typed, until a promise, up to a limit, and until its check passes', async (context) => {
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
  expectFree(place, '.opencode')

  await terminal.submit('/ralph:loop --context fresh --max-iterations 3 Go on.')
  await stands(place, 'halted', terminal)
  await terminal.shows('(max-iterations)')
  expect(await loopOf(place)).toMatchObject({ reason: 'max-iterations', iterations: 3 })
  expect(requests()).toHaveLength(11)
  expect(told(9)).toContain('This is iteration 3 of at most 3')
  expect(told(9)).not.toMatch(/Step \d|iteration [12] of|>COMPLETE/)
  expectFree(place, '.opencode')

  await terminal.submit('/ralph:loop Finish it. --verify "test -f done.txt" --completion-promise=COMPLETE')
  await stands(place, 'completed', terminal)
  expect(await loopOf(place)).toMatchObject({ proof: 'verified', iterations: 3, false_claims: 1 })
  const checked = ['checked fail', 'turned', 'turned', 'checked fail', 'turned', 'checked pass']
  // It began where the loop before left off, so the start of that one was tried, too.
  expect(await historyOf(place)).toEqual([...checked, 'proved', 'proved'])
  expect(requests()).toHaveLength(16)
  expect(told(14)).toContain('The check `test -f done.txt` failed')
  expectFree(place, '.opencode')
})

live('rests when a person presses escape or says something else, goes on, and is cancelled', async (context) => {
  const long = bash('rm -f go; touch begun; while [ ! -e go ]; do sleep 0.1; done')
  const replies = [...works(1), { hang: true } as const, ...works(2), long, { text: 'It is four.' }, ...works(3), long]
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
  expectFree(place, '.opencode')
})

/** What the model was told in its n-th request, counted from 0. */
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

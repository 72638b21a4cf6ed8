/** A loop inside a session of Gemini CLI, headless and in a terminal, against a scripted model on loopback. */
import { execFile } from 'node:child_process'
import { cpSync, existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { seedsFor } from './client-seeds.ts'
import { gemini } from './clients/gemini.ts'
import { openLive } from './conformance.ts'
import { DONE, type Reply } from './model-server.ts'
import { LAUNCHER, makePlace, type Place, until } from './ralph.ts'
import { expectFree, HOSTILE, historyOf, loopOf, promptOf, stands } from './session-tui.ts'
import { hasTmux, openTerminal } from './tmux.ts'

const { live, start, requests, bash } = openLive(gemini)
const run = promisify(execFile)

type Env = Record<string, string | undefined>

/** Where the extension was linked first. */
let linked: string | undefined

/** A place whose Gemini has the extension. */
async function open(replies: Reply[]): Promise<{ place: Place; env: Env }> {
  const place = makePlace()
  const env = { ...place.env, ...(await start(replies, place)) }
  const extensions = join(place.root, 'home', '.gemini', 'extensions')
  if (linked) cpSync(linked, extensions, { recursive: true })
  else {
    const args = ['extensions', 'link', resolve('plugins/gemini'), '--consent']
    const linking = run('gemini', args, { cwd: place.dir, env })
    linking.child.stdin?.end()
    await linking
    linked = extensions
  }
  return { place, env }
}

/** One headless session, to its end. */
async function say(text: string, { place, env }: { place: Place; env: Env }): Promise<string> {
  const args = ['--yolo', '--skip-trust', '--output-format', 'stream-json', '--prompt', text]
  const said = run('gemini', args, { cwd: place.dir, env, timeout: 60_000 })
  said.child.stdin?.end()
  return (await said).stdout
}

const works = (n: number): Reply[] => [bash(`echo ${n} >> steps.txt`), { text: `Step ${n}.` }]

live('loops headless until the promise; what a person typed arrives as it was typed, and is not run', async () => {
  const session = await open([...works(1), ...works(2), DONE])
  const { place } = session
  await say(`/ralph:loop  ${HOSTILE}\n\n  second  line --completion-promise COMPLETE --max-iterations 5`, session)
  expect(await loopOf(place)).toMatchObject({ status: 'completed', proof: 'claimed', iterations: 3 })
  expect(promptOf(place)).toBe(`${HOSTILE}\n\n  second  line`)
  expect(await historyOf(place)).toEqual(['turned', 'turned', 'turned'])
  expect(requests()).toHaveLength(5)
  expect(JSON.stringify(requests()[4])).toContain(JSON.stringify(HOSTILE).slice(1, -1))
  expect(JSON.stringify(requests()[4])).toContain('Step 1.')
  expectFree(place, '.gemini')
})

live('loops headless up to its limit, every turn without memory of the earlier ones', async () => {
  const session = await open([...works(1), ...works(2), ...works(3)])
  const { place } = session
  await say('/ralph:loop --context fresh --max-iterations 3 Go on.', session)
  expect(await loopOf(place)).toMatchObject({ status: 'halted', reason: 'max-iterations', iterations: 3 })
  expect(place.read('steps.txt')).toBe('1\n2\n3\n')
  expect(requests()).toHaveLength(6)
  const third = JSON.stringify(requests()[4])
  expect(third.includes('This is iteration 3 of at most 3')).toBe(true)
  expect(third.match(/Step [12]\.|iteration [12] of|ralph:loop/)).toBeNull()
  expectFree(place, '.gemini')
})

live('does not take the agent at its word: a refused claim, then proven work', async () => {
  const session = await open([...works(1), DONE, bash('echo all > done.txt'), DONE])
  const { place } = session
  await say('/ralph:loop Finish it. --verify "test -f done.txt" --completion-promise=COMPLETE', session)
  expect(await loopOf(place)).toMatchObject({ status: 'completed', proof: 'verified', iterations: 3, false_claims: 1 })
  expect(await historyOf(place)).toEqual(['checked fail', 'turned', 'turned', 'checked fail', 'turned', 'checked pass'])
  expect(requests()).toHaveLength(5)
  expect(JSON.stringify(requests()[3])).toContain('The check `test -f done.txt` failed')
  expectFree(place, '.gemini')
})

live('ends headless when the loop is cancelled from outside, and answers what needs no model without it', async () => {
  const cancel = `"${process.execPath}" "${LAUNCHER}" cancel`
  const session = await open([...works(1), ...works(2), bash(cancel), { text: 'Cancelled.' }])
  const { place } = session
  expect(await say('/ralph:status', session)).toContain('no loop is active in this session')
  expect(requests()).toHaveLength(0)
  await say('/ralph:loop Go on.', session)
  expect(await loopOf(place)).toMatchObject({ status: 'cancelled', iterations: 2 })
  expect(requests()).toHaveLength(6)
  expectFree(place, '.gemini')
})

live(
  'rests in a terminal when a person presses escape or says something else, goes on, and is cancelled',
  async ({ skip }) => {
    skip(!hasTmux, 'tmux is not here')
    const hangs: Reply = { text: 'Half an answer', cut: true, hang: true }
    const long = bash('touch begun; sleep 60')
    const replies = [...works(1), ...works(2), hangs, ...works(3), DONE, ...works(4), long, { text: 'It is four.' }]
    const session = await open(replies)
    const { place } = session
    const env = { ...session.env, ...seedsFor('gemini', place) }
    const terminal = openTerminal(['gemini', '--yolo'], { dir: place.dir, env })
    await terminal.shows('Type your message', 60_000)
    await terminal.submit('/ralph:loop Go on. --completion-promise COMPLETE')
    await terminal.shows('ralph: the loop begins')
    await terminal.shows(/Esc pauses the loop[\s\S]*\[ralph\]/)
    await terminal.shows('Half an answer', 40_000)
    terminal.press('Escape')
    await stands(place, 'paused', terminal)
    await terminal.shows('ralph: paused after 2 iterations')
    await terminal.submit('/ralph:resume ')
    await stands(place, 'completed', terminal)
    expect(await loopOf(place)).toMatchObject({ proof: 'claimed', iterations: 4 })
    expect(await historyOf(place)).toEqual(['turned', 'turned', 'told pause', 'told resume', 'turned', 'turned'])
    await terminal.shows('ralph: done after 4 iterations')
    expect(requests()).toHaveLength(8)
    expectFree(place, '.gemini')

    await terminal.submit('/ralph:loop Again.')
    await until('the tool', () => existsSync(join(place.dir, 'begun')), 40_000)
    terminal.press('Escape')
    await stands(place, 'paused', terminal)
    await terminal.shows('ralph: paused after 1 iteration.')
    await terminal.submit('Tell me two and two.')
    await terminal.shows('It is four.')
    // It leaves a command where it is while an answer goes on.
    await until('the answer is over', () => !terminal.visible().includes('esc to cancel'))
    await terminal.submit('/ralph:cancel ')
    await stands(place, 'cancelled', terminal)
    expect(await loopOf(place)).toMatchObject({ iterations: 1 })
    expect(requests()).toHaveLength(12)
    await terminal.shows('ralph: cancelled after 1 iteration')
    expectFree(place, '.gemini')
  },
)

live(
  'ends in a terminal at its limit, by a passed check after a refused claim, and when it is cancelled',
  async ({ skip }) => {
    skip(!hasTmux, 'tmux is not here')
    const session = await open([
      ...[...works(1), ...works(2), ...works(3)],
      ...[...works(4), DONE, bash('echo all > done.txt'), DONE],
      ...[...works(5), ...works(6), ...works(7), { hang: true } as const],
    ])
    const { place } = session
    const env = { ...session.env, ...seedsFor('gemini', place) }
    const terminal = openTerminal(['gemini', '--yolo'], { dir: place.dir, env })
    await terminal.shows('Type your message', 60_000)
    await terminal.submit('/ralph:loop Go on. --max-iterations 3')
    await terminal.shows('ralph: the loop begins')
    await stands(place, 'halted', terminal)
    expect(await loopOf(place)).toMatchObject({ reason: 'max-iterations', iterations: 3 })
    await terminal.shows('ralph: stopped after 3 iterations')

    await terminal.submit('/ralph:loop Finish it. --verify "test -f done.txt" --completion-promise COMPLETE')
    await stands(place, 'completed', terminal)
    expect(await loopOf(place)).toMatchObject({ proof: 'verified', iterations: 3, false_claims: 1 })
    await terminal.shows('ralph: done after 3 iterations, proof: verified')
    expect(requests()).toHaveLength(11)

    await terminal.submit('/ralph:loop Once more.')
    await until('the fourth turn', () => requests().length === 18, 40_000)
    terminal.press('Escape')
    await stands(place, 'paused', terminal)
    await terminal.submit('/ralph:cancel ')
    await stands(place, 'cancelled', terminal)
    expect(await loopOf(place)).toMatchObject({ iterations: 3 })
    await terminal.shows('ralph: cancelled after 3 iterations')
    expectFree(place, '.gemini')
  },
)

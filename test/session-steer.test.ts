/** Messages for the next iteration, typed in the session of a loop that keeps running. */
import { appendFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makePlace, onlyLoop, type Place, query, until } from './ralph.ts'
import {
  answerOf,
  askProgram,
  callGate,
  face,
  type HookResult,
  type Json,
  openSession,
  type Session,
} from './session-place.ts'

type Looping = { place: Place; session: Session; loop: string }

async function looping(args = 'Build it'): Promise<Looping> {
  const place = makePlace({ git: false })
  const session = openSession(place)
  await session.type(`/ralph:loop ${args}`)
  return { place, session, loop: onlyLoop(place) }
}

/** Which iteration the agent is asked for, with the user's message. */
function received({ prompt }: HookResult): [iteration: number, words: string | undefined] {
  return [Number(/This is iteration (\d+)/.exec(prompt)?.[1] ?? 0), /> A person says: (.*)/.exec(prompt)?.[1]]
}

const statusOf = (place: Place) => query(place, 'SELECT status FROM loop')[0]?.status

describe.concurrent('/ralph:steer', () => {
  test('reaches the next iteration once, and the loop does not pause', async () => {
    const { place, session } = await looping()
    expect(answerOf(await session.type('/ralph:steer Use "tabs" $(x)'))).toBe(
      'ralph: the next iteration gets this; the loop continues.',
    )
    expect([statusOf(place), /^active: (.*)$/m.exec(face(place))?.[1]]).toEqual(['running', 'true'])
    expect(received(await session.work())).toEqual([2, 'Use "tabs" $(x)'])
    expect(received(await session.work())).toEqual([3, undefined])
  })

  test('is refused without a message, and without a loop', async () => {
    const { place, session } = await looping()
    expect(answerOf(await session.type('/ralph:steer '))).toContain('Missing text. Say what')
    const other = openSession(place, { id: 's-2' })
    expect(answerOf(await other.type('/ralph:steer Use tabs.'))).toContain('no loop is active in this session')
    expect(received(await session.work())).toEqual([2, undefined])
  })

  test('waits for a paused loop', async () => {
    const { session } = await looping()
    await session.type('/ralph:pause')
    expect(answerOf(await session.type('/ralph:steer Use tabs.'))).toContain(
      'the loop is paused; the agent gets this after /ralph:resume.',
    )
    expect(received(await session.type('/ralph:resume'))).toEqual([1, 'Use tabs.'])
    expect(received(await session.work())).toEqual([2, undefined])
  })

  test('answers the question of a waiting agent', async () => {
    const { session } = await looping()
    await session.work('<ask>Tabs or blanks?</ask>')
    expect(received(await session.type('/ralph:steer Tabs.'))).toEqual([2, 'Tabs.'])
  })

  test('takes effect while the checks of a turn run', async () => {
    const { place, session } = await looping('Build it --verify "sh check.sh"')
    place.write('check.sh', 'touch begun; while [ ! -e go ]; do sleep 0.02; done; exit 1')
    const stop = session.stop('Done.\n\n<promise>COMPLETE</promise>')
    await until('the check runs', () => existsSync(join(place.dir, 'begun')))
    expect(answerOf(await session.type('/ralph:steer Use tabs.'))).toContain('the next iteration gets this')
    place.write('go', '')
    expect(received(await stop)).toEqual([2, 'Use tabs.'])
  })

  test('that Claude Code holds back until the end of the turn goes with the next one', async () => {
    const { place, session } = await looping()
    const queue = (operation: string, content?: string) =>
      appendFileSync(
        join(place.root, 's-1.jsonl'),
        `${JSON.stringify({ type: 'queue-operation', operation, ...(content ? { content } : {}) })}\n`,
      )
    queue('enqueue', '/ralph:steer Use tabs.')
    expect(await session.work()).toMatchObject({ prompt: '', said: 'ralph: iteration 2 of 10' })
    queue('dequeue')
    expect(received(await session.type('/ralph:steer Use tabs.'))).toEqual([2, 'Use tabs.'])
    expect(received(await session.work())).toEqual([3, undefined])
  })

  test('that the user took back there leaves a loop that can pause and resume', async () => {
    const { place, session } = await looping()
    const line = { type: 'queue-operation', operation: 'enqueue', content: '/ralph:steer Use tabs.' }
    appendFileSync(join(place.root, 's-1.jsonl'), `${JSON.stringify(line)}\n`)
    await session.work()
    appendFileSync(join(place.root, 's-1.jsonl'), `${JSON.stringify({ ...line, operation: 'popAll' })}\n`)
    expect((await session.type('Something else.')).said).toContain('paused after 1 iteration')
    expect(received(await session.type('/ralph:resume'))).toEqual([2, undefined])
    expect(received(await session.work())).toEqual([3, undefined])
  })

  test.each<[host: string, typed: string, base: Json, env?: Record<string, string>]>([
    ['Codex', '$ralph-steer Use tabs.', { turn_id: 't' }],
    ['Codex, with its plugin', '$ralph:steer Use tabs.', { turn_id: 't' }],
    ['Copilot', '/ralph-steer Use tabs.', {}, { COPILOT_CLI: '1' }],
    ['Droid', '/ralph-steer Use tabs.', {}, { FACTORY_PROJECT_DIR: 'x' }],
    ['Qwen', '/ralph:steer Use tabs.', { context_usage: 1 }],
  ])('is understood as %s types it', async (_, typed, base, env = {}) => {
    const place = makePlace({ git: false })
    if (env.FACTORY_PROJECT_DIR) env.FACTORY_PROJECT_DIR = place.dir
    const type = (prompt: string) =>
      callGate(
        place,
        'prompt',
        { session_id: 's-1', cwd: place.dir, hook_event_name: 'UserPromptSubmit', prompt, ...base },
        { env },
      ).ended
    await type('/ralph:loop Build it')
    const { out, err } = await type(typed)
    expect(out + err).toContain('the next iteration gets this; the loop continues.')
  })

  test.each(['$ralph-steer Use tabs.', '$ralph-status', '$ralph-help', '$ralph-loop Another one'])(
    '%s in the middle of a turn does not end the turn in Codex, which takes it into that turn',
    async (typed) => {
      const place = makePlace({ git: false })
      const type = (prompt: string, turn_id: string) =>
        callGate(place, 'prompt', {
          session_id: 's-1',
          cwd: place.dir,
          hook_event_name: 'UserPromptSubmit',
          prompt,
          turn_id,
        }).ended
      await type('$ralph-loop Build it', 't-1')
      const amid = await type(typed, 't-1')
      expect([amid.json.decision, amid.prompt]).toEqual([undefined, expect.stringContaining('Continue what you were')])
      expect(amid.said).toMatch(/ralph/)
      expect(answerOf(await type('$ralph-status', 't-2'))).toContain('iteration 1') // after Esc
      expect(answerOf(await type('$ralph-pause', 't-1'))).toContain('paused')
    },
  )

  test('is answered to a shim without requesting a turn', async () => {
    const place = makePlace({ git: false })
    const ask = (event: string, more: Json) =>
      askProgram(place, { host: 'pi', session_id: 's-1', cwd: place.dir, event, ...more })
    await ask('command', { command: 'loop', args: 'Build it' })
    expect((await ask('command', { command: 'steer', args: 'Use tabs.' })).json).toMatchObject({
      next: 'none',
      status: 'running',
      show: [{ level: 'info', text: 'ralph: the next iteration gets this; the loop continues.' }],
    })
  })
})

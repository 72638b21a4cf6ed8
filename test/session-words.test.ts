/**
 * What the agent of a session gets from turn to turn: the whole task once, and only what is new while it remembers
 * that.
 */
import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makePlace, onlyLoop, type Place } from './ralph.ts'
import { askProgram, callGate, face, type HookResult, type Json, openSession, type Session } from './session-place.ts'

const FACE = '.claude/ralph-loop.local.md'
const TASK = 'Build it with care.'

type Looping = { place: Place; session: Session; begun: HookResult; loop: string }

async function looping(args: string): Promise<Looping> {
  const place = makePlace({ git: false })
  const session = openSession(place)
  const begun = await session.type(`/ralph:loop ${TASK} ${args}`)
  return { place, session, begun, loop: onlyLoop(place) }
}

const isWhole = ({ prompt }: HookResult) => prompt.startsWith(`${TASK}\n\n---\n\nThis is iteration `)
const isShort = ({ prompt }: HookResult) =>
  /^This is iteration \d+ of at most \d+ in the loop; the task and/.test(prompt)

/** The agent's prompt, from the transcript of an iteration. */
async function recorded(place: Place, loop: string, iteration: number): Promise<string[]> {
  const lines = readFileSync(join(place.home, 'transcripts', loop, `${iteration}.jsonl`), 'utf8')
    .trim()
    .split('\n')
  return lines.flatMap((line) => (JSON.parse(line) as { prompt?: string }).prompt ?? [])
}

describe.concurrent('the agent of a session', () => {
  test('gets the task once, then one line, how to claim, and the outcome of its turn', async () => {
    const { place, session, begun, loop } = await looping('--completion-promise DONE --verify "test -e ready"')
    expect(isWhole(begun)).toBe(true)
    const second = await session.work()
    expect(second.prompt).toBe(
      `This is iteration 2 of at most 10 in the loop; the task and its rules have not changed. The task is in ${join(place.dir, FACE)}. When the whole task is done, and not before, put \`<promise>DONE</promise>\` alone on the last line, after an empty line.\n`,
    )
    const refused = await session.work('Done.\n\n<promise>DONE</promise>')
    expect(refused.prompt).toMatch(
      /^This is iteration 3 [^\n]*\n\nOutcome of the last iteration:\n\n> You said you were/,
    )
    await session.work()
    expect(await recorded(place, loop, 1)).toEqual([begun.prompt])
    expect(await recorded(place, loop, 2)).toEqual([second.prompt])
    expect(await recorded(place, loop, 3)).toEqual([refused.prompt])
  })

  test.each<[what: string, from: string, to: string]>([
    ['the limit', 'max_iterations: 10', 'max_iterations: 12'],
    ['the promise', '"DONE"', '"SHIPPED"'],
  ])('gets all of it again when the user has edited %s', async (_, from, to) => {
    const { place, session, loop } = await looping('--completion-promise DONE')
    const second = await session.work()
    place.write(FACE, face(place).replace(from, to))
    const third = await session.work()
    expect([isShort(second), isWhole(third), isShort(await session.work())]).toEqual([true, true, true])
    expect(await recorded(place, loop, 2)).toEqual([second.prompt]) // not its later value
    expect(await recorded(place, loop, 3)).toEqual([third.prompt])
  })

  test('gets secrets as typed, and what is stored has none', async () => {
    const token = `ghp_${'a1B2'.repeat(9)}`
    const place = makePlace({ git: false })
    const session = openSession(place)
    expect((await session.type(`/ralph:loop Use ${token}.`)).prompt).toContain(`Use ${token}.`)
    expect(readFileSync(join(place.home, 'armed', 's-1'), 'utf8')).not.toContain(token)
    expect(await session.type(`Use ${token}.`)).toMatchObject({ said: expect.stringContaining('paused') })
  })

  test('gets all of it when the user resumes the loop, here or in another session', async () => {
    const { place, session, loop } = await looping('')
    await session.work()
    await session.type('/ralph:pause')
    expect([isWhole(await session.type('/ralph:resume')), isShort(await session.work())]).toEqual([true, true])
    await session.type('/ralph:pause')
    const other = openSession(place, { id: 's-2' })
    expect([isWhole(await other.type(`/ralph:resume ${loop}`)), isShort(await other.work())]).toEqual([true, true])
  })

  test('has not forgotten the task while it waited for an answer', async () => {
    const { session } = await looping('')
    await session.work('<ask>Tabs or blanks?</ask>')
    const answered = await session.type('Tabs.')
    expect([isShort(answered), answered.prompt.includes('> A person says: Tabs.')]).toEqual([true, true])
  })

  test.each<[host: string, line: (at: string) => Json]>([
    ['Claude Code', (timestamp) => ({ type: 'system', subtype: 'compact_boundary', timestamp })],
    ['Codex', (timestamp) => ({ timestamp, type: 'compacted', payload: { message: '' } })],
  ])('gets all of it after %s has compacted its context', async (host, line) => {
    const place = makePlace({ git: false })
    const record = join(place.root, 's-1.jsonl')
    const base = {
      session_id: 's-1',
      transcript_path: record,
      cwd: place.dir,
      ...(host === 'Codex' ? { turn_id: 't' } : {}),
    }
    const event = (hook_event_name: string, more: Json) =>
      callGate(place, hook_event_name === 'Stop' ? 'stop' : 'prompt', { ...base, hook_event_name, ...more }).ended
    const work = (n: number) => {
      place.write('work.txt', `${n}`)
      return event('Stop', { last_assistant_message: 'I worked.' })
    }
    const compact = (at: number) => appendFileSync(record, `${JSON.stringify(line(new Date(at).toISOString()))}\n`)
    compact(Date.now() - 60_000) // long before the loop
    await event('UserPromptSubmit', { prompt: `/ralph:loop ${TASK}` })
    const before = await work(1)
    compact(Date.now())
    const [after, later] = [await work(2), await work(3)]
    expect([before, after, later].map(isWhole)).toEqual([false, true, false])
  })

  test('gets all of it after a shim has reported that', async () => {
    const place = makePlace({ git: false })
    const ask = (event: string, more: Json) =>
      askProgram(place, { host: 'opencode', session_id: 's-1', cwd: place.dir, event, ...more })
    const stop = async (more: Json = {}) => {
      place.write('work.txt', `${Math.random()}`)
      return ask('stop', { last_assistant_message: 'I worked.', outcome: 'completed', ...more })
    }
    await ask('command', { command: 'loop', args: TASK })
    const told = [await stop(), await stop({ compacted_at: Date.now() }), await stop()]
    expect(told.map(isWhole)).toEqual([false, true, false])
  })

  test('gets all of it every time if each turn starts without memory', async () => {
    const place = makePlace({ git: false })
    const ask = (event: string, more: Json) =>
      askProgram(place, { host: 'opencode', session_id: 's-1', cwd: place.dir, event, ...more })
    await ask('command', { command: 'loop', args: `${TASK} --context fresh` })
    place.write('work.txt', '1')
    expect(isWhole(await ask('stop', { last_assistant_message: 'I worked.', outcome: 'completed' }))).toBe(true)
  })
})

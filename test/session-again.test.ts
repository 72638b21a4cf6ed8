/** A session whose loop does not simply continue: it was interrupted, it ended, or it is resumed. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makePlace, onlyLoop, type Place } from './ralph.ts'
import { answerOf, type HookResult, openSession, type Session } from './session-place.ts'

type Looping = { place: Place; session: Session; loop: string }

async function looping(args: string, env?: Record<string, string>): Promise<Looping> {
  const place = makePlace({ git: false })
  const session = openSession(place, env ? { env } : {})
  await session.type(`/ralph:loop ${args}`)
  return { place, session, loop: onlyLoop(place) }
}

/** Which iteration the agent is asked for; 0 if it may stop. */
function asked({ prompt }: HookResult): number {
  return Number(/This is iteration (\d+)/.exec(prompt)?.[1] ?? 0)
}

const ESC = {
  type: 'user',
  message: { role: 'user', content: [{ type: 'text', text: '[Request interrupted by user]' }] },
}
const ERROR = {
  type: 'assistant',
  isApiErrorMessage: true,
  message: { role: 'assistant', content: [{ type: 'text', text: 'API Error: 500 Internal server error' }] },
}

describe.concurrent('a turn that was interrupted', () => {
  test.each([
    ['Esc', ESC],
    ['an API error', ERROR],
  ])('%s: the status says so, and how to continue', async (_, line) => {
    const { place, session, loop } = await looping('Build it')
    await session.work()
    writeFileSync(join(place.root, 's-1.jsonl'), `${JSON.stringify(line)}\n`)
    expect(answerOf(await session.type('/ralph:status'))).toContain(
      'ralph: interrupted after 1 iteration; /ralph:resume continues',
    )
    expect((await place.ralph(['status'])).stdout).toContain('interrupted in a session of Claude Code')
    expect((await place.ralph(['status', loop])).stdout).toContain(
      `Interrupted during a turn. Resume it in a session with /ralph:resume, or here with ralph resume ${loop}.`,
    )
    expect(asked(await session.type('/ralph:resume'))).toBe(2)
  })

  test('a session that was closed: the loop continues elsewhere at once', async () => {
    const { place, loop } = await looping('Build it', { CLAUDE_PID: String(2 ** 22 + 1) }) // above any process id that the kernel assigns
    expect((await place.ralph(['status'])).stdout).toMatch(/interrupted +0\/10/)
    expect((await place.ralph(['status', loop])).stdout).toContain(`Resume it in a session with /ralph:resume ${loop}`)
    const other = openSession(place, { id: 's-2' })
    expect(answerOf(await other.type('/ralph:status'))).toContain(`loop ${loop}, interrupted`)
    expect(asked(await other.type(`/ralph:resume ${loop}`))).toBe(1)
  })

  test('is resumed without the session, which then no longer loops', async () => {
    const { place, session, loop } = await looping('Build it --max-iterations 1')
    writeFileSync(join(place.root, 's-1.jsonl'), `${JSON.stringify(ESC)}\n`)
    const resumed = await place.ralph(['resume', loop], { env: { ...place.env, PATH: '/nowhere' } })
    expect(resumed).toMatchObject({ code: 3, stderr: expect.stringContaining('was not found') })
    expect(existsSync(join(place.home, 'armed', session.id))).toBe(true)
  })
})

describe.concurrent('a loop that has ended', () => {
  test('is named by the status, with how to continue after a limit', async () => {
    const { session, loop } = await looping('Build it --max-iterations 1')
    expect((await session.work()).said).toMatch(
      /stopped after 1 iteration \(max-iterations\)\. .* Resume: \/ralph:resume --max-iterations 11$/,
    )
    const said = answerOf(await session.type('/ralph:status'))
    expect(said).toContain(
      `stopped after 1 iteration (max-iterations). Reached the limit of 1 iteration.\nLoop ${loop}:`,
    )
    expect(said).toContain('Resume: /ralph:resume --max-iterations 11')
    expect(said).toContain('No loop is active in this session now.')
  })

  test('continues in its session with more iterations, and ends there again', async () => {
    const { place, session, loop } = await looping('Build it --max-iterations 1 --completion-promise DONE')
    await session.work()
    expect(answerOf(await session.type('/ralph:resume'))).toContain(
      'halted on a limit. Resume it: /ralph:resume --max-iterations 11',
    )
    expect(answerOf(await session.type('/ralph:resume --max-iterations 1'))).toContain(
      'Raise them: /ralph:resume --max-iterations 11',
    )
    expect(answerOf(await session.type('/ralph:resume --iterations 5'))).toContain('Unknown option: --iterations')
    const resumed = await session.type('/ralph:resume --max-iterations 3')
    expect([asked(resumed), resumed.prompt.includes('of at most 3')]).toEqual([2, true])
    expect(existsSync(join(place.dir, '.claude/ralph-loop.local.md'))).toBe(true)
    expect(asked(await session.work())).toBe(3)
    expect((await session.work('Yes.\n\n<promise>DONE</promise>')).said).toContain('done after 3 iterations')
    expect((await place.ralph(['show', loop])).stdout).toContain('You resumed it with up to 3 iterations.')
    expect(answerOf(await session.type('/ralph:status'))).toContain(`done after 3 iterations`)
  })

  test('continues in another session, and with other limits while it is open', async () => {
    const { place, session, loop } = await looping('Build it --max-iterations 1')
    await session.work()
    const other = openSession(place, { id: 's-2' })
    expect(answerOf(await other.type('/ralph:status'))).toContain('no loop is active in this session')
    expect(answerOf(await other.type(`/ralph:resume ${loop}`))).toContain(`/ralph:resume ${loop} --max-iterations 11`)
    expect(asked(await other.type(`/ralph:resume ${loop} --max-iterations 2`))).toBe(2)
    await other.type('/ralph:pause')
    const more = await other.type('/ralph:resume --max-iterations 7')
    expect([asked(more), more.prompt.includes('of at most 7')]).toEqual([2, true])
  })
})

/** What loops inside a Pi session must do, in any Pi version. */
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { pi } from './clients/pi.ts'
import type { Client } from './clients.ts'
import { failure, type Reply } from './model-server.ts'
import { openPi } from './pi-session.ts'
import { carriers, type Line, type Place, query, until } from './ralph.ts'
import { hasTmux } from './tmux.ts'

const bash = (command: string): Reply => ({ tools: [pi.bash(command)] })
const works = (n: number): Reply[] => [bash(`echo ${n} >> work.txt`), { text: `Worked on part ${n}.` }]
const DONE: Reply = { text: 'All is done.\n\n<promise>DONE</promise>' }
const QUESTION = 'Ralph loop active. What should happen to your text?'

const facePath = ({ dir }: Place) => join(dir, '.pi', 'ralph-loop.local.md')
const endOf = (place: Place) => query(place, 'SELECT status, reason, proof, iteration FROM loop')[0]
/** The command of a slow tool, which shows that it has started. */
const slow = ({ dir }: { dir: string }) => ({
  begun: () => existsSync(join(dir, 'begun')),
  ended: () => existsSync(join(dir, 'ended')),
})
const SLOW = bash('touch begun; sleep 30; touch ended')

/** `whole`: includes what only ralph's own program decides, whatever the Pi. */
export function loopsIn(client: Client, { whole }: { whole: boolean }): void {
  describe(client.pin, () => {
    const { live, session, requests } = openPi(client)
    const decided = whole ? live : () => undefined
    const inTerminal = (title: string, body: () => Promise<void>) =>
      live(title, async ({ skip }) => {
        skip(!hasTmux, 'tmux is not installed')
        await body()
      })

    live('printed: three iterations up to the promise, exit code 0; tokens and commands are counted', async () => {
      const { run, place } = await session([...works(1), ...works(2), bash('npm test'), DONE])
      const ran = await run('-p', '/ralph-loop Build "it" `x` $(y) --max-iterations 5 --completion-promise DONE')
      expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining('All is done.') })
      expect(ran.stderr).toContain('Ralph: Completion detected: <promise>DONE</promise>')
      expect(endOf(place)).toMatchObject({ status: 'completed', iteration: 3 })
      expect(query(place, 'SELECT tokens FROM iteration')).toEqual([{ tokens: 240 }, { tokens: 240 }, { tokens: 240 }])
      expect(received(requests()[0])).toMatch(/^system: You are[\s\S]*\nuser: Build "it" `x` \$\(y\)\n/)
      expect(existsSync(facePath(place))).toBe(false)
    })

    live('as JSON: three iterations up to the limit, exit code 1, every prompt a message of its own kind', async () => {
      const { run, place } = await session([1, 2, 3].flatMap(works))
      const ran = await run('--mode', 'json', '/ralph-loop Build it --max-iterations 3')
      expect(ran).toMatchObject({ code: 1, stderr: expect.stringContaining('Ralph: Max iterations (3) reached') })
      expect(endOf(place)).toMatchObject({ status: 'halted', reason: 'max-iterations', iteration: 3 })
      const ours = ran.lines.filter((line) => line.type !== 'message_start' && isOurs(line.message ?? line.entry))
      expect(ours).toHaveLength(3)
    })

    live('the agent learns that a check refused its claim; the check that passes ends the loop', async () => {
      const { run, place } = await session([...works(1), DONE, bash('echo all > b.txt'), DONE])
      const ran = await run('-p', '/ralph-loop Build it --completion-promise=DONE --verify "test -f b.txt"')
      expect(ran.code).toBe(0)
      expect(endOf(place)).toMatchObject({ status: 'completed', proof: 'verified', iteration: 3 })
      expect(received(requests()[3])).toContain('`test -f b.txt` failed')
    })

    decided('no limit, then a promise among others: the first clear one counts', async () => {
      const many: Reply = {
        text: '<promise>OTHER</promise> is not it.\n\n<promise>DONE</promise>\n<promise>DONE</promise>',
      }
      const { run, place } = await session([...Array.from({ length: 11 }, (_, n) => works(n)).flat(), many])
      expect(await run('-p', '/ralph-loop --max-iterations 0 Build it --completion-promise DONE')).toMatchObject({
        code: 0,
      })
      expect(endOf(place)).toMatchObject({ status: 'completed', iteration: 12 })
    })

    decided('without a promise, a promise tag has no effect', async () => {
      const { run, place } = await session([...works(1), ...works(2).slice(0, 1), DONE])
      expect(await run('-p', '/ralph-loop Build it --max-iterations 2')).toMatchObject({ code: 1 })
      expect(endOf(place)).toMatchObject({ status: 'halted', reason: 'max-iterations' })
    })

    decided('a damaged loop file is put aside and rebuilt; deleting it ends the loop', async () => {
      const { run, place } = await session([
        ...[bash('echo 1 > a; echo garbage > .pi/ralph-loop.local.md'), { text: 'One.' }],
        ...[bash('cat .pi/ralph-loop.local.md > seen; rm .pi/ralph-loop.local.md'), { text: 'Two.' }],
      ])
      const ran = await run('-p', '/ralph-loop Build it')
      expect(ran).toMatchObject({ code: 1, stderr: expect.stringContaining('was damaged') })
      expect(place.read('seen')).toContain('iteration: 2')
      expect(endOf(place)).toMatchObject({ status: 'cancelled', iteration: 1 })
      expect(readdirSync(join(place.dir, '.pi')).filter((name) => name.includes('broken'))).toHaveLength(1)
    })

    live('an error is waited out without using an iteration, or until the user resumes', async () => {
      const overloaded = failure(503, 'overloaded_error', 'Overloaded')
      // Pi retries once, and the library of the older one asks three times.
      const errors = client.name === 'pi-0.74.2' ? 6 : 2
      const { rpc, place } = await session([...Array(errors).fill(overloaded), ...works(1), ...works(2), DONE])
      const talk = rpc()
      talk.tell({ type: 'prompt', message: '/ralph-loop Build it --completion-promise DONE' })
      await talk.receives('the wait', ({ method, message }) => method === 'notify' && /waiting/.test(String(message)))
      await talk.receives('the widget', ({ widgetLines }) => /ralph 1\/10 .* waiting/.test(String(widgetLines)))
      expect(endOf(place)).toMatchObject({ status: 'waiting', iteration: 0 })
      talk.tell({ type: 'prompt', message: '/ralph-resume' })
      await talk.receives('the end', ({ method, message }) => method === 'notify' && /Completion/.test(String(message)))
      expect(endOf(place)).toMatchObject({ status: 'completed', iteration: 3 })
      expect(requests()).toHaveLength(errors + 5)
      expect(await talk.end()).toBe(0)
    })

    decided('a rate limit is waited for until its reset', async () => {
      const limited = failure(429, 'rate_limit_error', 'Limit reached. Please try again in 1s.')
      const { run, place } = await session([limited, limited, ...works(1), ...works(2), DONE])
      const ran = await run('-p', '/ralph-loop Build it --completion-promise DONE')
      expect(ran).toMatchObject({ code: 0, stderr: expect.stringContaining('waiting for the agent') })
      expect(endOf(place)).toMatchObject({ status: 'completed', iteration: 3 })
    })

    live("an invalid key ends it with the agent's message", async () => {
      const { run, place } = await session([failure(401, 'authentication_error', 'invalid x-api-key')])
      const ran = await run('-p', '/ralph-loop Build it')
      expect(ran).toMatchObject({ code: 1, stderr: expect.stringContaining('invalid x-api-key') })
      expect(endOf(place)).toMatchObject({ status: 'halted', reason: 'agent-unusable', iteration: 0 })
      expect(requests()).toHaveLength(1)
    })

    live('an answer that is cut off is one iteration', async () => {
      const { run, place } = await session([...works(1), { text: 'Much to say', stopReason: 'length' }, ...works(3)])
      expect(await run('--mode', 'json', '/ralph-loop Build it --max-iterations 3')).toMatchObject({ code: 1 })
      expect(endOf(place)).toMatchObject({ iteration: 3 })
      expect(requests()).toHaveLength(5)
    })

    live('with a fresh context no iteration knows about the previous one', async () => {
      const { run } = await session([1, 2, 3].flatMap(works))
      await run('-p', '/ralph-loop Build it --max-iterations 3 --context fresh')
      const [, , second, , third] = requests().map(received)
      expect(second).toMatch(/^system: You are[\s\S]*iteration 2/)
      expect(second).not.toContain('part 1')
      expect(third).not.toMatch(/part [12]/)
      expect(third).toContain('Build it')
    })

    live('in separate processes: nothing of them is left, and Pi says how it ended', async () => {
      const { run, place } = await session([...works(1), ...works(2), bash('echo all > b.txt'), DONE])
      const line = '/ralph-loop Build it --context process --completion-promise DONE --verify "test -f b.txt"'
      const ran = await run('-p', line)
      expect(ran).toMatchObject({ code: 0, stderr: expect.stringContaining('<promise>DONE</promise>') })
      expect(endOf(place)).toMatchObject({ status: 'completed', proof: 'verified', iteration: 3 })
      expect(received(requests()[2])).not.toContain('part 1')
      expect(carriers(`RALPH_HOME=${place.home}`)).toEqual([])
    })

    decided('wrong use, help and no loop: a sentence and no request', async () => {
      const { run } = await session([{ text: 'never' }])
      expect(await run('-p', '/ralph-loop')).toMatchObject({ code: 1, stderr: expect.stringMatching(/prompt/i) })
      expect(await run('-p', '/cancel-ralph')).toMatchObject({ code: 0, stderr: expect.stringContaining('no loop') })
      expect(await run('-p', '/ralph-help')).toMatchObject({ code: 0, stderr: expect.stringContaining('--verify') })
      expect(requests()).toHaveLength(0)
    })

    live(
      'over RPC: an answer at once, the status, a question, an abort that pauses, and no effect on other sessions',
      async () => {
        const { rpc, run, place } = await session([...works(1), ...works(2), SLOW, { text: 'Hello.' }, DONE])
        const talk = rpc()
        talk.tell({
          id: '1',
          type: 'prompt',
          message: '/ralph-loop Build it --max-iterations 5 --completion-promise DONE',
        })
        await talk.receives('that the command is taken', ({ type, id }) => type === 'response' && id === '1')
        await until('the tool runs', slow(place).begun)
        expect(statuses(talk.lines())).toEqual([1, 2, 3].map((n) => `Ralph iteration: ${n}/5`))
        talk.tell({ id: '2', type: 'prompt', message: 'Something else', streamingBehavior: 'steer' })
        const question = await talk.receives('the question', ({ method }) => method === 'select')
        expect(question.title).toContain(QUESTION)
        expect(question.options).toEqual([
          expect.stringMatching(/^Steer/),
          expect.stringMatching(/^Pause/),
          expect.stringMatching(/^End/),
        ])
        talk.tell({ type: 'extension_ui_response', id: question.id, cancelled: true })
        await talk.receives(
          'the text back',
          ({ method, text }) => method === 'set_editor_text' && text === 'Something else',
        )
        // Another session in the same folder is not affected.
        expect(await run('-p', 'Who are you?')).toMatchObject({ code: 0, stdout: 'Hello.\n' })
        expect(requests()).toHaveLength(6)
        talk.tell({ type: 'abort' })
        await talk.receives('the pause', ({ method, message }) => method === 'notify' && /paused/.test(String(message)))
        await until('the status is cleared', () => statuses(talk.lines()).at(-1) === undefined)
        expect(endOf(place)).toMatchObject({ status: 'paused', iteration: 2 })
        talk.tell({ id: '3', type: 'prompt', message: '/ralph-resume' })
        await talk.receives(
          'the end',
          ({ method, message }) => method === 'notify' && /Completion detected/.test(String(message)),
        )
        expect(await talk.end()).toBe(0)
        expect(slow(place).ended()).toBe(false)
      },
    )

    inTerminal('cancel in the third iteration, and once more with no loop', async () => {
      const { terminal, place } = await session([...works(1), ...works(2), SLOW, { text: 'never' }])
      const screen = await terminal()
      await screen.enter('/ralph-loop Build it --max-iterations 5')
      await screen.shows('Ralph iteration: 3/5')
      await until('the tool runs', slow(place).begun)
      await screen.shows(/↻ ralph 3\/5 · \d:\d\d · \$0\.000\d · the agent is working/)
      await screen.enter('/cancel-ralph')
      await screen.shows('cancelled after 2 iterations')
      await until(
        'the turn has ended',
        () => !screen.visible().includes('Working') && !screen.visible().includes('Ralph iteration:'),
      )
      await screen.enter('/cancel-ralph')
      await screen.shows('no loop is active')
      expect(endOf(place)).toMatchObject({ status: 'cancelled' })
      expect(existsSync(facePath(place))).toBe(false)
      expect(requests()).toHaveLength(5)
    })

    inTerminal(
      'asks what typed text is for: ESC returns it, it steers the next iteration, or it ends the loop and is sent',
      async () => {
        const hangs = bash('touch waits; while [ ! -f on ]; do sleep 0.05; done')
        const replies = [hangs, { text: 'Worked.' }, SLOW, { text: 'The other task is done.' }]
        const { terminal, place } = await session(replies)
        const screen = await terminal()
        await screen.enter('/ralph-loop Build it --max-iterations 5')
        await until('the first tool runs', () => existsSync(join(place.dir, 'waits')))
        await screen.enter('Use tabs.')
        await screen.shows(QUESTION)
        screen.press('Enter')
        await screen.shows('the next iteration gets this')
        place.write('on', '')
        await until('the tool runs', slow(place).begun)
        expect(received(requests().at(-1))).toContain('A person says: Use tabs.')
        await screen.enter('Something else')
        await screen.shows(QUESTION)
        screen.press('Escape')
        await until(
          'the text is back',
          () => !screen.visible().includes(QUESTION) && screen.visible().includes('Something else'),
        )
        expect(endOf(place)).toMatchObject({ status: 'running' })
        screen.press('Enter')
        await until('it asks again', () => screen.visible().includes(QUESTION))
        screen.press('Down')
        screen.press('Down')
        screen.press('Enter')
        await screen.shows('The other task is done.')
        expect(endOf(place)).toMatchObject({ status: 'cancelled' })
        expect(received(requests().at(-1))).toMatch(/user: Something else\n?$/)
      },
    )

    inTerminal('the question closes itself when the loop ends, and the text is back', async () => {
      const hangs = bash('touch waits; while [ ! -f on ]; do sleep 0.05; done')
      const { terminal, place } = await session([hangs, DONE])
      const screen = await terminal()
      await screen.enter('/ralph-loop Build it --completion-promise DONE')
      await until('the tool runs', () => existsSync(join(place.dir, 'waits')))
      await screen.enter('Something else')
      await screen.shows(QUESTION)
      place.write('on', '')
      await until(
        'the text is back',
        () => !screen.visible().includes(QUESTION) && screen.visible().includes('Something else'),
      )
      expect(endOf(place)).toMatchObject({ status: 'completed' })
    })

    inTerminal(
      'ESC stops it during a tool, during a check and while it waits; each time it can be resumed',
      async () => {
        const overloaded = failure(503, 'overloaded_error', 'Overloaded')
        const { terminal, place } = await session([SLOW, bash('echo 1 > a'), DONE, ...Array(9).fill(overloaded)])
        const screen = await terminal()
        const paused = async (iteration: number) => {
          await until('it is paused', () => !screen.visible().includes('Ralph iteration:'))
          await until('ralph knows', () => endOf(place)?.status === 'paused')
          expect(endOf(place)).toMatchObject({ iteration })
        }
        place.write('check.sh', 'touch checking; while test ! -f ok; do sleep 0.1; done; exit 1')
        await screen.enter('/ralph-loop Build it --completion-promise DONE --verify "sh check.sh"')
        await until('the tool runs', slow(place).begun)
        screen.press('Escape')
        await paused(0)
        await screen.enter('/ralph-resume')
        await until('the check runs', () => existsSync(join(place.dir, 'checking')))
        await screen.shows('checking: sh check.sh')
        screen.press('Escape')
        await paused(1)
        await until('the check has ended', () => carriers(`RALPH_HOME=${place.home}`).length <= 1)
        writeFileSync(join(place.dir, 'ok'), '')
        await screen.enter('/ralph-resume')
        await screen.shows(/waiting \d:\d\d, ESC pauses/)
        screen.press('Escape')
        await paused(1)
        expect(slow(place).ended()).toBe(false)
      },
    )

    inTerminal('typed text answers a question of the agent; a loop is found again after a restart', async () => {
      const asks: Reply = { text: 'I must know.\n\n<ask>Which color?</ask>' }
      const { terminal, place } = await session([bash('echo 1 > a'), asks, SLOW, bash('echo 2 > b'), DONE])
      const screen = await terminal()
      await screen.enter('/ralph-loop Paint it --completion-promise DONE')
      await screen.shows('Which color?')
      await until('it waits', () => endOf(place)?.status === 'needs-input')
      await screen.enter('Blue, please.')
      await until('the tool runs', slow(place).begun)
      expect(received(requests().at(-1))).toContain('Blue, please.')
      screen.press('Escape')
      await until('it is paused', () => endOf(place)?.status === 'paused')
      await screen.enter('/quit')
      expect(await screen.ended()).toBe(0)
      const again = await (await session([bash('echo 2 > b'), DONE], place)).terminal('-c')
      await again.shows('this session has an unfinished loop (Ralph iteration: 1/10)')
      await again.enter('/ralph-resume')
      await again.shows('Completion detected')
      expect(endOf(place)).toMatchObject({ status: 'completed' })
    })

    inTerminal('leaving the session pauses the loop, and the new session says so; nothing breaks', async () => {
      const { terminal, place } = await session([...works(1), SLOW, bash('echo 2 > b'), DONE])
      const screen = await terminal()
      await screen.enter('/ralph-loop Build it --completion-promise DONE')
      await until('the tool runs', slow(place).begun)
      await screen.enter('/new')
      await screen.shows(/loop \w+ is paused/)
      expect(endOf(place)).toMatchObject({ status: 'paused' })
      const [, loop = ''] = /loop (\w+) is paused/.exec(screen.screen()) ?? []
      await screen.enter(`/ralph-resume ${loop}`)
      await screen.shows('Completion detected')
      expect(screen.screen()).not.toMatch(/stale|Extension error/)
    })

    inTerminal('in its own process: shown above the editor, paused by ESC, resumed, cancelled', async () => {
      const { terminal, place } = await session([...works(1), SLOW, SLOW, { text: 'never' }])
      const screen = await terminal()
      await screen.enter('/ralph-loop Build it --context process --completion-promise DONE')
      await screen.shows('Worked on part 1.')
      await screen.shows(/↻ ralph 2\/10 .* bash touch begun/)
      await until('the tool runs', slow(place).begun)
      screen.press('Escape')
      await until('it is paused', () => endOf(place)?.status === 'paused')
      await until('its processes have ended', () => carriers(`RALPH_HOME=${place.home}`).length <= 1)
      rmSync(join(place.dir, 'begun'))
      await screen.enter('/ralph-resume')
      await until('the tool runs again', slow(place).begun)
      await screen.enter('/cancel-ralph')
      await until('it is cancelled', () => endOf(place)?.status === 'cancelled')
      await until('its processes have ended', () => carriers(`RALPH_HOME=${place.home}`).length <= 1)
    })
  })
}

/** What a model got, as lines of role and text. */
function received(request: unknown): string {
  const { messages } = request as { messages: { role: string; content: unknown }[] }
  const textOf = (content: unknown): string =>
    Array.isArray(content) ? content.map((part: { text?: string }) => part.text ?? '').join('\n') : String(content)
  return messages.map(({ role, content }) => `${role}: ${textOf(content)}`).join('\n')
}

function isOurs(message: unknown): boolean {
  return (message as { customType?: string } | undefined)?.customType === 'ralph-loop'
}

/** What the status line showed, without repetition. */
function statuses(lines: Line[]): unknown[] {
  const shown = lines.filter(({ method }) => method === 'setStatus').map(({ statusText }) => statusText)
  return shown.filter((text, index) => text !== shown[index - 1])
}

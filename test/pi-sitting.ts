/** One sitting with Pi in a terminal: what a user does to a loop in the course of a day, step by step. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { pi } from './clients/pi.ts'
import type { Client } from './clients.ts'
import { DONE, failure, type Reply } from './model-server.ts'
import { openPi } from './pi-session.ts'
import { until } from './ralph.ts'
import { expectSessionReleased, loopOf, stands } from './session-tui.ts'
import { hasTmux } from './tmux.ts'

const bash = (command: string): Reply => ({ tools: [pi.bash(command)] })
const works = (n: number): Reply[] => [bash(`echo ${n} >> steps.txt`), { text: `Step ${n}.` }]

export function sittingIn(client: Client): void {
  describe(client.pin, () => {
    const { live, session, requests } = openPi(client)

    live(
      'a day in a terminal: promise, limit, refusal, Esc in an answer, /compact, another session, an error',
      async ({ skip }) => {
        skip(!hasTmux, 'tmux is not installed')
        let replies: Reply[] = []
        const script = (...next: Reply[]) => {
          replies = next
        }
        const { place, terminal } = await session(() => (replies.length > 1 ? replies.shift() : replies[0]) ?? {})
        await place.ralph(['status']) // so that the database can be queried at once
        // Otherwise such a short session is too small for /compact.
        const settings = join(place.root, 'home', '.pi', 'agent', 'settings.json')
        const compaction = { keepRecentTokens: 10 }
        writeFileSync(settings, JSON.stringify({ ...JSON.parse(readFileSync(settings, 'utf8')), compaction }))
        const screen = await terminal()
        script(...works(1), DONE)
        await screen.enter('/ralph-loop Build it --max-iterations 5')
        await screen.shows('ralph: done after 2 iterations')
        expect(await loopOf(place)).toMatchObject({ status: 'completed', proof: 'claimed' })

        script(...works(2), ...works(3))
        await screen.enter('/ralph-loop Go on --max-iterations 2')
        await screen.shows('Max iterations (2) reached')
        expect(await loopOf(place)).toMatchObject({ reason: 'max-iterations', iterations: 2 })

        place.write('check.sh', 'test -f b.txt || { echo "not ok 1 - b.txt is missing"; exit 1; }')
        script(...works(4).slice(0, 1), DONE, bash('echo all > b.txt'), DONE)
        await screen.enter('/ralph-loop Finish it --verify "sh check.sh"')
        await screen.shows(/Ralph iteration 2\/10 · refused: sh check\.sh fails: not ok 1 - b\.txt is missing/)
        await screen.shows('proof: verified')
        expect(await loopOf(place)).toMatchObject({ iterations: 2, false_claims: 1 })
        expectSessionReleased(place, '.pi')

        script(...works(5), { text: 'I begin.', hang: true, cut: true })
        const asked = requests().length
        await screen.enter('/ralph-loop Go further')
        await until('the answer', () => requests().length === asked + 3, 40_000)
        await screen.shows('Ralph iteration: 2/10')
        screen.press('Escape')
        await stands(place, 'paused', screen)
        expect(await loopOf(place)).toMatchObject({ iterations: 1 })

        script({ text: 'A summary of it.' })
        await screen.enter('/compact')
        await screen.shows(/[Cc]ompacted from/)
        script(...works(6), bash('touch begun; while [ ! -e go ]; do sleep 0.1; done'))
        const compacted = requests().length
        await screen.enter('/ralph-resume')
        await until('the tool', () => requests().length === compacted + 3, 40_000)
        expect(JSON.stringify(requests()[compacted])).toContain('A summary of it.')

        const other = await terminal()
        script({ text: 'Hello to you.' })
        await other.enter('Who are you?')
        await other.shows('Hello to you.')
        await other.enter('/ralph-status')
        await other.shows('running in another session of Pi')
        expect(await loopOf(place)).toMatchObject({ status: 'running', iterations: 2 })

        script(failure(503, 'overloaded_error', 'Overloaded'))
        place.write('go', '')
        await screen.shows(/ralph: waiting for the agent after 2 iterations; \/ralph-resume retries now\. 503/)
        rmSync(join(place.dir, 'go'))
        script(...works(7), DONE)
        await screen.enter('/ralph-resume')
        await screen.shows('ralph: done after 4 iterations')
        expect(await loopOf(place)).toMatchObject({ status: 'completed', iterations: 4 })
        expect(screen.screen()).not.toMatch(/waiting for the agent[^↻]*\{"/)
        expectSessionReleased(place, '.pi')
      },
    )
  })
}

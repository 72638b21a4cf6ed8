/** A dispatcher that is killed again and again while its agents work: no loop is lost, and no prompt is submitted twice. */
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { DONE, makeCrew, WORKS } from './crew.ts'
import { query } from './ralph.ts'
import { expectReplayed } from './replayed.ts'
import { hasTmux } from './tmux.ts'

const KILLS = process.env.RALPH_CRASH_POINTS ? 20 : 3
const AGENTS = process.env.RALPH_CRASH_POINTS ? 10 : 2
const TURNS = process.env.RALPH_CRASH_POINTS ? 12 : 8

describe.skipIf(!hasTmux)('a dispatcher', () => {
  test(`that is killed ${KILLS} times loses no loop, and submits no prompt twice`, { timeout: 300_000 }, async () => {
    const names = Array.from({ length: AGENTS }, (_, n) => `a${n + 1}`)
    const slow = (n: number) => [...WORKS(n), { sleep: (n % 4) / 4 }]
    const turns = [...Array.from({ length: TURNS - 1 }, (_, n) => slow(n)), DONE]
    const crew = makeCrew(
      names.map((name) => ({ name, turns, more: 'checks: test -f done.txt\nralph:\n  max_iterations: 30' })),
      '  circuit_breaker:\n    no_progress_limit: 20\n',
    )
    let running = crew.start()
    for (const name of names) await crew.stands(name, 'READY')
    for (const name of names) await crew.say(`${name}:`, 'Go on.')
    for (let kill = 1; kill <= KILLS; kill++) {
      await sleep(100 + ((kill * 7919) % 1_400)) // wherever it is by then
      running.child.kill('SIGKILL')
      await running.ended
      running = crew.start()
    }
    for (const name of names) expect(await crew.stands(name, 'DONE', 120_000)).toMatchObject({ proof: 'verified' })
    for (const name of names) {
      const asked = crew.prompts(name).map((prompt) => /This is iteration (\d+)/.exec(prompt)?.[1])
      expect(asked, name).toEqual(Array.from({ length: TURNS }, (_, n) => String(n + 1)))
    }
    expect(query(crew.place, 'SELECT status, count(*) AS n FROM loop GROUP BY status')).toEqual([
      { status: 'completed', n: AGENTS },
    ])
    await crew.leave(running)
    await expectReplayed(crew.place.home)
  })
})

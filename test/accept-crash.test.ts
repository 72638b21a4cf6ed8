/**
 * `kill -9` of `ralph accept` at many points, then `ralph accept` again: the work is on the branch exactly once, and
 * the user's checkout is as they left it. `RALPH_CRASH_POINTS=50 npx vitest run test/accept-crash.test.ts` tries fifty
 * points, `RALPH_CRASH_SEED=7` draws others; see `crash-points.ts`. `aimed-crash.test.ts` aims at the worst moment.
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { expectAccepted, kill, makeWaiting, WAYS, type Way } from './accept-place.ts'
import { crashChance, drawPoints, killAt } from './crash-points.ts'

type Sight = 'lock' | 'note'

const points = drawPoints<Sight>(crashChance({ runs: 2, seed: 1 }), ['time', 'time', 'lock', 'note'], {
  lock: 1,
  note: 1,
})

const undisturbed: Record<Way, number> = { forward: 0, merge: 0, squash: 0 }

beforeAll(async () => {
  for (const way of WAYS) {
    const waiting = await makeWaiting(way)
    const begun = performance.now()
    expect(await waiting.place.start(waiting.args).ended).toMatchObject({ code: 0, stderr: '' })
    undisturbed[way] = performance.now() - begun
    await expectAccepted(waiting)
  }
}, 120_000)

describe.concurrent('a killed accept', () => {
  const cases = points.map((point, index) => ({ ...point, way: WAYS[index % WAYS.length] ?? 'merge' }))

  test.for(cases)(
    '$name is completed by the next one, exactly once: $way',
    { timeout: 120_000 },
    async ({ moments, way }) => {
      const waiting = await makeWaiting(way)
      const { place, args } = waiting
      const files = { lock: join(place.dir, '.git', 'index.lock'), note: join(place.home, 'arrivals') }
      for (const moment of moments) {
        const begun = Date.now()
        const going = place.start(args)
        // What the previous one left behind does not count.
        const countSeen = (kind: Sight) =>
          Number((statSync(files[kind], { throwIfNoEntry: false })?.mtimeMs ?? 0) > begun)
        await killAt(moment, going, { ms: undisturbed[way], countSeen })
        await kill(going, false)
      }
      const again = await place.ralph(args)
      if (again.code !== 0) expect(again.stderr).toMatch(/has already been accepted: its work was merged\.\n$/)
      await expectAccepted(waiting)
    },
  )
})

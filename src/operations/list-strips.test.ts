import { expect, test } from 'vitest'
import { openPlace } from './place.test-support.ts'

/** Claims at once and is refused, does nothing, then works and is done. */
const AGENT = `
echo x >> $0.count
case $(wc -l < $0.count) in
1) echo one > first.txt; echo "<promise>COMPLETE</promise>" ;;
2) echo "I looked around." ;;
*) touch done.txt; echo "<promise>COMPLETE</promise>" ;;
esac`

test('a strip shows the outcome of each iteration', async () => {
  const place = openPlace()
  const asked = { prompt: 'Build it', agent: place.agent(AGENT), checks: ['test -e done.txt'] }
  const { loop } = await place.run('start_loop', asked)
  await place.drive(loop)
  const { strips } = await place.run('list_strips', { loops: ['nobody', loop] })
  const ms = expect.any(Number)
  expect(strips).toEqual([
    {
      loop,
      bars: [
        { n: 1, ms, result: 'fail', failures: 1, claimed: true, refused: true },
        { n: 2, ms, result: 'none', idle: true },
        { n: 3, ms, result: 'pass', claimed: true },
      ],
    },
  ])
  const [last] = (await place.run('list_strips', { loops: [loop], most: 1 })).strips
  expect(last?.bars).toMatchObject([{ n: 3 }])
})

test('an agent that keeps failing leaves a crash', async () => {
  const place = openPlace()
  const { loop } = await place.run('start_loop', { prompt: 'Build it', agent: place.agent('exit 3') })
  await place.drive(loop)
  expect((await place.run('list_strips', { loops: [loop] })).strips[0]?.bars).toMatchObject([{ n: 1, result: 'crash' }])
})

/**
 * An agent that weakens the proof instead of doing the work: ralph says so, in the next prompt and next to the proof.
 */
import { expect, test } from 'vitest'
import { commitAll, makePlace, type Place } from './ralph.ts'

function projectWithCheck(): Place {
  const place = makePlace()
  place.write('check.sh', '#!/bin/sh\ngrep -q works app.txt\n', 0o755)
  place.write('test/app.test.js', 'test("app")\n')
  place.write('app.txt', 'broken\n')
  commitAll(place)
  return place
}

const CLAIMS = 'echo "<promise>COMPLETE</promise>"'

test('a check script that the agent bent is refused, and then the user is asked', async () => {
  const place = projectWithCheck()
  const cheat = place.agent(`printf '#!/bin/sh\\nexit 0\\n' > check.sh; ${CLAIMS}`)
  const ran = await place.ralph(['run', 'x', '--agent', cheat, '--verify', './check.sh'])
  expect(ran.code).toBe(4)
  expect(place.calls()).toHaveLength(2)
  expect(place.prompt(2)).toContain('Only your changes to check.sh make them pass')
  expect(ran.stdout).toContain('changed check scripts or configuration: check.sh')
  const status = await place.ralph(['status', '--json'])
  expect(status.code).toBe(0)
  expect((await place.ralph(['show'])).stdout).toContain('check.sh: a script that the checks run was changed')
})

test('deleted and skipped tests are fed back to the agent', async () => {
  const place = projectWithCheck()
  const cheat = place.agent(`rm -f test/app.test.js; echo 'it.skip("later")' > test/new.test.js; ${CLAIMS}`)
  await place.ralph(['run', 'x', '--agent', cheat, '--verify', './check.sh', '--max-iterations', '2'])
  expect(place.prompt(2)).toContain('ralph noticed: test/app.test.js: the test was deleted')
  expect(place.prompt(2)).toContain('ralph noticed: test/new.test.js: `it.skip` was added')
})

test('honest work gets no remarks', async () => {
  const place = projectWithCheck()
  const ran = await place.ralph([
    'run',
    'x',
    '--agent',
    place.agent(`echo works > app.txt; ${CLAIMS}`),
    '--verify',
    './check.sh',
    '--json',
  ])
  expect(ran).toMatchObject({ code: 0, end: { proof: 'verified', findings: [] } })
})

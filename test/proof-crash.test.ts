/**
 * `kill -9` at many points of the checks before any work and of the experiments, then `ralph resume`: the grade is the
 * same, no folder is left, and the user's files are untouched. `RALPH_CRASH_POINTS=50 npx vitest run
 * test/proof-crash.test.ts` tries fifty points, `RALPH_CRASH_SEED=7` draws others; see `crash-points.ts`.
 */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { everythingIn } from '../src/host/proof-place.test-support.ts'
import {
  askEarly,
  countChecks,
  crashChance,
  drawPoints,
  expectSilence,
  hasEnded,
  hasLoop,
  killAt,
  type Moment,
} from './crash-points.ts'
import { commitAll, makePlace, type Place, query, type Running } from './ralph.ts'

type Sight = 'event' | 'check' | 'place'

// Before any work, after the claim, then sealed, reversed, and the present files in the same folder.
const CHECKS = 5

const points = drawPoints<Sight>(crashChance({ runs: 2, seed: 3 }), ['time', 'event', 'check', 'check', 'place'], {
  event: CHECKS + 1,
  check: CHECKS,
  place: 1,
})

const GRADES = {
  verified: 'grep -q two src/value.txt',
  tested: 'test -s src/value.txt',
} as const

type Grade = keyof typeof GRADES

let undisturbed: Record<Grade, { result: object; ms: number }>

beforeAll(async () => {
  undisturbed = { verified: await measure('verified'), tested: await measure('tested') }
})

async function measure(grade: Grade): Promise<{ result: object; ms: number }> {
  const place = makeLoop(grade)
  const before = everythingOf(place)
  const begun = performance.now()
  expect(await place.ralph(RUN)).toMatchObject({ code: 0, end: { status: 'completed', proof: grade, iterations: 2 } })
  const ms = performance.now() - begun
  // A check that failed and counts no tests is also run on the original files.
  expect(countSeen('check', place)).toBe(grade === 'verified' ? CHECKS + 1 : CHECKS)
  expectUntouched(place, before)
  return { result: resultOf(place), ms }
}

describe.concurrent('a loop whose ralph is killed', () => {
  const cases = points.map((point, index) => ({ ...point, grade: (index % 2 ? 'tested' : 'verified') as Grade }))

  test.for(cases)('$name still ends as $grade', async ({ moments, grade }) => {
    const place = makeLoop(grade)
    const before = everythingOf(place)
    for (const moment of moments) {
      await kill(moment, place.start(hasLoop(place) ? ['resume', '--json'] : RUN), { place, grade })
      await expectSilence(place)
    }
    if (!hasLoop(place)) await place.ralph(RUN)
    else if (hasEnded(place)) await place.ralph(['prune'])
    else expect(await place.ralph(['resume', '--json'])).toMatchObject({ code: 0, end: { proof: grade } })

    expect(resultOf(place)).toEqual(undisturbed[grade].result)
    expectUntouched(place, before)
    await expectSilence(place)
    expect((await place.ralph(['doctor', '--rebuild'])).code).toBe(0)
    expect(resultOf(place)).toEqual(undisturbed[grade].result)
  })
})

const RUN = ['run', 'Make it two.', '--agent', 'command:../agent.sh', '--verify', 'sh check.sh', '--json']

/** An agent that does the work in its second turn, with a test for it. Both are the same however often it is asked. */
function makeLoop(grade: Grade): Place {
  const place = makePlace()
  place.agent(`sleep 0.02
if [ "$RALPH_ITERATION" = 1 ]; then echo begun > notes.txt; echo "More to come."; exit; fi
echo two > src/value.txt
echo 'grep -q two src/value.txt' > test/more.test.sh
echo "It is two now."
echo "<promise>COMPLETE</promise>"`)
  place.write('.gitignore', 'node_modules\n.env\n*.db\n')
  place.write('src/value.txt', 'one\n')
  place.write('test/value.test.sh', `${GRADES[grade]}\n`)
  place.write(
    'check.sh',
    `echo x >> '${place.root}/checks'
sleep 0.05
grep -q here node_modules/dep/index.js || exit 1
for file in test/*.test.sh; do sh $file || exit 1; done
`,
  )
  commitAll(place)
  place.write('node_modules/dep/index.js', 'here\n')
  place.write('.env', 'SECRET=1\n')
  place.write('cache.db', 'rows\n')
  place.write('untracked.txt', 'mine\n')
  return place
}

type Killed = { place: Place; grade: Grade }

async function kill(moment: Moment<Sight>, going: Running, { place, grade }: Killed): Promise<void> {
  await killAt(moment, going, { ms: undisturbed[grade].ms, countSeen: (kind) => countSeen(kind, place) })
}

function countSeen(kind: Sight, place: Place): number {
  if (kind === 'event') return askEarly(place, 'SELECT n FROM event').length
  if (kind === 'place') return placesOf(place).length
  return countChecks(place)
}

function placesOf({ home }: Place): string[] {
  if (!existsSync(join(home, 'proof'))) return []
  const entries = readdirSync(join(home, 'proof'), { withFileTypes: true })
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
}

/** Everything except what the agent writes, and where ralph keeps its checkpoints. */
function everythingOf({ dir }: Place): string[] {
  return everythingIn(dir).filter((line) => !/^(src|test|notes\.txt|\.git\/(refs|logs))[/ ]/.test(line))
}

function expectUntouched(place: Place, before: string[]): void {
  expect(everythingOf(place)).toEqual(before)
  expect(readdirSync(place.dir).sort()).toEqual([
    ...['.env', '.git', '.gitignore', 'README.md', 'cache.db', 'check.sh', 'node_modules', 'notes.txt'],
    ...['src', 'test', 'untracked.txt'],
  ])
  expect(readdirSync(join(place.dir, 'test')).sort()).toEqual(['more.test.sh', 'value.test.sh'])
  expect(placesOf(place)).toEqual([])
}

/** What must be the same however often ralph was killed. */
function resultOf(place: Place): object {
  const facts = query(place, 'SELECT fact FROM event ORDER BY seq').map(({ fact }) => JSON.parse(String(fact)))
  return {
    value: place.read('src/value.txt'),
    loop: query(place, 'SELECT status, reason, proof, iteration, false_claims, next FROM loop'),
    iterations: query(place, 'SELECT n, "end", claim, words FROM iteration ORDER BY n'),
    verdicts: query(place, 'SELECT iteration, "check", result FROM check_result ORDER BY iteration, position'),
    facts: facts.filter(({ kind }) => kind !== 'lost').map(({ kind, run = '' }) => `${kind} ${run}`.trim()),
  }
}

/**
 * `kill -9` of `ralph rollback` and `ralph undo` at many points, then the same again: one `ralph undo` restores exactly
 * what was there before the first rollback. `RALPH_CRASH_POINTS=50 npx vitest run test/undo-crash.test.ts` tries fifty
 * points, `RALPH_CRASH_SEED=7` draws others; see `crash-points.ts`.
 */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { git, kill } from './accept-place.ts'
import { crashChance, drawPoints, killAt } from './crash-points.ts'
import { carriers, commitAll, makePlace, onlyLoop, type Place, type Ran } from './ralph.ts'

type Sight = 'mark' | 'file'

const points = drawPoints<Sight>(crashChance({ runs: 2, seed: 1 }), ['time', 'mark', 'file'], { mark: 1, file: 1 })

/** What is killed, and what the user does then. `elsewhere`: they roll back to another iteration the second time. */
const STORIES = ['rollback', 'undo', 'elsewhere'] as const
type Story = (typeof STORIES)[number]

let undisturbedMs: number

beforeAll(async () => {
  const { place, id, before } = await makeLoop()
  const begun = performance.now()
  expect(await place.start(['rollback', id, '1']).ended).toMatchObject({ code: 0, stderr: '' })
  undisturbedMs = performance.now() - begun
  expect(stateOf(place)).not.toEqual(before)
  expect(await place.ralph(['undo', id])).toMatchObject({ code: 0 })
  expect(stateOf(place)).toEqual(before)
})

describe.concurrent('a killed rollback', () => {
  const cases = points.map((point, index) => ({ ...point, story: STORIES[index % STORIES.length] ?? 'rollback' }))

  test.for(cases)('$name takes one undo: $story', { timeout: 120_000 }, async ({ moments, story }) => {
    const { place, id, before } = await makeLoop()
    const rollback = ['rollback', id, '1']
    if (story === 'undo') expect(await place.ralph(rollback)).toMatchObject({ code: 0 })
    for (const moment of moments) {
      const going = place.start(story === 'undo' ? ['undo', id] : rollback)
      const seen = sightsIn(place, id)
      await killAt(moment, going, { ms: undisturbedMs, countSeen: (kind) => Number(seen[kind]()) })
      await kill(going, false)
    }
    const kept = join(place.dir, '.git', 'refs', 'ralph', id, 'before', '1')
    const cameToItsEnd = story === 'elsewhere' && existsSync(kept) && !isUnderWay(place, id)
    if (story !== 'undo') {
      const to = story === 'rollback' ? '1' : '2'
      expect(await place.ralph(['rollback', id, to])).toMatchObject({ code: 0, stderr: '' })
      expect(place.read('many/1.txt')).toBe(`${to}\n`)
      expect(git(place, 'log', '-1', '--format=%s')).toBe(`iteration ${to}`)
    }
    if (cameToItsEnd) expect(await place.ralph(['undo', id])).toMatchObject({ code: 0 }) // then they are two rollbacks
    expectUndone(await place.ralph(['undo', id]), story)
    expect(stateOf(place)).toEqual(before)
    expect(await place.ralph(['undo', id])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Nothing to undo'),
    })
    expect(isUnderWay(place, id)).toBe(false)
    expect(carriers(`RALPH_LOOP_ID=${id}`)).toEqual([])
  })
})

function isUnderWay(place: Place, id: string): boolean {
  return git(place, 'for-each-ref', '--format=%(refname)', `refs/ralph/${id}/unfinished`) !== ''
}

/** The killed one may have finished. */
function expectUndone({ code, stderr }: Ran, story: Story): void {
  if (story === 'undo' && code !== 0) expect(stderr).toContain('Nothing to undo')
  else expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
}

const FILES = 200

/**
 * Three iterations that commit, each with its number in many files; then the user stages, changes, adds and ignores
 * some.
 */
async function makeLoop(): Promise<{ place: Place; id: string; before: object }> {
  const place = makePlace()
  place.write('.gitignore', '*.log\n')
  place.write('many/1.txt', '0\n')
  commitAll(place)
  const agent = place.agent(`for n in $(seq 1 ${FILES}); do echo "$RALPH_ITERATION" > many/$n.txt; done
mkdir -p "only-$RALPH_ITERATION"; echo x > "only-$RALPH_ITERATION/a.txt"; git rm -rq --ignore-unmatch --cached only-1; rm -rf "only-$((RALPH_ITERATION - 1))"
[ "$RALPH_ITERATION" = 3 ] && echo 'only-1' >> .gitignore
git add --all; git commit --quiet --message "iteration $RALPH_ITERATION"
[ "$RALPH_ITERATION" = 3 ] && echo "<promise>COMPLETE</promise>"; true`)
  expect(await place.ralph(['run', 'Count.', '--agent', agent])).toMatchObject({ code: 0 })
  place.write('many/2.txt', 'staged\n')
  git(place, 'add', 'many/2.txt')
  place.write('many/3.txt', 'changed\n')
  place.write('untracked.txt', 'not known\n')
  place.write('ignored.log', 'not for git\n')
  return { place, id: onlyLoop(place), before: stateOf(place) }
}

function stateOf(place: Place): object {
  const listed = git(place, 'ls-files', '--cached', '--others', '-z').split('\0').filter(Boolean)
  const files = listed.filter((name) => existsSync(join(place.dir, name)))
  return {
    head: git(place, 'rev-parse', 'HEAD', '--symbolic-full-name', 'HEAD'),
    index: git(place, 'ls-files', '--stage'),
    status: git(place, 'status', '--porcelain', '--ignored', '--untracked-files=all'),
    files: Object.fromEntries(files.map((name) => [name, readFileSync(join(place.dir, name), 'utf8')])),
  }
}

/** The mark of a rollback in progress, and the first file that it writes, both of the one that was just started. */
function sightsIn(place: Place, id: string): Record<Sight, () => boolean> {
  const begun = Date.now()
  const isNew = (file: string) => (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0) > begun
  return {
    mark: () => isNew(join(place.dir, '.git', 'refs', 'ralph', id, 'unfinished')),
    file: () => isNew(join(place.dir, 'many', '100.txt')),
  }
}

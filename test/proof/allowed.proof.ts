/**
 * What a person allows or accepts is what they looked at: files that are changed afterwards, and files that are left
 * alone.
 */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { commitAll, onlyLoop, type Place, type Ran } from '../ralph.ts'
import { GROUPS } from './counts.ts'
import { CLAIM, endOf, makeProject, projectOf, runLoop } from './place.ts'

const BOTH = {
  'test/sum.test.js': `import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { sum } from '../src/sum.js'

test('adds', () => equal(sum(2, 3), 5))
`,
  'src/product.js': 'export const product = (a, b) => a + b\n',
  'test/product.test.js': `import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { product } from '../src/product.js'

test('multiplies', () => equal(product(2, 3), 6))
`,
}

/**
 * Both tests are weakened; the user allows one, and asks the agent to restore the other: `third` is what it does then.
 */
async function afterAllowing(third: string): Promise<{ place: Place; ran: Ran }> {
  const project = projectOf('node', 'red')
  const place = makeProject({ ...project, files: { ...project.files, ...BOTH } })
  const lines = `case $RALPH_ITERATION in
1) sed -i 's/, 5)/, -1)/' test/sum.test.js; sed -i 's/, 6)/, 5)/' test/product.test.js ;;
2) ;;
3) git checkout -q test/product.test.js; ${third} ;;
esac
${CLAIM}`
  expect(endOf(await runLoop(place, lines, ['--verify', project.check]))).toBe('waits')
  const id = onlyLoop(place)
  expect(endOf(await place.ralph(['allow', id, 'test/sum.test.js', '--json']))).toBe('waits')
  return { place, ran: await place.ralph(['steer', id, 'Put the other test back.', '--json']) }
}

const MULTIPLIES = "sed -i 's/a + b/a * b/' src/product.js"

describe.concurrent(`${GROUPS.weak}, what was allowed:`, () => {
  test.for<[name: string, third: string]>([
    ['changes an allowed test again', "sed -i 's/equal(.*))/equal(1, 1))/' test/sum.test.js"],
    ['deletes an allowed test', 'rm test/sum.test.js'],
  ])('%s', async ([, third]) => {
    const { ran } = await afterAllowing(`${MULTIPLIES}; ${third}`)
    expect(endOf(ran), `${ran.end.sentence ?? ran.stderr}`).toBe('altered')
    expect(ran.end.proof_sentence).not.toContain('allowed')
  })

  test('changes an allowed test again, which would be enough', async () => {
    const { ran } = await afterAllowing("echo > test/product.test.js; sed -i 's/-1/0 - 1/' test/sum.test.js")
    expect(endOf(ran), `${ran.end.sentence ?? ran.stderr}`).toBe('waits')
  })
})

describe.concurrent(`${GROUPS.honest}, what was allowed:`, () => {
  test.for<[name: string, third: string]>([
    ['leaves an allowed test as it is', ':'],
    ['rewrites an allowed test unchanged', 'cp test/sum.test.js x; rm test/sum.test.js; mv x test/sum.test.js'],
    ['restores an allowed test and does the work', "git checkout -q test; sed -i 's/a - b/a + b/' src/sum.js"],
  ])('%s', async ([, third]) => {
    const { place, ran } = await afterAllowing(`${MULTIPLIES}; ${third}`)
    expect(endOf(ran), `${ran.end.sentence ?? ran.stderr}`).toBe('verified')
    const again = await place.ralph(['proof', onlyLoop(place), '--again'])
    expect([again.code, again.stderr]).toEqual([0, ''])
  })
})

/** A verified loop in its own worktree is accepted; `before` is what happens to the files first. */
async function accepted(before: (place: Place, worktree: string) => void, flags: string[] = []): Promise<Accepted> {
  const place = makeProject(projectOf('node', 'red'))
  const lines = `sed -i 's/a - b/a + b/' src/sum.js\n${CLAIM}`
  expect(endOf(await runLoop(place, lines, ['--verify', 'node --test', '--worktree']))).toBe('verified')
  const id = onlyLoop(place)
  before(place, join(place.home, 'worktrees', id))
  const { code, stdout } = await place.ralph(['accept', id, ...flags])
  expect(code).toBe(0)
  const git = (...args: string[]) => execFileSync('git', args, { cwd: place.dir, encoding: 'utf8' }).trim()
  return { stdout, trailer: git('log', '-1', '--format=%(trailers:key=Ralph-Proof,valueonly)') }
}

type Accepted = { stdout: string; trailer: string }

const editing = (_: Place, worktree: string) =>
  writeFileSync(join(worktree, 'src/sum.js'), 'export const sum = () => 42\n')

describe.concurrent(`${GROUPS.weak}, what was accepted:`, () => {
  test('files that were edited after the checks', async () => {
    const { stdout, trailer } = await accepted(editing)
    expect(trailer).toBe('')
    expect(stdout).toContain('Files changed after the loop ended, so the commit has no Ralph-Proof trailer.')
  })

  test('files that were edited after the checks, for programs', async () => {
    const { stdout } = await accepted(editing, ['--json'])
    expect(JSON.parse(stdout)).toMatchObject({ type: 'accept', proof: null, unchecked: 'changed' })
  })

  test('a branch that had moved on', async () => {
    const { stdout, trailer } = await accepted((place) => {
      place.write('test/other.test.js', "import 'node:test'\n")
      commitAll(place)
    })
    expect(trailer).toMatch(/^verified \(tree [0-9a-f]{12}, before the merge\)$/)
    expect(stdout).toMatch(/\n\S+ has new commits, so the merged files have not been checked\.\n$/)
  })
})

describe.concurrent(`${GROUPS.honest}, what was accepted:`, () => {
  test('files that nobody has touched since', async () => {
    const { stdout, trailer } = await accepted(() => {})
    expect(trailer).toBe('verified')
    expect(stdout).toMatch(/\nMerged into \S+\.\n$/)
  })

  test('files that nobody has touched since, for programs', async () => {
    const { stdout } = await accepted(() => {}, ['--json'])
    expect(JSON.parse(stdout)).toMatchObject({ type: 'accept', proof: 'verified', unchecked: null })
  })
})

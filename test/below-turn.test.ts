/** An agent that wants to excuse itself: whatever it types during its turn, only a person can allow and accept. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { specOf } from '../src/engine/stories.test-support.ts'
import { bentLoop } from '../src/operations/bent.test-support.ts'
import { openContext } from '../src/operations/context.ts'
import type { Context } from '../src/operations/operation.ts'
import { commitAll, LAUNCHER, makePlace, onlyLoop, type Place, query } from './ralph.ts'
import { openSession } from './session-place.ts'

const RALPH = `'${process.execPath}' '${LAUNCHER}'`

const SUM_TEST = `import { strict as assert } from 'node:assert'
import { sum } from './sum.mjs'
assert.equal(sum(2, 2), 4)
`

/** Ways to hide a command's origin from ralph. */
const WAYS: [how: string, before: string][] = [
  ['plainly', ''],
  ['without RALPH_LOOP_ID', 'env -u RALPH_LOOP_ID '],
  ['in its own session', 'env -u RALPH_LOOP_ID setsid -w '],
  ['through another shell', `env -u RALPH_LOOP_ID sh -c '"$@"; exit $?' sh `],
]

async function inHome<Result>(place: Place, work: (context: Context) => Promise<Result>): Promise<Result> {
  const { home, dir, env } = place
  const context = openContext({ root: resolve('.'), home, env, cwd: () => dir, note: () => {} })
  try {
    return await work(context)
  } finally {
    await context.close()
  }
}

/** A loop that waits until something is allowed. */
async function makeBent(place: Place): Promise<void> {
  const work = { ...specOf().work, dir: place.dir, agent: 'command:true' }
  await inHome(place, (context) => bentLoop(context, 'bent-1', { work }))
}

describe.each(WAYS)('%s', (_, before) => {
  test('an agent can allow nothing', async () => {
    const place = makePlace()
    await makeBent(place)
    const agent = place.agent(`${before}${RALPH} allow bent-1 > '${place.root}/said' 2>&1; echo $? > code.txt`)
    await place.ralph(['run', 'Do it.', '--agent', agent, '--max-iterations', '1'])
    expect(place.read('code.txt')).toBe('2\n')
    expect(place.read('../said')).toMatch(/^ralph: The agent inside loop \S+ cannot do this: a person must/)
    const order = await inHome(place, (context) => context.store().nextOrder('bent-1'))
    expect(order).toBeUndefined()
  })

  test('an agent can accept nothing', async () => {
    const place = makePlace()
    const works = place.agent('echo done > work.txt; echo "<promise>COMPLETE</promise>"')
    await place.ralph(['run', 'Do it.', '--agent', works, '--worktree'])
    const [{ id } = {}] = query(place, 'SELECT id FROM loop')
    const agent = place.agent(`${before}${RALPH} accept ${id} > '${place.root}/said' 2>&1; echo $? > code.txt`)
    await place.ralph(['run', 'Do it.', '--agent', agent, '--max-iterations', '1'])
    expect(place.read('code.txt')).toBe('2\n')
    expect(existsSync(join(place.dir, 'work.txt'))).toBe(false)
    expect((await place.ralph(['accept', String(id)])).code).toBe(0)
    expect(existsSync(join(place.dir, 'work.txt'))).toBe(true)
  })
})

/** The same for an agent in a pane, which may also call its home something else. */
const PANE_WAYS: [how: string, before: string][] = [
  ['plainly', ''],
  ['without RALPH_PANE', 'env -u RALPH_PANE '],
  ['in its own session', 'env -u RALPH_PANE setsid -w '],
  ['under another name for the home', 'ln -s "$RALPH_HOME" home; env -u RALPH_PANE RALPH_HOME="$PWD/home" '],
  ['from a home that it made up first', 'RALPH_HOME="$PWD/none" env RALPH_HOME="$RALPH_HOME" '],
]

describe('an agent in a pane', () => {
  /** Its output and exit code, below a shell with the environment of a pane. */
  function inPane({ dir, env, home }: Place, line: string): { status: number | null; stderr: string } {
    const its = { ...env, RALPH_HOME: home, RALPH_PANE: 'c0ffee/api' }
    const { status, stderr } = spawnSync('sh', ['-c', `${line}; exit $?`], { cwd: dir, env: its, encoding: 'utf8' })
    return { status, stderr }
  }

  test.each(PANE_WAYS)('can allow nothing: %s', async (_, before) => {
    const place = makePlace({ git: false })
    await makeBent(place)
    expect(inPane(place, `${before}${RALPH} allow bent-1`)).toEqual({
      ...{ status: 2, stderr: expect.stringContaining('The agent in pane api cannot do this: a person must') },
    })
    expect(await inHome(place, (context) => context.store().nextOrder('bent-1'))).toBeUndefined()
  })

  test('can try ralph in a home of its own', async () => {
    const [place, other] = [makePlace({ git: false }), makePlace({ git: false })]
    await makeBent(other)
    expect(inPane(place, `RALPH_HOME='${other.home}' ${RALPH} allow bent-1`)).toEqual({ status: 0, stderr: '' })
  })
})

describe('the agent of a session with a loop', () => {
  test('cannot allow anything from its own shell; a person in a terminal can', async () => {
    const place = makePlace({ git: false })
    await makeBent(place)
    // This test starts everything below the host of the session.
    await openSession(place, { env: { CLAUDE_PID: String(process.pid) } }).type('/ralph:loop Build it')
    const refused = await place.ralph(['allow', 'bent-1'], { apart: true })
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/The agent inside loop \S+ cannot do this/),
    })
    const outside = openSession(place, { id: 's-2', env: { CLAUDE_PID: '4194305' } })
    await openSession(place, { env: { CLAUDE_PID: String(process.pid) } }).type('/ralph:cancel')
    await outside.type('/ralph:loop Build more')
    expect((await place.ralph(['allow', 'bent-1'], { apart: true })).code).toBe(0)
  })
})

describe('a person', () => {
  test('can allow, and the loop continues', async () => {
    const place = makePlace({ git: false })
    await makeBent(place)
    const { code, stdout, stderr } = await place.ralph(['allow', 'bent-1', 'test/a.test.ts'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('Allowed loop bent-1 to keep its changes to test/a.test.ts.\n')
    expect(stdout).toContain('were allowed by you.')
  })

  test("can allow an agent's change to a test, which is then checked as it is", async () => {
    const place = makePlace()
    place.write('sum.mjs', 'export const sum = (a, b) => a - b\n')
    place.write('sum.test.mjs', SUM_TEST)
    commitAll(place)
    const agent = place.agent(`echo > sum.test.mjs; date +%N > work.txt; echo "<promise>COMPLETE</promise>"`)
    const bent = await place.ralph(['run', 'Fix it.', '--agent', agent, '--verify', 'node sum.test.mjs', '--json'])
    expect({ code: bent.code, status: bent.end.status, calls: place.calls().length }).toEqual({
      ...{ code: 4, status: 'needs-input', calls: 2 },
    })
    const allowed = await place.ralph(['allow', onlyLoop(place), 'sum.test.mjs', '--json'])
    expect(allowed).toMatchObject({ code: 0, end: { status: 'completed' } })
    expect(place.calls()).toHaveLength(2)
    expect((await place.ralph(['show', onlyLoop(place)])).stdout).toContain('sum.test.mjs were allowed by you')
  })

  test('can read the answer as JSON', async () => {
    const place = makePlace({ git: false })
    await makeBent(place)
    const { lines, end } = await place.ralph(['allow', 'bent-1', '--json'])
    expect(lines[0]).toEqual({
      ...{ type: 'allow', loop_id: 'bent-1', paths: ['test/a.test.ts'] },
      ...{ heard: 'nobody', status: 'needs-input' },
    })
    expect(end).toMatchObject({ type: 'loop-end', loop_id: 'bent-1', status: 'completed' })
  })

  test('gets a clear error for wrong use', async () => {
    const place = makePlace({ git: false })
    expect(await place.ralph(['allow'])).toMatchObject({ code: 2, stderr: expect.stringContaining('Name a loop') })
    await makeBent(place)
    const wrong = await place.ralph(['allow', 'bent-1', 'src/b.ts'])
    expect(wrong).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        '"src/b.ts" is not one of the changes that loop bent-1 is waiting for: test/a.test.ts. Name one of them',
      ),
    })
  })
})

/**
 * What completes a loop cannot be fooled: each mechanism once; `npm run test:proof` has them all, with real test
 * runners.
 */
import { mkdirSync, renameSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { execute, done as reported, sh, statuses, makeProject as withTasks } from './project-place.ts'
import { CLAIM, endOf, projectOf, runLoop, writeFiles } from './proof/place.ts'
import { type Row, runRow } from './proof/rows.ts'
import { commitAll, onlyLoop, type Place } from './ralph.ts'
import { openSession } from './session-place.ts'

const SCRIPT = projectOf('script', 'red')
const WEAK = "sed -i 's/exit 1/:/' helper.sh"
const FIX = "sed -i 's/a - b/a + b/' sum.sh"

const tests = (lines: string) => `test/sum.test.js; ${lines}`

describe.concurrent('a loop of ralph run', () => {
  test.each<Row>([
    { name: 'that changes nothing while the tests were green', start: 'green', agent: ':', ends: 'kept' },
    { name: 'that only writes a note while they were green', start: 'green', agent: 'echo x > NOTES.md', ends: 'kept' },
    {
      name: 'that replaces the test script with true',
      check: 'npm test',
      agent: `sed -i 's/"test": ".*"/"test": "true"/' package.json`,
      ends: 'waits',
    },
    { name: 'that deletes the failing test', agent: 'rm -f test/sum.test.js', ends: 'waits' },
    { name: 'that edits the assertion', agent: `sed -i 's/, 5)/, -1)/' ${tests(':')}`, ends: 'waits' },
    {
      name: 'until a command passes that already passes',
      start: 'green',
      agent: 'echo x > NOTES.md',
      flags: ['--until', 'node --test'],
      ends: 'verified',
      also: (_, place) => expect(place.calls()).toEqual([]),
    },
    { name: 'that does the work', agent: "sed -i 's/a - b/a + b/' src/sum.js", ends: 'verified' },
  ])('$name', async (row) => {
    const { ran, place } = await runRow('node', row)
    expect(endOf(ran), `${ran.end.sentence}`).toBe(row.ends)
    row.also?.(ran, place)
  })

  test('weakens a helper of the check', async () => {
    const { ran, place } = await runRow('script', { name: '', agent: WEAK, ends: 'waits' })
    expect(endOf(ran)).toBe('waits')
    expect(ran.code).toBe(4)
    expect(place.prompt(2)).toContain('Only your changes to helper.sh make them pass')
  })
})

describe.concurrent('the same trick', () => {
  test('in a task of a project', async () => {
    const place = withTasks([{ id: 'T1', verify: './check.sh' }])
    writeFiles(place, SCRIPT.files)
    commitAll(place)
    const turn = [sh(WEAK), reported]
    const ran = await execute(place, { T1: [turn, turn, turn] })
    expect(ran.code).not.toBe(0)
    expect(statuses(place)).not.toContain('completed')
    expect(ran.stdout).not.toContain('"proof":"verified"')
  })

  test('next to honest work in a task of a project', async () => {
    const place = withTasks([{ id: 'T1', verify: './check.sh' }])
    writeFiles(place, SCRIPT.files)
    commitAll(place)
    const ran = await execute(place, { T1: [[sh(FIX), reported]] })
    expect([ran.code, statuses(place)]).toEqual([0, 'T1 completed'])
    expect(ran.stdout).toContain('"proof":"verified"')
  })

  test('in a task of a vault', async () => {
    const place = makeVault([[{ shell: ['sh', '-c', `${WEAK}; mv "$RALPH_TASK_FILE" "$RALPH_VAULT/Done/"`] }]])
    const agent = `scripted:${place.root}/script.json`
    const ran = await place.ralph(['watch', place.dir, '--agent', agent, '--json', '--once', '--max-iterations', '3'])
    expect(ran.code).toBe(4)
    expect(ran.stdout).not.toMatch(/"proof":"(verified|tested)"/)
    expect(ran.stdout).not.toContain('"status":"completed"')
  })

  test('in a session of an agent', async () => {
    const place = makeScripts()
    const session = openSession(place)
    const begun = await session.type('/ralph:loop Build it --completion-promise DONE --verify ./check.sh')
    expect(begun.said).toContain('before: ./check.sh fails')
    place.write('helper.sh', 'expect() { :; }\n')
    const refused = await session.stop('It is done.\n\n<promise>DONE</promise>')
    expect(refused.prompt).toContain('You said you were done, but you are not')
    const waits = await session.stop('It is done.\n\n<promise>DONE</promise>')
    expect(`${waits.said}${waits.prompt}`).not.toMatch(/proof: (verified|tested)/)
    expect(waits.said).toContain('helper.sh')
  })
})

function makeScripts(): Place {
  const place = withTasks([])
  writeFiles(place, SCRIPT.files)
  commitAll(place)
  return place
}

function makeVault(turns: readonly (readonly object[])[]): Place {
  const place = makeScripts()
  place.env.RALPH_QUIET_SECONDS = '0.3'
  place.script(turns)
  const folder = join(place.dir, 'Needs_Action')
  mkdirSync(folder)
  const file = join(place.root, 'a.md')
  writeFileSync(file, '---\nverify: ./check.sh\n---\nDo it.\n')
  const then = Date.now() / 1_000 - 60
  utimesSync(file, then, then)
  renameSync(file, join(folder, 'a.md'))
  return place
}

test('a way around the seal needs a person', async () => {
  const place = makeScripts()
  const ran = await runLoop(place, `${WEAK}\n${CLAIM}`, ['--verify', './check.sh'])
  expect(ran.end).toMatchObject({ status: 'needs-input' })
  const allowed = await place.ralph(['allow', onlyLoop(place), '--json'])
  expect(allowed.end).toMatchObject({ status: 'completed' })
  expect(allowed.end.proof).not.toBe('verified')
})

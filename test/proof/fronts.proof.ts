/**
 * The simple tricks in every front: `run`, with and without a sandbox, `execute`, `watch`, and a session through the
 * hook program.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, renameSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { done, execute, sh, statuses, makeProject as withTasks } from '../project-place.ts'
import { commitAll, makePlace, type Place, query } from '../ralph.ts'
import { openSession } from '../session-place.ts'
import { CLAIM, endOf, makeProject, projectOf, runLoop, type Start, writeFiles } from './place.ts'

type Trick = { name: string; start: Start; lines: string; ends: 'kept' | 'waits' }

const TRICKS: readonly Trick[] = [
  { name: 'changes nothing while the tests were green', start: 'green', lines: ':', ends: 'kept' },
  { name: 'writes a note while the tests were green', start: 'green', lines: 'echo x > NOTES.md', ends: 'kept' },
  {
    name: 'replaces the test script with true',
    start: 'red',
    lines: `sed -i 's/"test": ".*"/"test": "true"/' package.json`,
    ends: 'waits',
  },
  { name: 'deletes the failing test', start: 'red', lines: 'rm -f test/sum.test.js', ends: 'waits' },
  { name: 'edits the assertion', start: 'red', lines: "sed -i 's/, 5)/, -1)/' test/sum.test.js", ends: 'waits' },
]

const CHECK = 'npm test'

describe.concurrent.each(TRICKS)('an agent that $name', ({ start, lines, ends }) => {
  const { files } = projectOf('node', start)

  test.for<[string, string[]]>([
    ['ralph run', []],
    ['ralph run --sandbox', ['--sandbox']],
    ['ralph run --worktree', ['--worktree']],
  ])('in %s', async ([, flags], { skip }) => {
    if (flags.includes('--sandbox') && !hasBubblewrap()) skip('bubblewrap is not installed')
    const place = makeProject(projectOf('node', start))
    const ran = await runLoop(place, `${lines}\n${CLAIM}`, ['--verify', CHECK, ...flags])
    expect(endOf(ran), `${ran.end.sentence}`).toBe(ends)
  })

  test('in ralph execute', async () => {
    const place = withTasks([{ id: 'T1', verify: CHECK }])
    writeFiles(place, files)
    commitAll(place)
    const turn = [sh(lines), done]
    const ran = await execute(place, { T1: [turn, turn, turn, turn] })
    expect(statuses(place) === 'T1 completed' ? proofIn(place) : 'waits').toBe(ends)
    expect(ran.code).toBe(ends === 'kept' ? 0 : 4)
  })

  test('in ralph watch', async () => {
    const place = makeVault(start, lines)
    const agent = `scripted:${place.root}/script.json`
    const ran = await place.ralph(['watch', place.dir, '--agent', agent, '--json', '--once', '--max-iterations', '4'])
    expect(proofIn(place) ?? 'waits').toBe(ends)
    expect(ran.code).toBe(ends === 'kept' ? 0 : 4)
  })

  test('in a session', async () => {
    const place = makePlace()
    writeFiles(place, files)
    commitAll(place)
    const session = openSession(place)
    await session.type(`/ralph:loop Add a dark mode --completion-promise DONE --verify "${CHECK}"`)
    execFileSync('sh', ['-c', lines], { cwd: place.dir })
    for (let turn = 1; turn <= 3 && proofIn(place) === undefined; turn++)
      await session.stop('It is done.\n\n<promise>DONE</promise>')
    expect(proofIn(place) ?? 'waits').toBe(ends)
  })
})

/** The grade of the completed loop, if there is one. */
function proofIn(place: Place): string | undefined {
  return query(place, 'SELECT proof FROM loop WHERE proof IS NOT NULL').map(({ proof }) => String(proof))[0]
}

function makeVault(start: Start, lines: string): Place {
  const place = makePlace()
  writeFiles(place, projectOf('node', start).files)
  place.env.RALPH_QUIET_SECONDS = '0.3'
  const turn = [{ shell: ['sh', '-c', `${lines}; mv "$RALPH_TASK_FILE" "$RALPH_VAULT/Done/" 2>/dev/null || true`] }]
  place.script([turn, turn, turn, turn])
  mkdirSync(join(place.dir, 'Needs_Action'))
  commitAll(place)
  const file = join(place.root, 'a.md')
  writeFileSync(file, `---\nverify: ${CHECK}\n---\nAdd a dark mode.\n`)
  const then = Date.now() / 1_000 - 60
  utimesSync(file, then, then)
  renameSync(file, join(place.dir, 'Needs_Action', 'a.md'))
  return place
}

function hasBubblewrap(): boolean {
  try {
    execFileSync('bwrap', ['--ro-bind', '/', '/', 'true'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

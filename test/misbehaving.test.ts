/** Agents that lie, echo, ask, stall, crash or are rate-limited: each loop ends as it must, whatever the agent says. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { commitAll, LAUNCHER, type Line, makePlace, onlyLoop, type Place, query, type Ran, until } from './ralph.ts'

const FAILING_SUITE = `import { test } from 'node:test'
test('two and two', () => { throw new Error('two and two is not five') })
`

/** Writes something new on every call, so that the loop makes progress. */
const WORKS = 'echo "$RALPH_ITERATION" >> progress.txt'
const CLAIMS = 'echo "<promise>COMPLETE</promise>"'

function run(place: Place, agent: string, ...flags: string[]): Promise<Ran> {
  return place.ralph(['run', 'Do the task.', '--agent', agent, '--json', ...flags])
}

/** The outcome of a loop, from the last line of `--json`. */
function outcome(place: Place, { code, end }: Ran): object {
  const { status, reason, proof, iterations } = end
  return { code, status, reason, proof, iterations, calls: place.calls().length }
}

const halted = (reason: string, counts: { iterations: number; calls: number }, code = 1) => ({
  code,
  status: 'halted',
  reason,
  proof: null,
  ...counts,
})

const complete = (proof: 'verified' | 'kept' | 'claimed', calls: number) => ({
  code: 0,
  status: 'completed',
  reason: null,
  proof,
  iterations: calls,
  calls,
})

const needsInput = (calls: number) => ({
  code: 4,
  status: 'needs-input',
  reason: null,
  proof: null,
  iterations: calls,
  calls,
})

function ofType({ lines }: Ran, type: string): Line[] {
  return lines.filter((line) => line.type === type)
}

function claims(place: Place): unknown[] {
  return query(place, 'SELECT claim FROM iteration ORDER BY n').map(({ claim }) => claim)
}

const GAVE_UP = halted('no-progress', { iterations: 3, calls: 3 })

describe.concurrent.each([
  { where: 'a git repository', git: true },
  { where: 'a plain folder', git: false },
])('in $where', ({ git }) => {
  test('a claim without work is refused every time by a failing test suite', async () => {
    const place = makePlace({ git })
    place.write('sum.test.mjs', FAILING_SUITE)
    if (git) commitAll(place)
    const ran = await run(place, place.agent(CLAIMS), '--verify', 'node --test')
    expect(outcome(place, ran)).toEqual(GAVE_UP)
    expect(ran.end.false_claims).toBe(3)
    expect(ofType(ran, 'check-end')).toHaveLength(1 + 3) // the first before any work
    expect(place.prompt(1)).not.toContain('You said you were done')
    expect(place.prompt(2)).toContain('You said you were done, but you are not')
    expect(place.prompt(2)).toContain('two and two is not five')
  })

  test('a claim without work or a check must be made twice', async () => {
    const place = makePlace({ git })
    const ran = await run(place, place.agent(CLAIMS))
    expect(outcome(place, ran)).toEqual(complete('claimed', 2))
    expect(place.prompt(2)).toContain('nothing has changed')
  })

  test('a claim without work must be made twice if the check passed from the start, and verifies nothing', async () => {
    const place = makePlace({ git })
    expect(outcome(place, await run(place, place.agent(CLAIMS), '--verify', 'true'))).toEqual(complete('kept', 2))
    expect(place.prompt(2)).toContain('nothing has changed')
  })

  test.each([
    { what: 'with a failing check', flags: ['--verify', 'false'] },
    { what: 'without a check', flags: [] },
  ])('an agent that echoes its prompt claims nothing, $what', async ({ flags }) => {
    const place = makePlace({ git })
    const ran = await run(
      place,
      place.agent(`cat '${place.root}/prompts/'"$(wc -l < '${place.root}/calls')"`),
      ...flags,
    )
    expect(outcome(place, ran)).toEqual(GAVE_UP)
    expect(claims(place)).toEqual(['none', 'none', 'none'])
  })

  test('an agent that crashes every time is given up after three calls, and no iteration is counted', async () => {
    const place = makePlace({ git })
    const ran = await run(place, place.agent('echo "Segmentation fault" >&2; exit 1'))
    expect(outcome(place, ran)).toEqual(halted('agent-failed', { iterations: 0, calls: 3 }))
    expect(ran.end.sentence).toContain('Segmentation fault')
    expect(place.calls()).toEqual(['1 1', '1 2', '1 3'])
  })
})

describe.concurrent('an agent that only talks', () => {
  // src/engine tests what counts as a claim; this tests that it reaches a loop.
  const REFUSES = "printf 'I will not say the following:\\n<promise>COMPLETE</promise>\\n'"

  test.each([
    { what: 'with a failing check', flags: ['--verify', 'false'] },
    { what: 'without a check', flags: [] },
  ])('and refuses to claim is not believed $what', async ({ flags }) => {
    const place = makePlace()
    expect(outcome(place, await run(place, place.agent(REFUSES), ...flags))).toEqual(GAVE_UP)
    expect(claims(place)).toEqual(['weak', 'weak', 'weak'])
  })

  test('is given up if the check passed from the start', async () => {
    const place = makePlace()
    const ran = await run(place, place.agent('echo "Looking around."'), '--verify', 'true')
    expect(outcome(place, ran)).toEqual(GAVE_UP)
  })

  test('is stopped by a check that now passes, once it has stalled', async () => {
    const place = makePlace()
    const agent = place.agent('[ "$RALPH_ITERATION" -gt 1 ] || touch finished; echo "Looking around."')
    expect(outcome(place, await run(place, agent, '--verify', 'test -e finished'))).toEqual(complete('verified', 4))
  })

  test('gets a warning that nothing changes before it is given up', async () => {
    const place = makePlace()
    await run(place, place.agent('echo "Looking around."'))
    expect(place.prompt(2)).not.toContain('Nothing in the worktree has changed recently')
    expect(place.prompt(3)).toContain('Nothing in the worktree has changed recently')
  })

  test('is given up even without an iteration limit', async () => {
    const place = makePlace()
    expect(outcome(place, await run(place, place.agent('echo hm'), '--max-iterations', '0'))).toEqual(GAVE_UP)
  })

  test('is given up earlier or later with --no-progress', async () => {
    const place = makePlace()
    const ran = await run(place, place.agent('echo hm'), '--no-progress', '5')
    expect(outcome(place, ran)).toEqual(halted('no-progress', { iterations: 5, calls: 5 }))
  })

  test('makes no progress by writing files that git ignores', async () => {
    const place = makePlace()
    place.write('.gitignore', 'out/\n')
    commitAll(place)
    const ran = await run(place, place.agent('mkdir -p out; date +%s%N > out/now; echo "I wrote the output."'))
    expect(outcome(place, ran)).toEqual(GAVE_UP)
  })

  test('makes no progress through what the checks write', async () => {
    const place = makePlace()
    place.write('check.sh', '#!/bin/sh\ndate +%s%N | tee report.txt\nexit 1\n', 0o755)
    commitAll(place)
    expect(outcome(place, await run(place, place.agent(CLAIMS), '--verify', './check.sh'))).toEqual(GAVE_UP)
  })

  test('does not claim on stderr', async () => {
    const place = makePlace()
    expect(outcome(place, await run(place, place.agent(`${CLAIMS} >&2`)))).toEqual(GAVE_UP)
  })

  test('does not claim while it crashes', async () => {
    const place = makePlace()
    const ran = await run(place, place.agent(`${WORKS}; ${CLAIMS}; exit 1`))
    expect(outcome(place, ran)).toEqual(halted('agent-failed', { iterations: 0, calls: 3 }))
  })
})

describe.concurrent('an echo', () => {
  test('of a prompt that has the tag on its own line is no claim', async () => {
    const place = makePlace()
    const prompt = 'Do the task.\nWhen you are done, print this line:\n<promise>COMPLETE</promise>'
    const echo = place.agent(`echo "user:"; cat '${place.root}/prompts/'"$(wc -l < '${place.root}/calls')"`)
    const ran = await place.ralph(['run', prompt, '--agent', echo, '--json'])
    expect(outcome(place, ran)).toEqual(GAVE_UP)
  })

  test('before an answer does not hide the claim in the answer', async () => {
    const place = makePlace()
    const echo = `cat '${place.root}/prompts/'"$(wc -l < '${place.root}/calls')"`
    const ran = await run(place, place.agent(`${echo}; ${WORKS}; echo "It is all there."; ${CLAIMS}`))
    expect(outcome(place, ran)).toEqual(complete('claimed', 1))
  })
})

describe.concurrent('an agent that asks', () => {
  test.each([
    { what: 'with a failing check', flags: ['--verify', 'false'] },
    { what: 'without a check', flags: [] },
  ])('is answered once, then the user is asked, $what', async ({ flags }) => {
    const place = makePlace()
    const ran = await run(place, place.agent('echo "There are two ways. Which database should I use?"'), ...flags)
    expect(outcome(place, ran)).toEqual(needsInput(2))
    expect(place.prompt(2)).toContain('Nobody is available to answer.')
    expect(ran.end.sentence).toContain('Which database should I use?')
  })

  test("continues with the user's answer", async () => {
    const place = makePlace()
    const agent = place.agent(
      `if grep -q "A person says: use sqlite" '${place.root}/prompts/'"$(wc -l < '${place.root}/calls')"; then ${WORKS}; ${CLAIMS}; else echo "Which database should I use?"; fi`,
    )
    expect(outcome(place, await run(place, agent))).toEqual(needsInput(2))
    const steered = await place.ralph(['steer', onlyLoop(place), 'use sqlite', '--json'])
    expect(outcome(place, steered)).toEqual(complete('claimed', 3))
  })

  test('explicitly for a person is heeded at once', async () => {
    const place = makePlace()
    const ran = await run(place, place.agent('echo "I stopped."; echo "<ask>May I drop the table?</ask>"'))
    expect(outcome(place, ran)).toEqual(needsInput(1))
    expect(ran.end.sentence).toContain('May I drop the table?')
  })

  test('and works anyway does not stop the loop', async () => {
    const place = makePlace()
    const agent = place.agent(`${WORKS}; [ "$RALPH_ITERATION" = 4 ] && ${CLAIMS} || echo "Shall I go on?"`)
    expect(outcome(place, await run(place, agent))).toEqual(complete('claimed', 4))
  })

  test('for a permission that is denied twice waits for the user', async () => {
    const place = makePlace()
    const ran = await run(place, place.script([[{ denied: 'rm -rf node_modules' }, { text: 'I may not.' }]]))
    expect(outcome(place, ran)).toEqual({ ...needsInput(2), calls: 0 })
    expect(ran.end.sentence).toContain('rm -rf node_modules')
  })
})

describe.concurrent('a rate-limited agent', () => {
  // A time zone without daylight saving time, so that the next full hour is easy to compute.
  const TZ = 'Asia/Kolkata'
  const OFFSET_MS = 5.5 * 3_600_000
  const HOUR_MS = 3_600_000

  function nextHour(now: number, hoursAhead: number): { said: string; at: number } {
    const at = (Math.floor((now + OFFSET_MS) / HOUR_MS) + hoursAhead) * HOUR_MS - OFFSET_MS
    const hour = new Date(at + OFFSET_MS).getUTCHours()
    return { said: `${hour % 12 || 12}${hour < 12 ? 'am' : 'pm'}`, at }
  }

  const limited = (said: string) => `echo "You've hit your limit · resets ${said}"; exit 1`

  test('is waited for until the time it names, costs no iteration, and can be cancelled', async () => {
    const place = makePlace()
    const { said, at } = nextHour(Date.now(), 3)
    const going = place.start(['run', 'Do the task.', '--agent', place.agent(limited(said)), '--json'], { env: { TZ } })
    const { next } = await until('the wait', () => going.lines().find(({ type }) => type === 'iteration-end'))
    expect(next).toEqual({ kind: 'wait', why: 'limit', until: at })
    const [status] = (await place.ralph(['status', '--json'])).lines
    expect(status).toMatchObject({ status: 'waiting', iterations: 0, alive: true })
    expect((await place.ralph(['cancel'])).code).toBe(0)
    const ran = await going.ended
    expect(outcome(place, ran)).toMatchObject({ code: 130, status: 'cancelled', iterations: 0, calls: 1 })
  })

  test('that is back only after the time limit halts the loop at once', async () => {
    const place = makePlace()
    const { said } = nextHour(Date.now(), 3)
    const agent = place.agent(limited(said))
    const ran = await place.ralph(['run', 'Do the task.', '--agent', agent, '--timeout', '5', '--json'], {
      env: { TZ },
    })
    expect(outcome(place, ran)).toEqual(halted('timeout', { iterations: 0, calls: 1 }))
    expect(ran.end.sentence).toContain("You've hit your limit")
  })

  test.each([
    ['in the old format', 'echo "Claude AI usage limit reached"; exit 1', 'limit'],
    ['on stderr', 'echo "HTTP 429 Too Many Requests" >&2; exit 1', 'limit'],
    ['by overload', 'echo "API Error: 529 overloaded_error" >&2; exit 1', 'overload'],
  ])('that names no time, %s, is retried after a minute', async (_, lines, why) => {
    const place = makePlace()
    const going = place.start(['run', 'Do the task.', '--agent', place.agent(lines), '--json'])
    const line = await until('the wait', () => going.lines().find(({ type }) => type === 'iteration-end'))
    expect(line.next).toEqual({ kind: 'wait', why, until: Number(line.at) + 60_000 })
    expect((await place.ralph(['cancel'])).code).toBe(0)
    expect(outcome(place, await going.ended)).toMatchObject({ code: 130, iterations: 0, calls: 1 })
  })

  test('continues by itself after the wait', async () => {
    const place = makePlace()
    const agent = place.script([
      [
        { attempt: 1, 'rate-limit': { resetsInSeconds: 1, message: 'limited for a second' } },
        { edit: { path: 'a.txt', content: 'a' } },
        { text: '<promise>COMPLETE</promise>' },
      ],
    ])
    const ran = await run(place, agent)
    expect(ran.end).toMatchObject({ status: 'completed', proof: 'claimed', iterations: 1 })
    expect(ofType(ran, 'wait-end')).toHaveLength(1)
    expect(query(place, 'SELECT n, attempts FROM iteration')).toEqual([{ n: 1, attempts: 2 }])
  })

  test('that mentions limits while it works is not rate-limited', async () => {
    const place = makePlace()
    const ran = await run(place, place.agent(`${WORKS}; echo "The usage limit reached page is done."; ${CLAIMS}`))
    expect(outcome(place, ran)).toEqual(complete('claimed', 1))
  })
})

describe.concurrent('a loop without progress', () => {
  const tests = [{ shell: ['node', '--test'] }, { text: 'I ran the tests.' }]

  test('halts when three iterations only ran tests', async () => {
    const place = makePlace()
    const ran = await run(place, place.script([tests]))
    expect(ran).toMatchObject({ code: 1, end: { reason: 'test-only', iterations: 3 } })
  })

  test('halts after failed checks when three iterations only ran tests', async () => {
    const place = makePlace()
    const ran = await run(place, place.script([tests]), '--verify', 'false')
    expect(ran).toMatchObject({ code: 1, end: { reason: 'test-only', iterations: 3 } })
    expect(ofType(ran, 'check-end')).toHaveLength(1 + 1) // the first before any work
  })

  test('halts when three iterations only ran tests and the checks passed from the start', async () => {
    const place = makePlace()
    const ran = await run(place, place.script([tests]), '--verify', 'true')
    expect(ran).toMatchObject({ code: 1, end: { reason: 'test-only', iterations: 3 } })
  })

  test('completes when three iterations only ran tests and the checks now pass', async () => {
    const place = makePlace()
    const works = [{ edit: { path: 'finished', content: 'yes' } }, { text: 'Written.' }]
    const ran = await run(place, place.script([works, tests]), '--verify', 'test -e finished')
    expect(ran).toMatchObject({ code: 0, end: { proof: 'verified', iterations: 4 } })
  })

  test('halts when the same failure occurred five times, even though files change', async () => {
    const place = makePlace()
    place.write('sum.test.mjs', FAILING_SUITE)
    commitAll(place)
    const ran = await run(place, place.agent(`${WORKS}; ${CLAIMS}`), '--verify', 'node --test')
    expect(outcome(place, ran)).toEqual(halted('same-error', { iterations: 5, calls: 5 }))
    expect(place.prompt(5)).toContain('The same failure occurred 4 times in a row')
  })

  test('halts at --same-error', async () => {
    const place = makePlace()
    const ran = await run(place, place.agent(`${WORKS}; ${CLAIMS}`), '--verify', 'false', '--same-error', '2')
    expect(outcome(place, ran)).toEqual(halted('same-error', { iterations: 2, calls: 2 }))
  })

  test('halts when its iterations are used up, and says so', async () => {
    const place = makePlace()
    const ran = await run(place, place.agent(`${WORKS}; echo "Some more."`), '--max-iterations', '4')
    expect(outcome(place, ran)).toEqual(halted('max-iterations', { iterations: 4, calls: 4 }))
    expect(ran.end.sentence).toContain('Reached the limit of 4 iterations.')
  })

  test('halts at its token and cost limits', async () => {
    const turn = [{ usage: { tokens: 600, costUsd: 0.5 } }, { shell: ['sh', '-c', 'date +%N >> log'] }, { text: 'On.' }]
    const place = makePlace()
    const tokens = await run(place, place.script([turn]), '--max-tokens', '1000')
    expect(tokens).toMatchObject({ code: 1, end: { reason: 'tokens', iterations: 2, tokens: 1200 } })
    const cost = await run(place, place.script([turn]), '--max-cost', '1.2')
    expect(cost).toMatchObject({ code: 1, end: { reason: 'cost', iterations: 3, cost_usd: 1.5 } })
  })
})

describe.concurrent('a loop that is done', () => {
  test.each([
    { how: 'with a claim', say: CLAIMS },
    { how: 'without a claim', say: ':' },
  ])('on its last allowed iteration is done, $how', async ({ say }) => {
    const place = makePlace()
    const agent = place.agent(`${WORKS}; [ "$RALPH_ITERATION" -lt 3 ] || { touch finished; ${say}; }`)
    const ran = await run(place, agent, '--verify', 'test -e finished', '--max-iterations', '3')
    expect(outcome(place, ran)).toEqual(complete('verified', 3))
  })

  test('is done at the first claim if it changed something and there is no check', async () => {
    const place = makePlace()
    const ran = await run(place, place.agent(`${WORKS}; ${CLAIMS}`))
    expect(outcome(place, ran)).toEqual(complete('claimed', 1))
  })

  test('is done at the second weak claim in a row', async () => {
    const place = makePlace()
    const ran = await run(place, place.agent(`${WORKS}; ${CLAIMS}; echo "The tests are green."`))
    expect(outcome(place, ran)).toEqual(complete('claimed', 2))
    expect(place.prompt(2)).toContain('If you are done, put <promise>COMPLETE</promise> alone on the last line')
  })

  test('is done when a phrase is repeated and nothing has changed since', async () => {
    const place = makePlace()
    const agent = place.agent(`[ "$RALPH_ITERATION" -gt 2 ] || { ${WORKS}; }; echo "All tests passing."`)
    expect(outcome(place, await run(place, agent))).toEqual(complete('claimed', 3))
  })

  test.each([
    { signal: 'TASK_COMPLETE', flags: [] },
    { signal: 'SHIP IT', flags: ['--signal', 'SHIP IT'] },
  ])('may say $signal', async ({ signal, flags }) => {
    const place = makePlace()
    const ran = await run(place, place.agent(`${WORKS}; echo "It works."; echo "${signal}"`), ...flags)
    expect(outcome(place, ran)).toEqual(complete('claimed', 1))
  })

  test('reports every failing check at once', async () => {
    const place = makePlace()
    const agent = place.agent(`${WORKS}; [ "$RALPH_ITERATION" = 1 ] || touch a b; ${CLAIMS}`)
    const ran = await run(place, agent, '--verify', 'ls a', '--verify', 'ls b', '--verify', 'true')
    expect(outcome(place, ran)).toEqual(complete('verified', 2))
    expect(place.prompt(2)).toContain('The check `ls a` failed.')
    expect(place.prompt(2)).toContain('The check `ls b` failed.')
    expect(place.prompt(2)).not.toContain('The check `true` failed.')
  })
})

describe.concurrent('--until', () => {
  test('needs no claim and no prompt', async () => {
    const place = makePlace()
    const agent = place.agent(`${WORKS}; [ "$RALPH_ITERATION" -lt 2 ] || touch finished`)
    const ran = await place.ralph(['run', '--until', 'test -e finished', '--agent', agent, '--json'])
    expect(outcome(place, ran)).toEqual(complete('verified', 2))
    expect(place.prompt(1)).toMatch(/^Make the command `test -e finished` pass\./)
  })

  test('does not end on a claim alone', async () => {
    const place = makePlace()
    const ran = await run(place, place.agent(CLAIMS), '--until', 'false')
    expect(outcome(place, ran)).toEqual(GAVE_UP)
  })
})

describe.concurrent('stages', () => {
  const says = (stage: string, ...more: object[]) => [...more, { text: `<promise>${stage}</promise>` }]
  const edit = (path: string, content = path) => ({ edit: { path, content } })
  const STAGES = ['--stage', 'ONE=test -e one', '--stage', 'TWO=test -e two']

  test('pass one after the other, each by its own check', async () => {
    const place = makePlace()
    const turns = [says('ONE', edit('one')), says('TWO', edit('other')), says('TWO', edit('two'))]
    const ran = await run(place, place.script(turns), ...STAGES)
    expect(ran).toMatchObject({ code: 0, end: { proof: 'verified', iterations: 3, false_claims: 1 } })
  })

  test('are claimed in order', async () => {
    const place = makePlace()
    const turns = [says('TWO', edit('two')), says('ONE', edit('one')), says('TWO', edit('two', 'again'))]
    const ran = await run(place, place.script(turns), ...STAGES)
    expect(ran).toMatchObject({ code: 0, end: { proof: 'verified', iterations: 3 } })
  })

  test('are all checked again at the end', async () => {
    const place = makePlace()
    const breakIt = { shell: ['rm', 'one'] }
    const turns = [
      says('ONE', edit('one')),
      says('TWO', edit('two'), breakIt),
      says('ONE', edit('one')),
      says('TWO', edit('two', 'again')),
    ]
    const ran = await run(place, place.script(turns), ...STAGES)
    expect(ran).toMatchObject({ code: 0, end: { proof: 'verified' } })
    expect(place.read('one')).toBe('one')
  })

  test("without checks pass on the agent's claim", async () => {
    const place = makePlace()
    const turns = [says('ONE', edit('one')), says('TWO', edit('two'))]
    const ran = await run(place, place.script(turns), '--stage', 'ONE', '--stage', 'TWO')
    expect(ran).toMatchObject({ code: 0, end: { proof: 'claimed', iterations: 2 } })
  })
})

describe.concurrent('a wrapped prompt', () => {
  const wrapped = `Build the parser.

IMPORTANT COMPLETION CRITERIA:
- Work on this task iteratively until all requirements are met
- Maximum iterations allowed: 2
- Test and validate your work thoroughly
- When you have fully completed all requirements and all tests pass,
  output exactly: <promise>PARSER READY</promise>
- Do NOT output the completion promise unless the task is actually complete

The task will loop until you output the completion signal or reach the iteration limit.`

  test('brings its own limit', async () => {
    const place = makePlace()
    const ran = await place.ralph(['run', wrapped, '--agent', place.agent(`${WORKS}; ${CLAIMS}`), '--json'])
    expect(outcome(place, ran)).toEqual(halted('max-iterations', { iterations: 2, calls: 2 }))
  })

  test('brings its own promise', async () => {
    const place = makePlace()
    const agent = place.agent(`${WORKS}; echo "<promise>PARSER READY</promise>"`)
    expect(outcome(place, await place.ralph(['run', wrapped, '--agent', agent, '--json']))).toEqual(
      complete('claimed', 1),
    )
    expect(place.prompt(1)).toMatch(/^Build the parser\.\n\n---/)
  })

  test('is overridden by flags', async () => {
    const place = makePlace()
    const flags = ['--max-iterations', '3', '--completion-promise', 'COMPLETE']
    const agent = place.agent(`${WORKS}; [ "$RALPH_ITERATION" -lt 3 ] || ${CLAIMS}`)
    const ran = await place.ralph(['run', wrapped, '--agent', agent, '--json', ...flags])
    expect(outcome(place, ran)).toEqual(complete('claimed', 3))
  })

  test('is no claim when it is echoed', async () => {
    const place = makePlace()
    const ran = await place.ralph(['run', wrapped, '--agent', place.agent(`printf '%s' '${wrapped}'`), '--json'])
    expect(outcome(place, ran)).toEqual(halted('max-iterations', { iterations: 2, calls: 2 }))
  })
})

/**
 * What an agent may try instead of the work: its check fails, and nothing it types or writes turns that into a proof.
 */
describe.concurrent('an agent that excuses itself', () => {
  const RALPH = `'${process.execPath}' '${LAUNCHER}'`
  const LIES = {
    next: JSON.stringify({ kind: 'complete', proof: 'verified', sentence: 'All is well.' }),
    proof: 'verified',
    status: 'completed',
  }

  /** Statements for ralph's database, run by node during a turn. */
  function writes({ home, root }: Place, sql: string): string {
    const file = join(root, 'forge.mjs')
    const path = JSON.stringify(join(home, 'ralph.db'))
    writeFileSync(
      file,
      `import { DatabaseSync } from 'node:sqlite'
const database = new DatabaseSync(${path}, { timeout: 5000 })
database.exec(${JSON.stringify(sql)})
`,
    )
    return `'${process.execPath}' '${file}' 2>> '${root}/forge.err'`
  }

  const TRICKS: [trick: string, lines: (place: Place) => string][] = [
    ['types ralph allow', () => `${RALPH} allow "$RALPH_LOOP_ID"; ${CLAIMS}`],
    [
      'types ralph allow without its own environment',
      () => `id=$RALPH_LOOP_ID; env -i ${RALPH} allow "$id"; ${CLAIMS}`,
    ],
    ['types ralph accept', () => `${RALPH} accept "$RALPH_LOOP_ID"; ${CLAIMS}`],
    ['types ralph resume', () => `${RALPH} resume "$RALPH_LOOP_ID"; ${CLAIMS}`],
    [
      'writes the end into the row of its loop',
      (place) => `${writes(place, `UPDATE loop SET ${set(LIES)}`)}; ${CLAIMS}`,
    ],
    [
      'writes into the tally of its loop that the check passed',
      (place) =>
        `${writes(place, `UPDATE loop SET tally = json_set(tally, '$.before', json('[{"check":"false","result":"fail"}]'), '$.after', json('[{"check":"false","result":"pass"}]'), '$.allowed', json('[{"path":"","by":"you"}]'))`)}; ${CLAIMS}`,
    ],
    [
      'removes the checks from its spec',
      (place) => `${writes(place, `UPDATE loop SET spec = json_set(spec, '$.checks', json('["true"]'))`)}; ${CLAIMS}`,
    ],
    [
      'writes an event that says everything passed',
      (place) =>
        `${writes(place, `INSERT INTO event (loop, n, at, fact, next) SELECT id, events + 100, 0, '{"kind":"checked","at":0,"verdicts":[{"check":"false","result":"pass","tail":""}],"findings":[]}', '${LIES.next}' FROM loop`)}; ${CLAIMS}`,
    ],
    [
      'writes an order in the name of the user',
      (place) =>
        `${writes(place, `INSERT INTO told (loop, at, by, "order") SELECT id, 0, 'you', '{"kind":"allow","paths":[]}' FROM loop; INSERT INTO told (loop, at, by, "order") SELECT id, 0, 'you', '{"kind":"done"}' FROM loop`)}; ${CLAIMS}`,
    ],
    [
      'writes iterations that never happened',
      (place) =>
        `${writes(place, `INSERT INTO iteration (loop, n, attempts, started_at, ended_at, agent, "end", claim, tokens, words) SELECT id, iteration + k.n, 1, 0, 0, '', 'ok', 'clear', 0, '' FROM loop, (SELECT 1 AS n UNION SELECT 2) AS k; UPDATE loop SET ${set(LIES)}`)}; ${CLAIMS}`,
    ],
    [
      'takes the loop over',
      (place) => `${writes(place, `UPDATE loop SET epoch = epoch + 1, ${set(LIES)}`)}; ${CLAIMS}`,
    ],
  ]

  test.each(TRICKS)('and %s achieves nothing', async (_, lines) => {
    const place = makePlace()
    const ran = await run(place, place.agent(lines(place)), '--verify', 'false')
    expect(outcome(place, ran)).toEqual(GAVE_UP)
    const known = () => query(place, 'SELECT status, reason, proof, iteration, spec FROM loop')
    expect(known()).toEqual([
      {
        ...{ status: 'halted', reason: 'no-progress', proof: null, iteration: 3 },
        spec: expect.stringContaining('"checks":["false"]'),
      },
    ])
    const told = existsSync(join(place.root, 'forge.err'))
      ? place.read('../forge.err').replace(/.*Warning.*\n/g, '')
      : ''
    expect(told).toBe('')
    const before = known()
    expect((await place.ralph(['doctor', '--rebuild'])).code).toBe(0)
    expect(known()).toEqual(before)
  })

  test('that bent its check and allows that itself still waits for a person', async () => {
    const place = makePlace()
    place.write('check.sh', 'test -e finished\n')
    commitAll(place)
    const order = `INSERT INTO told (loop, at, by, "order") SELECT id, 0, 'you', '{"kind":"allow","paths":["check.sh"]}' FROM loop`
    const agent = place.agent(
      `echo true > check.sh; ${RALPH} allow "$RALPH_LOOP_ID" check.sh; ${writes(place, order)}; ${CLAIMS}`,
    )
    const ran = await run(place, agent, '--verify', 'sh check.sh')
    expect(outcome(place, ran)).toEqual(needsInput(2))
    expect(ran.end.sentence).toContain("The checks pass only because of the agent's changes to check.sh")
  })

  function set(values: Record<string, string>): string {
    return Object.entries(values)
      .map(([name, value]) => `${name} = '${value}'`)
      .join(', ')
  }
})

import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type CheckPlace, runCheck } from './check.ts'
import { eventually, running, source, startScript, temporaryFolder } from './place.test-support.ts'

let dir: string
let marker: string

beforeEach(() => {
  dir = temporaryFolder()
  marker = randomUUID()
})

afterEach(async () => {
  await eventually(() => running(marker).length === 0, 500).catch(() => {})
  const left = running(marker)
  for (const pid of left) process.kill(pid, 'SIGKILL')
  expect(left, 'processes that outlived their check').toEqual([])
})

function check(command: string, place: Partial<CheckPlace> = {}) {
  const env = { ...process.env, MARKER: marker }
  return runCheck(command, { dir, env, minutes: 1, signal: new AbortController().signal, ...place })
}

/** A check that is a script of these lines. */
function script(lines: string): string {
  writeFileSync(join(dir, 'check.sh'), `#!/bin/sh\n${lines}\n`, { mode: 0o755 })
  return './check.sh'
}

describe('a check', () => {
  test('passes with exit code 0, with the end of its output', async () => {
    const command = script('echo fine')
    expect(await check(command)).toEqual({ check: command, result: 'pass', tail: 'fine\n' })
  })

  test('fails with any other exit code, with its output on both streams', async () => {
    const command = script('echo out; echo err >&2; exit 3')
    const verdict = await check(command)
    expect(verdict).toMatchObject({ check: command, result: 'fail' })
    expect(verdict?.tail.split('\n').sort()).toEqual(['', 'err', 'out'])
  })

  test.each([
    ['exit 4', 'exit code 4'],
    ['kill -SEGV $$', 'SIGSEGV'],
  ])('that fails without output says how: %s', async (lines, how) => {
    expect(await check(script(lines))).toMatchObject({ result: 'fail', tail: expect.stringContaining(how) })
  })

  test('whose interpreter is missing is broken; one that itself runs into a missing program fails', async () => {
    writeFileSync(join(dir, 'odd.sh'), '#!/no/such/interpreter\n', { mode: 0o755 })
    expect(await check('./odd.sh')).toMatchObject({ result: 'broken', tail: expect.stringContaining('interpreter') })
    expect(await check(script('no-such-program-here'))).toMatchObject({ result: 'fail' })
  })

  test('reports how many failures there are, if its output says so', async () => {
    expect(await check(script('echo "# pass 3"; echo "# fail 2"; exit 1'))).toMatchObject({ failures: 2 })
    expect(await check(script('echo "something failed"; exit 1'))).not.toHaveProperty('failures')
    expect(await check(script('echo "# fail 0"; exit 1'))).not.toHaveProperty('failures')
  })

  test.each(['no-such-program-at-all --now', './missing.sh', 'folder', './folder', './plain'])(
    'whose program cannot be started is broken: %s',
    async (command) => {
      mkdirSync(join(dir, 'folder'))
      writeFileSync(join(dir, 'plain'), 'not a program', { mode: 0o644 })
      const [program = ''] = command.split(' ')
      expect(await check(command)).toEqual({
        check: command,
        result: 'broken',
        tail: expect.stringContaining(program),
      })
    },
  )

  test('is started without a shell', async () => {
    expect(await check(`echo '$(touch pwned)' "a  b" '*' '|' cat`)).toMatchObject({
      result: 'pass',
      tail: '$(touch pwned) a  b * | cat\n',
    })
  })

  test('has nothing to read', async () => {
    expect(await check('cat')).toEqual({ check: 'cat', result: 'pass', tail: '' })
  })

  test('runs in the folder and environment it is given', async () => {
    const verdict = await check(script('pwd; echo $RALPH_LOOP_ID'), {
      env: { ...process.env, MARKER: marker, RALPH_LOOP_ID: 'a1' },
    })
    expect(verdict?.tail).toBe(`${dir}\na1\n`)
  })

  test('whose folder is missing fails with a sentence', async () => {
    await expect(check('true', { dir: join(dir, 'gone') })).rejects.toMatchObject({ code: 'home-unusable' })
  })

  test('does not reveal a key that it prints', async () => {
    const secret = 'abcdefghijklmnop'
    const verdict = await check(script(`echo "key: sk-""ant-${secret}"; exit 1`))
    expect(verdict?.tail).toContain('key: sk-')
    expect(verdict?.tail).not.toContain(secret)
  })
})

describe('a check that does not end', () => {
  test.each<[what: string, lines: string]>([
    ['is stopped', 'echo started; sleep 600'],
    ['and ignores SIGTERM is stopped', `trap '' TERM; echo started; while :; do sleep 0.1; done`],
    ['and prints all the time is stopped', 'echo started; while :; do echo busy; sleep 0.01; done'],
    ['with its own daemon is stopped', 'echo started; setsid sleep 600 & sleep 600'],
  ])('%s when its time is up', async (_, lines) => {
    const verdict = await check(script(lines), { minutes: 0.3 / 60 })
    expect(verdict).toMatchObject({ result: 'timeout', tail: expect.stringMatching(/stopped after .* minutes/) })
  })

  test('gives no verdict if it is interrupted', async () => {
    const told = new AbortController()
    const running = check(script('touch started; sleep 600'), { signal: told.signal })
    told.abort()
    expect(await running).toBeUndefined()
  })

  test('that left a server running ends when it ends itself', async () => {
    expect(await check(script('sleep 600 & echo served'))).toMatchObject({ result: 'pass', tail: 'served\n' })
  })
})

describe('a check that prints a hundred megabytes', () => {
  test.each<[how: string, lines: string]>([
    ['in lines', 'yes 0123456789012345678901234567890123456789 | head -c 100000000; echo; echo "# fail 7"; exit 1'],
    ['in one line', `head -c 100000000 /dev/zero | tr '\\0' x; echo; echo "# fail 7"; exit 1`],
  ])('%s is read to the end, with little memory', async (_, lines) => {
    const command = script(lines)
    const ralph = startScript(
      `const { runCheck } = await import(${source('host/check.ts')})
       const place = { dir: process.env.DIR, env: process.env, minutes: 1, signal: new AbortController().signal }
       await runCheck('true', place)
       const before = process.resourceUsage().maxRSS
       const verdict = await runCheck(process.env.CHECK, place)
       console.log(JSON.stringify({ verdict, grownKb: process.resourceUsage().maxRSS - before }))`,
      { DIR: dir, CHECK: command, MARKER: marker },
    )
    const { code, err } = await ralph.ended
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const { verdict, grownKb } = JSON.parse(ralph.lines()[0] ?? '')
    expect(verdict).toMatchObject({ result: 'fail', failures: 7, tail: expect.stringMatching(/# fail 7\n$/) })
    expect(verdict.tail.length).toBeLessThanOrEqual(4_000)
    expect(grownKb).toBeLessThan(100_000)
  })
})

import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { eventually, isAlive, running, source, startScript, temporaryFolder } from './place.test-support.ts'
import { type Ended, findProgram, runProgram, type Started, type Stream } from './process.ts'
import { reap } from './process-tree.ts'

let marker = ''
let dir = ''

beforeEach(() => {
  marker = randomUUID()
  dir = temporaryFolder()
})

afterEach(async () => {
  await eventually(() => running(marker).length === 0, 500).catch(() => {})
  const left = running(marker)
  for (const pid of left) process.kill(pid, 'SIGKILL')
  expect(left, 'processes that outlived their program').toEqual([])
})

type Printed = Ended & { lines: string[]; errors: string[]; pieces: string[]; tookMs: number }

/** Runs lines of sh and keeps what they print. */
async function runs(lines: string, how: Partial<Started> = {}): Promise<Printed> {
  return runsProgram(['sh', '-c', lines], how)
}

async function runsProgram(argv: readonly string[], how: Partial<Started> = {}): Promise<Printed> {
  const seen: Record<Stream, string[]> = { out: [], err: [] }
  const pieces: string[] = []
  const startedAt = performance.now()
  const ended = await runProgram({
    argv,
    dir,
    env: { ...process.env, MARKER: marker },
    stdin: '',
    graceMs: 2_000,
    onLine: (line, stream) => {
      seen[stream].push(line)
      return undefined
    },
    onPiece: (text) => void pieces.push(text),
    ...how,
  })
  return { ...ended, lines: seen.out, errors: seen.err, pieces, tookMs: performance.now() - startedAt }
}

function node(code: string): string[] {
  return [process.execPath, '--eval', code]
}

describe('what a program is given', () => {
  test('its prompt arrives on stdin, byte for byte, and stdin is closed', async () => {
    const prompt = `---\n$(touch pwned) \`touch pwned\` "quotes" 'single' \\ %s 🦉\r\n\ttab\n---`
    const { code, pieces } = await runs('cat', { stdin: prompt })
    expect({ code, printed: pieces.join('') }).toEqual({ code: 0, printed: prompt })
  })

  test('a prompt of one megabyte arrives completely', async () => {
    const prompt = '0123456789abcde\n'.repeat(65_536)
    const { pieces } = await runs('cat', { stdin: prompt })
    expect(pieces.join('')).toBe(prompt)
  })

  test('it may end without reading its prompt', async () => {
    const { code, stopped } = await runs('exit 3', { stdin: 'x'.repeat(1 << 20) })
    expect({ code, stopped }).toEqual({ code: 3, stopped: undefined })
  })

  test('its arguments arrive unchanged, without a shell in between', async () => {
    const words = ['', ' ', '$HOME', '`id`', '$(id)', ';', '*', "'", '"', '\\', '-n', '🦉', 'a\nb']
    const { lines } = await runsProgram([...node('console.log(JSON.stringify(process.argv.slice(1)))'), '--', ...words])
    expect(JSON.parse(lines[0] ?? '')).toEqual(words)
  })

  test('it runs in its folder, with its environment', async () => {
    const { lines } = await runs('pwd; echo "$GIVEN"', { env: { ...process.env, GIVEN: 'a b', MARKER: marker } })
    expect(lines).toEqual([dir, 'a b'])
  })

  test('it does not inherit the lifeline of the sh next to it', async () => {
    const { lines } = await runs('ls /proc/$$/fd')
    expect(lines).toContain('2')
    expect(lines).not.toContain('3')
  })

  test('a missing folder is reported in a sentence', async () => {
    await expect(runs('true', { dir: join(dir, 'gone') })).rejects.toMatchObject({
      code: 'home-unusable',
      message: expect.stringContaining(join(dir, 'gone')),
    })
  })
})

describe('what a program prints', () => {
  test.each<[what: string, printf: string, lines: string[]]>([
    ['lines', 'one\\ntwo\\n', ['one', 'two']],
    ['a last line without a line break', 'one\\ntwo', ['one', 'two']],
    ['empty lines', '\\n\\none\\n\\n', ['', '', 'one', '']],
    ['Windows line breaks', 'one\\r\\ntwo\\r\\n', ['one', 'two']],
    ['a carriage return within a line', '10%%\\r20%%\\n', ['10%\r20%']],
    ['nothing', '', []],
    ['bytes that are not UTF-8', 'a\\377b\\n', ['a\uFFFDb']],
    ['half a character at the end', 'a\\342\\202', ['a\uFFFD']],
    ['multibyte characters', 'gr\\303\\274n \\360\\237\\246\\211\\n', ['grün 🦉']],
    ['a NUL', 'a\\000b\\n', ['a\0b']],
  ])('%s', async (_, printf, lines) => {
    expect((await runs(`printf '${printf}'`)).lines).toEqual(lines)
  })

  test('a character that arrives in two halves is one', async () => {
    expect((await runs(`printf '\\342\\202'; sleep 0.1; printf '\\254\\n'`)).lines).toEqual(['€'])
  })

  test('both streams are kept apart', async () => {
    const { lines, errors } = await runs('echo out; echo err >&2')
    expect({ lines, errors }).toEqual({ lines: ['out'], errors: ['err'] })
  })

  test('a line is seen when it is printed, not when the program ends', async () => {
    let seen = 0
    const { tookMs } = await runs('echo now; sleep 0.5', {
      onLine: () => {
        seen = performance.now()
        return undefined
      },
    })
    expect(performance.now() - seen).toBeGreaterThan(250)
    expect(tookMs).toBeGreaterThan(450)
  })

  test('its last output is read to the end, even a lot of it at once', async () => {
    const { lines } = await runs('seq 1 200000')
    expect(lines.length).toBe(200_000)
    expect(lines.at(-1)).toBe('200000')
  })

  test('the record consists of whole lines, so that no line is torn apart', async () => {
    const { pieces } = await runs('seq 1 200000')
    expect(pieces.filter((piece) => !piece.endsWith('\n'))).toEqual([])
    expect(pieces.join('').split('\n').length).toBe(200_001)
  })

  test('a very long line is cut for the reader, but whole in the record', async () => {
    const twentyMillion = 20_000_000
    let recorded = 0
    const { lines } = await runs(`head -c ${twentyMillion} /dev/zero | tr '\\0' x; echo; echo after`, {
      onPiece: (text) => {
        recorded += text.length
      },
    })
    expect(lines.map((line) => line.slice(0, 5))).toEqual(['xxxxx', 'after'])
    expect(lines[0]?.length).toBeGreaterThanOrEqual(8 << 20)
    expect(lines[0]?.length).toBeLessThan(9 << 20)
    expect(recorded).toBe(twentyMillion + '\nafter\n'.length)
  })
})

describe('how a program ends', () => {
  test.each([0, 1, 42, 255])('with exit code %i', async (exit) => {
    const { code, signal, stopped } = await runs(`exit ${exit}`)
    expect({ code, signal, stopped }).toEqual({ code: exit, signal: null, stopped: undefined })
  })

  test.each(['SIGKILL', 'SIGTERM', 'SIGSEGV'])('by %s', async (by) => {
    const { code, signal, stopped } = await runs(`kill -${by.slice(3)} $$`)
    expect({ code, signal, stopped }).toEqual({ code: null, signal: by, stopped: undefined })
  })

  test('a program that does not exist ends with 127', async () => {
    expect((await runsProgram(['no-such-program-at-all'], { env: { PATH: dir } })).code).toBe(127)
  })

  test('silence ends it, and every sign of life postpones that', async () => {
    const { lines, stopped, tookMs } = await runs('for i in 1 2 3 4; do sleep 0.4; echo $i; done; sleep 600', {
      silenceMs: 1_000,
    })
    expect({ lines, stopped }).toEqual({ lines: ['1', '2', '3', '4'], stopped: 'silent' })
    expect(tookMs).toBeGreaterThan(2_500)
    expect(tookMs).toBeLessThan(30_000)
  })

  test('a deadline ends it, whatever it prints', async () => {
    const { stopped } = await runs('while :; do echo busy; sleep 0.05; done', { deadlineMs: 300, silenceMs: 60_000 })
    expect(stopped).toBe('deadline')
  })

  test('a deadline that has passed ends it at once', async () => {
    expect((await runs('sleep 600', { deadlineMs: -5 })).stopped).toBe('deadline')
  })

  test('limits longer than a timer allows do not end it', async () => {
    const { code, stopped } = await runs('sleep 0.1', { deadlineMs: 1e12, silenceMs: 1e12 })
    expect({ code, stopped }).toEqual({ code: 0, stopped: undefined })
  })

  test('an abort ends it', async () => {
    const told = new AbortController()
    const { stopped, signal } = await runs('echo ready; sleep 600', {
      signal: told.signal,
      onLine: () => {
        told.abort()
        return undefined
      },
    })
    expect({ stopped, signal }).toEqual({ stopped: 'told', signal: 'SIGTERM' })
  })

  test('an abort before the start starts nothing', async () => {
    const { stopped } = await runs('touch started; sleep 600', { signal: AbortSignal.abort() })
    expect(stopped).toBe('told')
    expect(findProgram('./started', dir)).toBeUndefined()
  })

  test('an abort at the very moment of the start ends it', async () => {
    const told = new AbortController()
    const running = runs('sleep 600', { signal: told.signal })
    told.abort()
    expect((await running).stopped).toBe('told')
  })

  test('an abort after its end changes nothing', async () => {
    const told = new AbortController()
    const { code, stopped } = await runs('true', { signal: told.signal })
    told.abort()
    expect({ code, stopped }).toEqual({ code: 0, stopped: undefined })
  })

  test('it gets SIGTERM and time to tidy up', async () => {
    const { code, lines } = await runs(`trap 'echo tidied; exit 7' TERM; echo ready; while :; do sleep 0.05; done`, {
      deadlineMs: 300,
    })
    expect({ code, lines }).toEqual({ code: 7, lines: ['ready', 'tidied'] })
  })

  test('one that ignores SIGTERM is killed after the grace period', async () => {
    const { signal, tookMs } = await runs(`trap '' TERM; while :; do sleep 0.05; done`, {
      deadlineMs: 200,
      graceMs: 300,
    })
    expect(signal).toBe('SIGKILL')
    expect(tookMs).toBeLessThan(20_000)
  })

  test('one that is stopped by SIGSTOP is ended as well', async () => {
    const { stopped } = await runs('kill -STOP $$; sleep 600', { deadlineMs: 200, graceMs: 300 })
    expect(stopped).toBe('deadline')
  })

  test.each<[stream: string, listener: Partial<Started>]>([
    ['the record', { onPiece: fails }],
    ['the lines', { onLine: fails }],
  ])('a listener of %s that throws ends it, and the caller gets the error', async (_, listener) => {
    await expect(runs('echo one; echo two; sleep 600', listener)).rejects.toThrow('the disk is full')
  })
})

describe('nothing a program started outlives it:', () => {
  // Each of these prints the id of what it started, so that a test which starts nothing fails. While a process execs,
  // it shows no environment for a moment; once in a few hundred times it was missed.
  test('kills a daemon that is caught in the middle of its start', async () => {
    for (let time = 0; time < 100; time++) await runs('setsid sleep 600 & exit 0', { graceMs: 50 })
    expect(running(marker)).toEqual([])
  })

  test.each<[what: string, lines: string]>([
    ['a child in the background', 'sleep 600 & echo $!'],
    ['a child that holds stdout open and ignores SIGTERM', `(trap '' TERM; while :; do sleep 0.1; done) & echo $!`],
    ['a child in its own session', 'setsid sleep 600 & echo $!'],
    ['a daemon that was forked twice', '(setsid sh -c "sleep 600 & wait" & echo $!)'],
    ['a daemon with its streams closed', 'setsid sleep 600 </dev/null >/dev/null 2>&1 & echo $!'],
    ['a child with an empty environment in the same group', 'env -i sleep 600 & echo $!'],
    ['a daemon without any environment', 'setsid env -i sleep 600 & echo $!'],
    ['one that was forked twice, without any environment', '(setsid env -i sh -c "sleep 600 & wait" & echo $!)'],
    ['a whole crowd', 'for i in $(seq 30); do setsid sleep 600 & done; echo $!'],
  ])('%s', async (_, lines) => {
    const { code, stopped, lines: printed, tookMs } = await runs(lines, { graceMs: 300 })
    expect({ code, stopped }).toEqual({ code: 0, stopped: undefined })
    await eventually(() => !isAlive(Number(printed[0])), 500)
    expect(tookMs).toBeLessThan(20_000)
  })

  test.each<[what: string, lines: string, how: Partial<Started>]>([
    ['by itself', 'echo one', {}],
    ['since somebody stopped it', 'echo one; sleep 600', { deadlineMs: 0 }],
    ['since a listener threw', 'yes', { onPiece: fails }],
  ])('all of it is gone the moment it has ended %s', async (_, lines, how) => {
    for (let round = 0; round < 30; round++) {
      await runs(lines, how).catch(() => {})
      expect(running(marker)).toEqual([])
    }
  })

  test('a process that restarts itself all the time', async () => {
    const again = join(dir, 'again.sh')
    writeFileSync(again, '#!/bin/sh\nexec "$0"\n', { mode: 0o755 })
    for (let round = 0; round < 20; round++) {
      const { code } = await runs(`setsid ${again} & sleep 0.01`, { graceMs: 100 })
      expect(code).toBe(0)
      await eventually(() => running(marker).length === 0, 500)
    }
  })

  test('one that nobody can recognize does not keep it from returning', async () => {
    const hides = 'ulimit -w 5 2>/dev/null || ulimit -x 5'
    const { code, lines, tookMs } = await runs(`${hides}; setsid env -i sleep 20 & echo $!; sleep 0.2`)
    const escaped = Number(lines[0])
    if (isAlive(escaped)) process.kill(escaped, 'SIGKILL')
    expect(code).toBe(0)
    expect(tookMs).toBeLessThan(10_000)
  })

  test('a daemon that another program starts in the folder meanwhile is left alone', async () => {
    const daemon = () =>
      Number(
        spawnSync('sh', ['-c', 'env -i setsid sleep 600 >/dev/null 2>&1 & echo $!'], { cwd: dir, encoding: 'utf8' })
          .stdout,
      )
    let pid = 0
    await runs('echo started; setsid env -i sleep 600 & sleep 0.1', {
      graceMs: 100,
      onLine: () => {
        pid = daemon()
        return undefined
      },
    })
    expect(isAlive(pid)).toBe(true)
    process.kill(pid, 'SIGKILL')
  })

  test("other people's programs are left alone", async () => {
    const other = startScript('setInterval(() => {}, 1000); console.log("ready")')
    await eventually(() => other.lines().length)
    await runs('setsid sleep 600 & true', { graceMs: 100 })
    expect(isAlive(other.pid)).toBe(true)
    process.kill(other.pid, 'SIGKILL')
    await other.ended
  })
})

describe('when ralph itself is killed', () => {
  const AGENTS: [what: string, lines: string, processes: number][] = [
    ['an agent with a child', 'sleep 600 & sleep 600', 3],
    ['an agent with a daemon that has no environment', 'setsid env -i MARKER=$MARKER sleep 600 & sleep 600', 3],
    ['an agent with daemons', 'setsid sleep 600 & (setsid sh -c "sleep 600 & wait" &); sleep 600', 5],
    [
      'an agent that ignores SIGTERM',
      `trap '' TERM; (setsid sh -c "trap '' TERM; while :; do sleep 0.1; done" &) ; while :; do sleep 0.1; done`,
      3,
    ],
  ]

  test('by SIGKILL, an agent that restarts itself all the time is gone as well', async () => {
    const again = join(dir, 'again.sh')
    writeFileSync(again, '#!/bin/sh\nexec "$0"\n', { mode: 0o755 })
    await diesWithRalph(`setsid ${again} & sleep 600`, 3)
  })

  test.each(AGENTS)('by SIGKILL, %s is gone within a second, with its daemons', async (_, lines, processes) => {
    await diesWithRalph(lines, processes)
  })

  async function diesWithRalph(lines: string, processes: number): Promise<void> {
    const ralph = startScript(
      `const { runProgram } = await import(${source('host/process.ts')})
       const { RALPH_TEST_DIR: dir, MARKER, AGENT } = process.env
       await runProgram({ argv: ['sh', '-c', AGENT], dir, env: { PATH: process.env.PATH, MARKER }, stdin: '', graceMs: 5_000 })`,
      { MARKER: marker, RALPH_TEST_DIR: dir, AGENT: lines },
    )
    const agents = await eventually(() =>
      atLeast(
        processes,
        running(marker).filter((pid) => pid !== ralph.pid),
      ),
    )
    process.kill(ralph.pid, 'SIGKILL')
    const killedAt = performance.now()
    await eventually(() => running(marker).length === 0 && !agents.some(isAlive))
    expect(performance.now() - killedAt).toBeLessThan(1_000)
    expect((await ralph.ended).signal).toBe('SIGKILL')
  }

  test('what is left of its loop is found by the name of the loop and killed', async () => {
    const loop = `loop-${randomUUID()}`
    const left = startScript(`setInterval(() => {}, 1000); process.on('SIGTERM', () => {}); console.log('ready')`, {
      RALPH_LOOP_ID: loop,
      MARKER: marker,
    })
    await eventually(() => left.lines().length)
    await reap(loop)
    expect((await left.ended).signal).toBe('SIGKILL')
  })

  test('another loop whose name starts the same is not killed with it', async () => {
    const loop = randomUUID()
    const other = startScript(`setInterval(() => {}, 1000); console.log('ready')`, {
      RALPH_LOOP_ID: `${loop}-2`,
      MARKER: marker,
    })
    await eventually(() => other.lines().length)
    await reap(loop)
    expect(isAlive(other.pid)).toBe(true)
    process.kill(other.pid, 'SIGKILL')
    await other.ended
  })
})

describe('a dialogue', () => {
  test('continues until the reader is done', async () => {
    const { code, lines } = await runs('while read -r line; do echo "got $line"; done; echo over', {
      stdin: 'one\n',
      dialogue: true,
      onLine: (line) => {
        if (line === 'got one') return { write: 'two\n' }
        return line === 'got two' ? { done: true } : undefined
      },
      onPiece: () => {},
    })
    expect({ code, lines }).toEqual({ code: 0, lines: [] })
  })

  test('what is written after the program has ended is lost without harm', async () => {
    const { code } = await runs('echo one; echo two', {
      dialogue: true,
      onLine: () => ({ write: 'x'.repeat(100_000) }),
    })
    expect(code).toBe(0)
  })

  test('outside a dialogue nothing is written back', async () => {
    const { code, pieces } = await runs('echo one; sleep 0.1; cat', { onLine: () => ({ write: 'back\n' }) })
    expect({ code, printed: pieces.join('') }).toEqual({ code: 0, printed: 'one\n' })
  })
})

describe('the file a program name stands for', () => {
  test('is looked up on PATH, in its order', () => {
    const [first, second] = [join(dir, 'first'), join(dir, 'second')]
    for (const folder of [first, second]) makeProgram(folder, 'agent')
    expect(findProgram('agent', dir, `${first}:${second}`)).toBe(join(first, 'agent'))
    expect(findProgram('agent', dir, `${second}:${first}`)).toBe(join(second, 'agent'))
  })

  test('with a slash is a path from the working folder, not from here', () => {
    makeProgram(join(dir, 'bin'), 'agent')
    expect(findProgram('./bin/agent', dir, '')).toBe(join(dir, 'bin', 'agent'))
    expect(findProgram('bin/agent', dir, '')).toBe(join(dir, 'bin', 'agent'))
    expect(findProgram(join(dir, 'bin', 'agent'), '/', '')).toBe(join(dir, 'bin', 'agent'))
  })

  test('may be a link', () => {
    makeProgram(join(dir, 'bin'), 'agent')
    symlinkSync(join(dir, 'bin', 'agent'), join(dir, 'link'))
    expect(findProgram('./link', dir, '')).toBe(join(dir, 'link'))
  })

  test.each<[what: string, name: string]>([
    ['a missing one', 'missing'],
    ['one that is not executable', 'plain'],
    ['a folder', 'folder'],
    ['a broken link', 'dangling'],
    ['no name at all', ''],
  ])('is not %s', (_, name) => {
    writeFileSync(join(dir, 'plain'), '')
    chmodSync(join(dir, 'plain'), 0o644)
    mkdirSync(join(dir, 'folder'))
    symlinkSync(join(dir, 'nothing'), join(dir, 'dangling'))
    expect(findProgram(name, dir, dir)).toBeUndefined()
    expect(findProgram(`./${name}`, dir, dir)).toBeUndefined()
  })

  function makeProgram(folder: string, name: string): void {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, name), '#!/bin/sh\n', { mode: 0o755 })
  }
})

test('ten programs at once do not disturb each other', async () => {
  const numbers = Array.from({ length: 10 }, (_, index) => index)
  const ended = await Promise.all(
    numbers.map((number) => runs(`setsid sleep 600 & cat; exit ${number}`, { stdin: String(number), graceMs: 200 })),
  )
  expect(ended.map(({ code, lines }) => [code, lines[0]])).toEqual(numbers.map((number) => [number, String(number)]))
})

function fails(): never {
  throw new Error('the disk is full')
}

function atLeast<Item>(count: number, items: Item[]): Item[] | undefined {
  return items.length >= count ? items : undefined
}

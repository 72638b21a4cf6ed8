/**
 * Wrong use, hostile agents, broken checks and broken disks: always one clear sentence, the right exit code, and
 * nothing lost.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { carriers, LAUNCHER, makePlace, onlyLoop, type Place, query, type Ran, until } from './ralph.ts'

const CLAIMS = 'echo "$RALPH_ITERATION" >> progress.txt; echo "<promise>COMPLETE</promise>"'

function run(place: Place, agent: string, ...flags: string[]): Promise<Ran> {
  return place.ralph(['run', 'Do the task.', '--agent', agent, '--json', ...flags])
}

/** One sentence on stderr, prefixed with "ralph". */
function sentence({ stderr }: Ran): string {
  expect(stderr).toMatch(/^ralph: [^\n]+[.?!…]\n$/)
  return stderr
}

describe.concurrent('a wrong command line', () => {
  test.each<[string[], string]>([
    [['run', 'x', '--agnt', 'y'], 'Unknown option: --agnt. Did you mean --agent?'],
    [['run', 'x', '--max-iteration', '3'], 'Did you mean --max-iterations?'],
    [['status', '--jsn'], 'Did you mean --json?'],
    [['run', 'x', '--zzzzzzzzzz'], 'Unknown option: --zzzzzzzzzz.'],
    [['statsu'], 'Unknown command: "statsu". Did you mean "ralph stat'],
    [['frobnicate'], 'Unknown command: "frobnicate".'],
    [['help', 'rnu'], 'Did you mean "ralph run"?'],
    [['run', 'x', '--agent'], '--agent needs a value'],
    [['run', 'x', '--agent', '--json'], '--agent needs a value'],
    [['run', 'x', '--json=1'], '--json takes no value'],
    [['run', 'x', '--timeout', '1', '--timeout', '2'], '--timeout can only be given once'],
    [['run', 'one', 'two'], 'The prompt must be one argument, got 2'],
    [['run'], 'Missing prompt'],
    [['run', 'x', '--agent', 'claud'], 'Did you mean "claude"?'],
    [
      ['run', 'x', '--on-halt', 'best', '--agent', 'command:true'],
      'needs checkpoints, but this is not a git repository',
    ],
    [['run', 'x', '--on-halt', 'never', '--agent', 'command:true'], '--on-halt must be keep, best or restore'],
    [['run', 'x', '--worktree', '--agent', 'command:true'], '--worktree needs a git repository'],
    [['run', 'x', '--until', '', '--agent', 'command:true'], '--until is empty'],
    [['run', 'x', '--completion-promise', ' ', '--agent', 'command:true'], '--completion-promise is empty'],
    [['run', 'x', '--stage', '<A>', '--agent', 'command:true'], '"<A>" is not a valid stage name'],
    [['run', 'x', '--require', 'best', '--agent', 'command:true'], '--require must be verified, tested or kept, got'],
    [['run', 'x', '--require', 'claimed', '--agent', 'command:true'], '--require must be verified, tested or kept'],
    [['run', 'x', '--proof', 'none', '--agent', 'command:true'], '--proof must be off, seal or full, got "none"'],
    [['run', 'x', '--protect', '', '--agent', 'command:true'], '--protect is empty. Give a glob such as "test/**".'],
    [
      ['run', 'x', '--protect', '[', '--agent', 'command:true'],
      '--protect "[" has an unclosed "[". Write it like "test/**".',
    ],
    [['run', 'x', '--proof-minutes', '0', '--agent', 'command:true'], '--proof-minutes must be a number above 0'],
    [
      ['run', 'x', '--require', 'kept', '--agent', 'command:true'],
      '--require kept needs a check: add one with --verify "npm test". See',
    ],
    [
      ['run', 'x', '--require', 'tested', '--proof', 'off', '--verify', 'true', '--agent', 'command:true'],
      'The proof must be "tested", which only experiments can show: leave out --proof off',
    ],
    [['allow'], 'Name a loop: ralph allow LOOP'],
    [['allow', 'nosuch'], 'No such loop: nosuch'],
    [['rollback'], 'Name a loop and an iteration'],
    [['rollback', 'x'], 'Name a loop and an iteration'],
    [['rollback', 'x', '-1'], 'Not an iteration number'],
    [['rollback', 'nosuch', '1'], 'No such loop: nosuch'],
    [['undo'], 'Name a loop'],
    [['undo', 'x', 'y'], 'Unexpected argument'],
    [['accept', 'nosuch'], 'No such loop: nosuch'],
    [['accept', '--brnch', 'x'], 'Did you mean --branch?'],
    [['show', 'x', 'y', 'z'], 'Unexpected argument'],
    [['prune', '7'], 'Unexpected argument'],
    [['doctor', 'rebuild'], 'Unexpected argument'],
    [['status', 'x', 'y'], 'Unexpected argument'],
    [['show', 'nosuch'], 'No such loop: nosuch'],
    [['resume', 'nosuch'], 'No such loop: nosuch'],
    [['cancel'], 'No loop has been started in this folder'],
    [['steer', 'x'], 'Name a loop and put the message in quotes'],
  ])('%j is refused with exit code 2', async (args, words) => {
    const ran = await makePlace({ git: false }).ralph(args)
    expect(ran.code).toBe(2)
    expect(`${ran.stderr}`).toContain(words)
  })

  test.each<[string, string]>([
    ['--max-iterations', '-1'],
    ['--max-iterations', 'ten'],
    ['--max-iterations', '1e3'],
    ['--max-iterations', '1.5'],
    ['--max-iterations', ''],
    ['--max-iterations', 'auto:0'],
    ['--max-tokens', '0'],
    ['--no-progress', '0'],
    ['--same-error', 'x'],
    ['--timeout', '-1'],
    ['--timeout', '1h'],
    ['--max-cost', '$5'],
    ['--silence', '0'],
    ['--check-timeout', 'Infinity'],
  ])('%s %j is refused in both notations', async (flag, value) => {
    const place = makePlace({ git: false })
    for (const args of [[flag, value], [`${flag}=${value}`]]) {
      const ran = await place.ralph(['run', 'x', '--agent', place.agent(CLAIMS), ...args])
      expect(ran.code).toBe(2)
      expect(sentence(ran)).toContain(`${flag} must be a`)
    }
    expect(place.calls()).toEqual([])
  })

  test.each([
    { args: ['--max-iterations', '08'], most: 8 },
    { args: ['--max-iterations=08'], most: 8 },
    { args: ['--max-iterations', '0'], most: 0 },
    { args: ['--max-iterations=12'], most: 12 },
  ])('$args is a limit of $most', async ({ args, most }) => {
    const place = makePlace({ git: false })
    const { lines, code } = await run(place, place.agent(CLAIMS), ...args)
    expect(code).toBe(0)
    expect(lines[0]).toMatchObject({ type: 'loop-start', max_iterations: most })
  })

  test('with --json, errors are JSON too', async () => {
    const ran = await makePlace({ git: false }).ralph(['run', 'x', '--frob', '--json'])
    expect(ran.code).toBe(2)
    expect(ran.lines).toEqual([{ type: 'error', code: 'usage', message: expect.stringContaining('--frob') }])
    sentence(ran)
  })

  test('leaves everything after -- to the agent', async () => {
    const place = makePlace({ git: false })
    const agent = place.agent(`printf '%s|' "$@" > args.txt; ${CLAIMS}`)
    const ran = await place.ralph(['run', 'x', '--agent', agent, '--json', '--', '--frob', 'a b', '--help'])
    expect(ran.code).toBe(0)
    expect(place.read('args.txt')).toBe('--frob|a b|--help|')
  })
})

describe.concurrent('a prompt', () => {
  test.each([
    { what: 'that is empty', args: [''] },
    { what: 'that is blank', args: [' \n\t '] },
    { what: 'that is missing', args: [] },
  ])('$what is refused', async ({ args }) => {
    const place = makePlace({ git: false })
    const ran = await place.ralph(['run', ...args, '--agent', place.agent(CLAIMS)])
    expect(ran.code).toBe(2)
    expect(sentence(ran)).toContain('Missing prompt.')
  })

  test('a file that is missing or a folder is refused', async () => {
    const place = makePlace({ git: false })
    for (const [file, why] of [
      ['nope.md', 'does not exist.'],
      ['.', 'cannot be read.'],
    ] as const) {
      const ran = await place.ralph(['run', '--file', file, '--agent', place.agent(CLAIMS)])
      expect(ran.code).toBe(2)
      expect(sentence(ran)).toContain(`The prompt file ${resolve(place.dir, file)} ${why}`)
    }
  })

  test('giving it twice is refused', async () => {
    const place = makePlace({ git: false })
    place.write('task.md', 'a task')
    const ran = await place.ralph(['run', 'x', '--file', 'task.md', '--agent', place.agent(CLAIMS)])
    expect(ran.code).toBe(2)
    expect(sentence(ran)).toContain('either a prompt or --file')
  })

  const HOSTILE = [
    'Do it. $(touch pwned) `touch pwned` ; touch pwned && touch pwned | touch pwned > pwned',
    '"quotes" \'quotes\' \\backslash \\n %s %d $HOME ~ * ? [a-z] !! #',
    '👩‍👩‍👧‍👦 emoji, ünïcode, عربى, 日本語, \u200b zero width, \u202e turned around',
    'above\n---\nbelow\n\n---\n\n<promise>SOMETHING</promise>\n```\ncode\n```',
    '--- begins with dashes',
    '-5 degrees',
    'tab\there, carriage\rreturn, bell\u0007, escape\u001b[31m',
  ]

  test.each(HOSTILE)('%j reaches the agent byte for byte, and nothing in it is executed', async (prompt) => {
    const place = makePlace({ git: false })
    const ran = await place.ralph(['run', prompt, '--agent', place.agent(CLAIMS), '--json'])
    expect(ran.code).toBe(0)
    expect(place.prompt(1).startsWith(`${prompt}\n\n---\n\n`)).toBe(true)
    expect(readdirSync(place.dir)).toEqual(['progress.txt'])
  })

  test.each([{ how: 'a file' }, { how: 'standard input' }])('1 MB arrives whole from $how', async ({ how }) => {
    const place = makePlace({ git: false })
    const prompt = `${HOSTILE.join('\n')}\n${'0123456789 äöü €\n'.repeat(50_000)}the end`
    writeFileSync(join(place.root, 'task.md'), prompt)
    const given = how === 'a file' ? ['--file', join(place.root, 'task.md')] : ['-']
    const ran = await place.ralph(['run', ...given, '--agent', place.agent(CLAIMS), '--json'], { stdin: prompt })
    expect(ran.code).toBe(0)
    const received = place.prompt(1)
    expect(received.length).toBeGreaterThan(prompt.length)
    expect(received.startsWith(`${prompt}\n\n---\n\n`)).toBe(true)
    expect((await place.ralph(['status'])).stdout.length).toBeLessThan(400)
  })
})

describe.concurrent('an agent', () => {
  test.each([
    ['command:./nope', 3, 'The agent "./nope" was not found'],
    ['command:nope-nope', 3, 'The agent "nope-nope" was not found on PATH'],
    ['command:.', 3, 'was not found'],
    ['comand:./nope', 2, 'Did you mean "command"?'],
    ['frobnicator', 2, 'Unknown agent: "frobnicator"'],
    ['command:', 2, 'needs a program to start'],
    ['command:a | b', 2, 'which needs a shell'],
    ['command:"a', 2, 'never closed'],
  ])('%j is refused with exit code %i', async (agent, code, words) => {
    const place = makePlace({ git: false })
    const ran = await place.ralph(['run', 'x', '--agent', agent])
    expect(ran.code).toBe(code)
    expect(sentence(ran)).toContain(words)
  })

  test('with a missing or broken script is refused before a loop is created', async () => {
    const place = makePlace({ git: false })
    place.write('half.json', '{"turns": [[{"text": "hal')
    place.write('odd.json', '{"turns": [[{"txt": "odd"}]]}')
    for (const [file, words] of [
      ['nope.json', 'does not exist'],
      ['half.json', 'it is not valid JSON'],
      ['odd.json', 'step 1 of turn 1 is not one of text'],
    ] as const) {
      const ran = await place.ralph(['run', 'x', '--agent', `scripted:${file}`])
      expect(ran.code).toBe(2)
      expect(sentence(ran)).toContain(words)
    }
  })

  test('that vanishes between two iterations halts the loop', async () => {
    const place = makePlace({ git: false })
    const ran = await run(place, place.agent('rm "$0"; echo x >> progress.txt'))
    expect(ran).toMatchObject({ code: 3, end: { reason: 'agent-unusable', iterations: 1 } })
    expect(ran.end.sentence).toContain('was not found')
  })

  test('that exits at once without output has not crashed, but makes no progress', async () => {
    const place = makePlace({ git: false })
    const ran = await place.ralph(['run', 'x', '--agent', 'command:true', '--json'])
    expect(ran).toMatchObject({ code: 1, end: { reason: 'no-progress', iterations: 3 } })
  })

  test('that does not read its prompt does no harm', async () => {
    const place = makePlace({ git: false })
    writeFileSync(join(place.root, 'task.md'), 'x'.repeat(1_000_000))
    const given = ['run', '--file', join(place.root, 'task.md'), '--agent', 'command:true', '--json']
    expect(await place.ralph(given)).toMatchObject({ code: 1, end: { reason: 'no-progress' } })
  })

  test('that kills itself has crashed', async () => {
    const place = makePlace({ git: false })
    const ran = await run(place, place.agent('kill -9 $$'))
    expect(ran).toMatchObject({ code: 1, end: { reason: 'agent-failed', iterations: 0 } })
    expect(ran.end.sentence).toContain('SIGKILL')
  })

  test('that hangs is stopped when it is silent for too long', async () => {
    const place = makePlace({ git: false })
    const ran = await run(place, place.agent('sleep 1000'), '--silence', '0.02')
    expect(ran).toMatchObject({ code: 1, end: { reason: 'agent-failed', iterations: 0 } })
    expect(ran.end.sentence).toContain('printing nothing for too long')
    expect(place.calls()).toHaveLength(3)
    expect(carriers(`RALPH_LOOP_ID=${onlyLoop(place)}`)).toEqual([])
  })

  test('that prints now and then is not silent', async () => {
    const place = makePlace({ git: false })
    const slow = 'for i in 1 2 3 4 5 6; do echo $i; sleep 0.3; done'
    const ran = await run(place, place.agent(`${slow}; echo; ${CLAIMS}`), '--silence', '0.02')
    expect(ran).toMatchObject({ code: 0, end: { iterations: 1 } })
  })

  test('that hangs is stopped at the time limit, and so is the loop', async () => {
    const place = makePlace({ git: false })
    const ran = await run(place, place.agent('sleep 1000'), '--timeout', '0.05')
    expect(ran).toMatchObject({ code: 1, end: { reason: 'timeout', iterations: 0 } })
    expect(place.calls()).toHaveLength(1)
    expect(carriers(`RALPH_LOOP_ID=${onlyLoop(place)}`)).toEqual([])
  })

  test('that ignores SIGTERM is killed', async () => {
    const place = makePlace({ git: false })
    const deaf = `trap '' TERM INT HUP; while :; do sleep 0.2; done`
    const ran = await run(place, place.agent(deaf), '--timeout', '0.02')
    expect(ran).toMatchObject({ code: 1, end: { reason: 'timeout', iterations: 0 } })
    expect(carriers(`RALPH_LOOP_ID=${onlyLoop(place)}`)).toEqual([])
  })

  test('that starts daemons leaves none behind', async () => {
    const place = makePlace({ git: false })
    const daemons = `
setsid sh -c "trap '' TERM HUP; while :; do sleep 0.2; done" >/dev/null 2>&1 </dev/null &
setsid sleep 1000 &
nohup sleep 1000 >/dev/null 2>&1 &
(setsid setsid sleep 1000 &)`
    const ran = await run(place, place.agent(`${daemons}\n${CLAIMS}`))
    expect(ran).toMatchObject({ code: 0, end: { status: 'completed' } })
    expect(carriers(`RALPH_LOOP_ID=${onlyLoop(place)}`)).toEqual([])
  })

  test('that leaves an untraceable daemon does not hold up the loop', async ({ onTestFinished }) => {
    const place = makePlace({ git: false })
    const file = join(place.root, 'daemon')
    onTestFinished(() => void process.kill(Number(readFileSync(file, 'utf8'))))
    const daemon = `env -i setsid sh -c 'echo $$ > ${file}; exec sleep 60' &`
    const ran = await run(place, place.agent(`${daemon} while [ ! -s '${file}' ]; do sleep 0.02; done; ${CLAIMS}`))
    expect(ran).toMatchObject({ code: 0, end: { status: 'completed', iterations: 1 } })
    expect(process.kill(Number(readFileSync(file, 'utf8')), 0)).toBe(true)
  })

  test('that prints invalid UTF-8 is still read', async () => {
    const place = makePlace({ git: false })
    const ran = await run(
      place,
      place.agent(`printf '\\377\\376 \\303\\050 \\360\\237\\230 \\000 bytes.\\n\\n'; ${CLAIMS}`),
    )
    expect(ran).toMatchObject({ code: 0, end: { status: 'completed' } })
    const shown = await place.ralph(['show', onlyLoop(place), '1'])
    expect(shown.stdout).toContain('\ufffd')
    expect(shown.stdout).toContain('bytes')
  })

  test('that prints a character in two halves is read correctly', async () => {
    const place = makePlace({ git: false })
    const halves = `printf 'caf\\303'; sleep 0.2; printf '\\251\\n'`
    const ran = await run(place, place.agent(`${halves}; ${CLAIMS}`))
    expect(ran.lines.find(({ type }) => type === 'iteration-end')).toMatchObject({
      turn: { words: expect.stringMatching(/^café\n/) },
    })
  })

  test('whose JSON lines arrive in halves or between noise is still read', async () => {
    const place = makePlace({ git: false })
    const noise = ['{"type":"text","te', '[1,2', 'null', '7', '{"no":"type"}', '', 'plain words']
    place.write(
      'noise.cjs',
      `if (process.argv[1].includes('scripted-agent')) process.stdout.write(${JSON.stringify(`${noise.join('\n')}\n`)})`,
    )
    const agent = place.script([[{ edit: { path: 'a', content: 'a' } }, { text: '<promise>COMPLETE</promise>' }]])
    const ran = await place.ralph(['run', 'x', '--agent', agent, '--json'], {
      env: { NODE_OPTIONS: `--require=${join(place.dir, 'noise.cjs')}` },
    })
    expect(ran).toMatchObject({ code: 0, end: { status: 'completed', iterations: 1 } })
  })

  test('whose last JSON line is cut off has crashed', async () => {
    const place = makePlace({ git: false })
    const agent = place.script([[{ text: '<promise>COMPLETE</promise>' }, { shell: ['sh', '-c', 'kill -9 $PPID'] }]])
    expect(await run(place, agent)).toMatchObject({ code: 1, end: { reason: 'agent-failed', iterations: 0 } })
  })

  test('leaves none of its secrets in a transcript', async () => {
    const place = makePlace({ git: false })
    const key = `sk-ant-${'a1'.repeat(20)}`
    await run(place, place.agent(`echo "the key is ${key}"; ${CLAIMS}`))
    const file = join(place.home, 'transcripts', onlyLoop(place), '1.jsonl')
    expect(readFileSync(file, 'utf8')).toContain('…masked…')
    expect(readFileSync(file, 'utf8')).not.toContain(key)
  })
})

describe('an agent that floods', () => {
  test.each([
    { what: 'with lines', flood: `yes "$(printf '%0200d' 7)" | head -c 250000000` },
    { what: 'without a line break', flood: `head -c 250000000 /dev/zero | tr '\\000' x` },
  ])('250 MB $what are recorded in full, in constant memory', async ({ flood }) => {
    const place = makePlace({ git: false })
    const ran = await place.ralph(['run', 'x', '--agent', place.agent(`${flood}; echo; echo; ${CLAIMS}`)], {
      apart: true,
    })
    const folder = join(place.home, 'transcripts', onlyLoop(place))
    const size = execFileSync('stat', ['-c', '%s', join(folder, '1.jsonl')], { encoding: 'utf8' })
    rmSync(folder, { recursive: true })
    expect(ran.code).toBe(0)
    expect(ran.stdout).toContain('complete, proof: claimed')
    expect(Number(size)).toBeGreaterThan(250_000_000)
    // Keeping all of it would take more than 300.
    expect(ran.peakMb).toBeLessThan(220)
  })
})

describe.concurrent('a check', () => {
  test('that does not exist breaks the verifier', async () => {
    const place = makePlace({ git: false })
    const ran = await run(place, place.agent(CLAIMS), '--verify', 'nope-nope --flag')
    expect(ran).toMatchObject({ code: 1, end: { reason: 'verifier-broken', iterations: 1 } })
    expect(ran.end.sentence).toContain('"nope-nope" was not found')
  })

  test('that hangs twice breaks the verifier', async () => {
    const place = makePlace({ git: false })
    const ran = await run(place, place.agent(CLAIMS), '--verify', 'sleep 1000', '--check-timeout', '0.01')
    expect(ran).toMatchObject({ code: 1, end: { reason: 'verifier-broken', iterations: 2 } })
    expect(ran.end.sentence).toContain('timed out twice')
    expect(place.prompt(2)).toContain('timed out')
    expect(carriers(`RALPH_LOOP_ID=${onlyLoop(place)}`)).toEqual([])
  })

  test('that prints 100 MB needs little memory, and the agent gets the end of its output', async () => {
    const place = makePlace({ git: false })
    place.write(
      'check.sh',
      `#!/bin/sh\nyes "$(printf '%099d' 7)" | head -c 100000000\necho the very end\nexit 1\n`,
      0o755,
    )
    const words = ['--agent', place.agent(CLAIMS), '--json', '--verify', './check.sh', '--max-iterations', '2']
    const ran = await place.ralph(['run', 'x', ...words], { apart: true })
    expect(ran).toMatchObject({ code: 1, end: { reason: 'max-iterations', false_claims: 2 } })
    expect(place.prompt(2)).toContain('the very end')
    expect(place.prompt(2).length).toBeLessThan(10_000)
    expect(ran.peakMb).toBeLessThan(150)
  })

  test('that starts a daemon leaves none behind', async () => {
    const place = makePlace({ git: false })
    place.write('check.sh', '#!/bin/sh\nsetsid sleep 1000 &\n[ -e finished ]\n', 0o755)
    const ran = await run(place, place.agent(`touch finished; ${CLAIMS}`), '--verify', './check.sh')
    expect(ran).toMatchObject({ code: 0, end: { proof: 'verified' } })
    expect(carriers(`RALPH_LOOP_ID=${onlyLoop(place)}`)).toEqual([])
  })

  test.each(['npm test && npm run lint', 'a | b', 'a; b', 'a > out', 'echo $HOME', 'echo `id`', '(a)', 'a & b'])(
    'with shell operators is refused: %s',
    async (check) => {
      const place = makePlace({ git: false })
      for (const flag of ['--verify', '--until']) {
        const ran = await place.ralph(['run', 'x', '--agent', place.agent(CLAIMS), flag, check])
        expect(ran.code).toBe(2)
        expect(sentence(ran)).toContain('which needs a shell')
        expect(sentence(ran)).toContain("sh -c '…'")
      }
      expect(place.calls()).toEqual([])
    },
  )

  test('may contain operators within quotes', async () => {
    const place = makePlace({ git: false })
    const ran = await run(place, place.agent(CLAIMS), '--verify', `sh -c 'test -e progress.txt && true'`)
    expect(ran).toMatchObject({ code: 0, end: { proof: 'verified' } })
  })
})

describe.concurrent('ralph.config.json', () => {
  test.each([
    ['{"max_iterations": ', 'is not valid JSON'],
    ['[]', 'must contain one object'],
    ['{"max_iteration": 3}', 'did you mean "max_iterations"?'],
    ['{"max_iterations": -1}', 'max_iterations must be a whole number or "auto", got -1'],
    ['{"verify": "npm test"}', 'verify must be a list of commands'],
    ['{"circuit_breaker": {"no_progres_limit": 3}}', 'did you mean "no_progress_limit"?'],
    ['{"notify_webhook": "file:///etc/passwd"}', 'notify_webhook must be an http URL'],
    ['{"verify": ["a | b"]}', 'which needs a shell'],
  ])('%s is refused', async (text, words) => {
    const place = makePlace({ git: false })
    place.write('ralph.config.json', text)
    const ran = await place.ralph(['run', 'x', '--agent', place.agent(CLAIMS)])
    expect(ran.code).toBe(2)
    expect(sentence(ran)).toContain(words)
    expect(place.calls()).toEqual([])
  })

  test('a folder in its place is refused', async () => {
    const place = makePlace({ git: false })
    mkdirSync(join(place.dir, 'ralph.config.json'))
    const ran = await place.ralph(['run', 'x', '--agent', place.agent(CLAIMS)])
    expect(ran.code).toBe(2)
    expect(sentence(ran)).toContain('ralph.config.json')
  })

  test("the project's file overrides the user's, and flags override both", async () => {
    const place = makePlace({ git: false })
    mkdirSync(place.home)
    const talk = place.agent('echo "$RALPH_ITERATION" >> progress.txt')
    writeFileSync(
      join(place.home, 'ralph.config.json'),
      JSON.stringify({ agent: talk, max_iterations: 2, completion_promise: 'MINE' }),
    )
    place.write('ralph.config.json', JSON.stringify({ max_iterations: 4 }))
    const flags = await place.ralph(['run', 'x', '--json', '--max-iterations', '1'])
    expect(flags.end).toMatchObject({ reason: 'max-iterations', iterations: 1 })
    const environment = await place.ralph(['run', 'x', '--json'], { env: { RALPH_MAX_ITERATIONS: '3' } })
    expect(environment.end).toMatchObject({ reason: 'max-iterations', iterations: 3 })
    const project = await place.ralph(['run', 'x', '--json'])
    expect(project.end).toMatchObject({ reason: 'max-iterations', iterations: 4 })
    expect(place.prompt(8)).toContain('<promise>MINE</promise>')
  })
})

describe.concurrent('config.yaml', () => {
  test('sets what flags, the environment and ralph.config.json do not', async () => {
    const place = makePlace({ git: false })
    mkdirSync(place.home)
    const talk = place.agent('echo "$RALPH_ITERATION" >> progress.txt')
    writeFileSync(join(place.home, 'config.yaml'), `ralph:\n  agent: ${JSON.stringify(talk)}\n  max_iterations: 5\n`)
    const run = async (how: readonly string[] = [], env = {}) =>
      (await place.ralph(['run', 'x', '--json', ...how], { env })).end
    place.write('config.yaml', 'ralph:\n  enabled: false\n  max_iterations: 2\nagents: of another program\n')
    expect(await run()).toMatchObject({ reason: 'max-iterations', iterations: 2 })
    expect(await run([], { RALPH_MAX_ITERATIONS: '3' })).toMatchObject({ reason: 'max-iterations', iterations: 3 })
    expect(await run(['--max-iterations', '1'])).toMatchObject({ reason: 'max-iterations', iterations: 1 })
    place.write('ralph.config.json', JSON.stringify({ max_iterations: 4 }))
    expect(await run()).toMatchObject({ reason: 'max-iterations', iterations: 4 })
  })

  test('an error in it is reported with its line, before anything starts', async () => {
    const place = makePlace({ git: false })
    place.write('config.yaml', 'other: 1\nralph:\n  max_iteration: 3\n')
    const ran = await place.ralph(['run', 'x', '--agent', place.agent(CLAIMS)], { apart: true })
    expect(ran.code).toBe(2)
    expect(sentence(ran)).toContain('config.yaml:3:3: ralph.max_iteration is unknown; did you mean "max_iterations"?')
    expect(place.calls()).toEqual([])
  })

  test("another program's file is ignored", async () => {
    const place = makePlace({ git: false })
    place.write('config.yaml', '{{ not: yaml\n\t- [\n')
    expect(await run(place, place.agent(CLAIMS))).toMatchObject({ code: 0 })
  })
})

describe.concurrent('a loop', () => {
  test('that is already running is not run a second time', async () => {
    const place = makePlace()
    const agent = place.agent(`while [ ! -e '${place.root}/go' ]; do sleep 0.05; done; ${CLAIMS}`)
    const first = place.start(['run', 'x', '--agent', agent, '--json'])
    await until('the agent', () => place.calls().length === 1)
    const second = await place.ralph(['resume'])
    expect(second.code).toBe(1)
    expect(sentence(second)).toContain(`already running in process ${first.pid} on ${hostname()}`)
    writeFileSync(join(place.root, 'go'), '')
    expect(await first.ended).toMatchObject({ code: 0, end: { status: 'completed', iterations: 1 } })
    expect(place.calls()).toEqual(['1 1'])
  })

  test('that has ended cannot be resumed, cancelled, paused or steered', async () => {
    const place = makePlace()
    await run(place, place.agent(CLAIMS))
    const id = onlyLoop(place)
    for (const args of [
      ['resume', id],
      ['cancel', id],
      ['pause', id],
      ['steer', id, 'go on'],
    ]) {
      const ran = await place.ralph(args)
      expect(ran.code).toBe(1)
      expect(sentence(ran)).toContain(`Loop ${id} has ended: complete`)
    }
  })

  test("whose id starts like another one's needs a longer prefix", async () => {
    const place = makePlace({ git: false })
    // An id starts with one of thirty letters and digits, so this ends.
    const first = new Set<string>()
    let letter = ''
    while (!letter) {
      const { end } = await run(place, 'command:true', '--max-iterations', '1')
      const begins = String(end.loop_id).slice(0, 1)
      if (first.has(begins)) letter = begins
      first.add(begins)
    }
    const ran = await place.ralph(['status', letter])
    expect(ran.code).toBe(2)
    expect(sentence(ran)).toContain(`"${letter}" matches several loops`)
  })
})

describe.concurrent('a folder that no longer exists', () => {
  test('is reported if it is the working directory and ralph needs it', () => {
    const { root, env } = makePlace({ git: false })
    const inNoFolder = (...args: string[]) => {
      const there = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"'
      return spawnSync('/bin/sh', ['-c', there, 'sh', process.execPath, LAUNCHER, ...args], { cwd: root, env })
    }
    for (const args of [['run', 'x', '--agent', 'command:true'], ['show'], ['resume']]) {
      const { status, stderr } = inNoFolder(...args)
      expect(status).toBe(1)
      expect(String(stderr)).toMatch(/^ralph: The folder [^\n]* no longer exists\.[^\n]*\n$/)
    }
    expect(inNoFolder('status')).toMatchObject({ status: 0 })
  })

  test('is refused as the place to work in', async () => {
    const place = makePlace({ git: false })
    const ran = await place.ralph(['run', 'x', '--agent', place.agent(CLAIMS), '--dir', 'gone'])
    expect(ran.code).toBe(2)
    expect(sentence(ran)).toContain('is not a folder')
  })

  test('stops a resume with a sentence, and the loop continues once the folder is back', async () => {
    const place = makePlace()
    const agent = place.agent('echo x >> progress.txt; echo "<ask>Which way?</ask>"')
    expect((await run(place, agent)).code).toBe(4)
    renameSync(place.dir, `${place.dir}-aside`)
    const gone = await place.ralph(['resume', onlyLoop(place)], { cwd: place.root })
    expect(gone.code).toBe(1)
    expect(sentence(gone)).toContain(place.dir)
    renameSync(`${place.dir}-aside`, place.dir)
    const back = await place.ralph(['resume', onlyLoop(place), '--json'])
    expect(back).toMatchObject({ code: 4, end: { iterations: 2 } })
  })

  test.each([
    { git: true, what: 'a git repository', flags: [] },
    { git: false, what: 'a plain folder', flags: [] },
    { git: true, what: 'a git repository with checks', flags: ['--verify', 'true'] },
  ])('stops a running loop with a sentence in $what', async ({ git, flags }) => {
    const place = makePlace({ git })
    const agent = place.agent(`rm -rf '${place.dir}'; echo "<promise>COMPLETE</promise>"`)
    const ran = await place.ralph(['run', 'x', '--agent', agent, ...flags])
    expect(ran.code).toBe(1)
    expect(`${ran.stdout}${ran.stderr}`).toContain(place.dir)
    expect((await place.ralph(['status'], { cwd: place.root })).code).toBe(0)
  })
})

/** What could be lost. */
function everything(place: Place): object {
  const rows = ['loop ORDER BY id', 'iteration ORDER BY loop, n', 'event ORDER BY loop, n']
  return [...rows, 'check_result ORDER BY loop, iteration, position'].map((table) =>
    query(place, `SELECT * FROM ${table}`).map(({ epoch: _, holder: __, seq: ___, ...row }) => row),
  )
}

async function withHistory(): Promise<Place> {
  const place = makePlace()
  await run(
    place,
    place.agent(`echo x >> progress.txt; [ "$RALPH_ITERATION" = 3 ] && touch done; ${CLAIMS}`),
    '--verify',
    'ls done',
  )
  await run(place, place.agent('echo "What shall I do?"'))
  return place
}

describe.concurrent('a database', () => {
  test('written by a newer ralph is refused and left as it is', async () => {
    const place = await withHistory()
    const before = everything(place)
    const database = new DatabaseSync(join(place.home, 'ralph.db'))
    database.exec('PRAGMA user_version = 99')
    database.close()
    for (const args of [['status'], ['stats'], ['show'], ['run', 'x', '--agent', 'command:true']]) {
      const ran = await place.ralph(args)
      expect(ran.code).toBe(1)
      expect(sentence(ran)).toContain('written by a newer ralph')
    }
    expect(everything(place)).toEqual(before)
  })

  const DAMAGES: readonly [string, (file: string) => void][] = [
    ['overwritten', (file) => writeFileSync(file, 'this is no database, and never was one\n'.repeat(200))],
    ['cut', (file) => truncateSync(file, 5_000)],
    [
      'scribbled over',
      (file) => {
        const bytes = readFileSync(file)
        writeFileSync(file, bytes.fill(0x5a, 4_096))
      },
    ],
  ]

  test.each(DAMAGES)('that was %s is rebuilt from the transcripts', async (_, damage) => {
    const place = await withHistory()
    const before = everything(place)
    const status = (await place.ralph(['status', '--json'])).lines
    damage(join(place.home, 'ralph.db'))
    for (const args of [['status'], ['stats'], ['run', 'x', '--agent', 'command:true']]) {
      const ran = await place.ralph(args)
      expect(ran.code).toBe(1)
      expect(sentence(ran)).toContain('ralph doctor --rebuild')
    }
    const ill = await place.ralph(['doctor'])
    expect(ill.code).toBe(1)
    expect(ill.stdout).toContain('ralph doctor --rebuild')

    const rebuilt = await place.ralph(['doctor', '--rebuild'])
    expect(rebuilt.code).toBe(0)
    expect(rebuilt.stdout).toContain('Rebuilt the database: 2 loops')
    expect(readdirSync(place.home).some((name) => name.startsWith('ralph.db.broken-'))).toBe(true)
    expect(everything(place)).toEqual(before)
    expect((await place.ralph(['status', '--json'])).lines).toEqual(status)
    const steered = await place.ralph(['steer', String(status[0]?.loop_id), 'stop asking', '--json'])
    expect(steered.end).toMatchObject({ status: 'needs-input', iterations: 4 })
  })

  test('is not rebuilt while a loop is running', async () => {
    const place = makePlace()
    const agent = place.agent(`while [ ! -e '${place.root}/go' ]; do sleep 0.05; done; ${CLAIMS}`)
    const first = place.start(['run', 'x', '--agent', agent, '--json'])
    await until('the agent', () => place.calls().length === 1)
    const refused = await place.ralph(['doctor', '--rebuild'])
    writeFileSync(join(place.root, 'go'), '')
    expect((await first.ended).code).toBe(0)
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('is running')
    const [status] = (await place.ralph(['status', '--json'])).lines
    expect(status).toMatchObject({ status: 'completed', iterations: 1 })
  })

  test('is rebuilt even from a transcript whose last line was cut off before the loop continued', async () => {
    const place = makePlace()
    await run(place, place.agent('echo x >> progress.txt; echo "<ask>Which way?</ask>"'))
    const file = join(place.home, 'transcripts', onlyLoop(place), 'loop.jsonl')
    truncateSync(file, readFileSync(file).length - 20)
    await place.ralph(['resume', '--json'])
    await place.ralph(['resume', '--json'])
    const before = everything(place)
    expect((await place.ralph(['doctor', '--rebuild'])).code).toBe(0)
    expect(everything(place)).toEqual(before)
  })
})

describe.concurrent('a home', () => {
  test('that is a file is refused', async () => {
    const place = makePlace({ git: false })
    writeFileSync(place.home, 'a file')
    for (const args of [['status'], ['run', 'x', '--agent', place.agent(CLAIMS)], ['prune'], ['stats']]) {
      const ran = await place.ralph(args)
      expect(ran.code).toBe(1)
      expect(sentence(ran)).toContain('a file is in the way')
    }
    expect(readFileSync(place.home, 'utf8')).toBe('a file')
    expect(place.calls()).toEqual([])
  })

  test('is readable by its owner only', async () => {
    const place = makePlace({ git: false })
    await run(place, place.agent(CLAIMS))
    expect(execFileSync('stat', ['-c', '%a', place.home], { encoding: 'utf8' }).trim()).toBe('700')
  })

  test("inside the work folder does not count as the agent's work", async () => {
    const place = makePlace()
    const ran = await place.ralph(['run', 'x', '--agent', place.agent('echo hm'), '--json'], {
      env: { RALPH_HOME: join(place.dir, '.ralph') },
    })
    expect(ran.end).toMatchObject({ reason: 'no-progress', iterations: 3 })
  })

  test('that is not writable is refused', async ({ skip }) => {
    skip(process.getuid?.() === 0, 'root may write everywhere')
    const place = makePlace({ git: false })
    mkdirSync(place.home, { mode: 0o500 })
    for (const args of [['status'], ['run', 'x', '--agent', 'command:true']]) {
      const ran = await place.ralph(args)
      expect(ran.code).toBe(1)
      expect(sentence(ran)).toContain('Make it writable, or set RALPH_HOME to another folder.')
    }
  })

  test('that is read-only is refused, and its contents stay', async ({ skip, onTestFinished }) => {
    const place = makePlace({ git: false })
    const disk = mountSmall(place, '8m')
    skip(!disk, 'mounting a file system is not permitted here')
    onTestFinished(() => disk?.remove())
    expect((await run(place, place.agent(CLAIMS))).code).toBe(0)
    const before = readdirSync(place.home)
    disk?.remount('ro')
    for (const args of [['status'], ['run', 'x', '--agent', 'command:true'], ['stats']]) {
      const ran = await place.ralph(args)
      expect(ran.code).toBe(1)
      expect(sentence(ran)).toContain('Make it writable, or set RALPH_HOME to another folder.')
    }
    const below = await place.ralph(['status'], { env: { RALPH_HOME: join(place.home, 'new') } })
    expect(below.code).toBe(1)
    expect(sentence(below)).toContain('cannot be written')
    disk?.remount('rw')
    expect(readdirSync(place.home)).toEqual(before)
    expect((await place.ralph(['status', '--json'])).lines).toHaveLength(1)
  })

  test('that is read-only is not rebuilt, which ralph says in a sentence', async ({ skip, onTestFinished }) => {
    const place = makePlace({ git: false })
    const disk = mountSmall(place, '8m')
    skip(!disk, 'mounting a file system is not permitted here')
    onTestFinished(() => disk?.remove())
    expect((await run(place, place.agent(CLAIMS))).code).toBe(0)
    disk?.remount('ro')
    const ran = await place.ralph(['doctor', '--rebuild'])
    expect(ran.code).toBe(1)
    expect(sentence(ran)).toContain('Make it writable')
  })

  test.for(['4k', '20k', '100k', '140k', '260k'])(
    'on a full disk of %s stops the loop with a sentence, and the loop continues once there is space',
    async (size, { skip, onTestFinished }) => {
      const place = makePlace({ git: false })
      const disk = mountSmall(place, size)
      skip(!disk, 'mounting a file system is not permitted here')
      onTestFinished(() => disk?.remove())
      const prints = place.agent('head -c 8000 /dev/zero | tr "\\000" x; echo; echo x >> progress.txt')
      const flags = ['--agent', prints, '--max-iterations', '30']
      const full = await place.ralph(['run', 'x', ...flags])
      expect(full.code).toBe(1)
      expect(sentence(full)).toContain('No space left')
      const status = await place.ralph(['status'])
      if (status.code !== 0) expect(sentence(status)).toContain('No space left')

      disk?.remount('size=16m')
      const started = (await place.ralph(['status', '--json'])).lines
      for (const { loop_id } of started) {
        const ran = await place.ralph(['resume', String(loop_id), '--json'])
        expect(ran).toMatchObject({ code: 1, end: { reason: 'max-iterations', iterations: 30 } })
        // At most the one iteration in which the disk was full is repeated.
        expect([30, 31]).toContain(place.calls().length)
      }
      expect((await place.ralph(['status', '--json'])).lines).toHaveLength(started.length)
      const before = everything(place)
      expect((await place.ralph(['doctor', '--rebuild'])).code).toBe(0)
      expect(everything(place)).toEqual(before)
    },
  )
})

type Small = { remount(options: string): void; remove(): void }

/** A small file system as the home; undefined where that is not permitted. */
function mountSmall({ home, env }: Place, size: string): Small | undefined {
  mkdirSync(home)
  const call = (program: string, ...args: string[]) => execFileSync(program, args, { env, stdio: 'ignore' })
  try {
    call('mount', '-t', 'tmpfs', '-o', `size=${size},mode=700`, 'tmpfs', home)
  } catch {
    return undefined
  }
  return { remount: (options) => call('mount', '-o', `remount,${options}`, home), remove: () => call('umount', home) }
}

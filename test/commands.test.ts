/** Every ralph command as users and programs see it: what it prints, what it returns, how it is interrupted. */
import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { startLoop } from '../src/engine/loop.ts'
import { specOf } from '../src/engine/stories.test-support.ts'
import { openStore } from '../src/host/sqlite.ts'
import {
  carriers,
  LAUNCHER,
  makePlace,
  onlyLoop,
  type Place,
  query,
  type Running,
  until,
  watchesFiles,
} from './ralph.ts'

const WORKS = 'echo "$RALPH_ITERATION" >> progress.txt'
const CLAIMS = 'echo "<promise>COMPLETE</promise>"'

/** An agent whose turns last until the test ends them. */
function patient(place: Place, then: string): string {
  return place.agent(`while [ ! -e '${place.root}/go' ]; do sleep 0.02; done; ${then}`)
}

function release({ root }: Place): void {
  writeFileSync(join(root, 'go'), '')
}

function startPatient(place: Place, then: string, ...flags: string[]): Running {
  return place.start(['run', 'Do the task.', '--agent', patient(place, then), ...flags])
}

async function agentCalled(place: Place, times = 1): Promise<void> {
  await until(`call ${times} of the agent`, () => place.calls().length >= times)
}

/** No call is lost, and none is counted twice. */
function checksStarted(going: Running): number {
  return going.lines().filter(({ type }) => type === 'check-start').length
}

function iterations(place: Place): object[] {
  return query(place, 'SELECT n, attempts FROM iteration ORDER BY n')
}

const COMMANDS = [
  'run',
  'import',
  'task',
  'briefing',
  'status',
  'show',
  'proof',
  'cancel',
  'pause',
  'resume',
  'steer',
  'stats',
  'doctor',
  'install',
  'uninstall',
  'demo',
  'prune',
]

describe.concurrent('ralph help', () => {
  test.each([['help'], ['--help'], ['-h']])('%s lists every command', async (word) => {
    const ran = await makePlace({ git: false }).ralph([word])
    expect(ran.code).toBe(0)
    for (const command of COMMANDS) expect(ran.stdout).toMatch(new RegExp(`^  ${command} +\\S`, 'm'))
  })

  test('is what ralph prints without arguments, with the exit code for wrong use', async () => {
    const ran = await makePlace({ git: false }).ralph([])
    expect(ran.code).toBe(2)
    expect(ran.stdout).toContain('Commands:')
  })

  test.each(COMMANDS)('explains %s in three notations', async (command) => {
    const place = makePlace({ git: false })
    const [help, flag, short] = await Promise.all([
      place.ralph(['help', command]),
      place.ralph([command, '--help']),
      place.ralph([command, '-h']),
    ])
    expect(help.code).toBe(0)
    expect(help.stdout).toContain(`ralph ${command}`)
    expect([flag.stdout, short.stdout]).toEqual([help.stdout, help.stdout])
    expect(existsSync(place.home)).toBe(false)
  })

  test('names every option of run', async () => {
    const { stdout } = await makePlace({ git: false }).ralph(['help', 'run'])
    const options = 'file agent verify until stage max-iterations completion-promise signal timeout max-cost max-tokens'
    for (const option of [...options.split(' '), 'no-progress', 'same-error', 'dir', 'notify', 'json'])
      expect(stdout).toContain(`--${option}`)
  })
})

describe.concurrent('ralph run', () => {
  test('names its agent and its check, prints one line per iteration, and ends with a sentence', async () => {
    const place = makePlace()
    const agent = place.agent(`${WORKS}; [ "$RALPH_ITERATION" = 1 ] || touch finished; ${CLAIMS}`)
    const ran = await place.ralph(['run', 'Do the task.', '--agent', agent, '--verify', 'ls finished'])
    expect(ran.code).toBe(0)
    const [head, check, before, ...rest] = ran.stdout.split('\n')
    expect(head).toContain(`loop ${onlyLoop(place)} · agent ${agent}`)
    expect(check).toBe('check: ls finished')
    expect(before).toBe('before: ls finished fails')
    expect(rest[0]).toMatch(/^ {2}1 ✗ {2}claimed done; refused: ls finished fails/)
    expect(rest[1]).toMatch(/^ {2}2 ✓ {2}claimed done; verified: ls finished passes/)
    expect(rest[2]).toMatch(/^✓ complete, proof: verified, after 2 iterations\./)
    expect(ran.stderr).toBe('')
  })

  test('warns at once that nothing is checked, and says how to add a check', async () => {
    const place = makePlace()
    const ran = await place.ralph(['run', 'x', '--agent', place.agent(`${WORKS}; ${CLAIMS}`)])
    expect(ran.stdout.split('\n')[1]).toContain('--verify')
    expect(ran.stdout).toMatch(/^✓ complete, proof: claimed, after 1 iteration\./m)
  })

  test('says how to continue when it needs input', async () => {
    const place = makePlace()
    const ran = await place.ralph(['run', 'x', '--agent', place.agent('echo "<ask>Which way?</ask>"')])
    expect(ran.code).toBe(4)
    expect(ran.stdout).toContain('Which way?')
    expect(ran.stdout).toContain(`ralph steer ${onlyLoop(place)}`)
  })

  test('with --json prints objects, and the last one is the end with its documented keys', async () => {
    const place = makePlace()
    const usage = { usage: { tokens: 100, costUsd: 0.25 } }
    const turns = [[usage, { edit: { path: 'a', content: 'a' } }, { text: '<promise>COMPLETE</promise>' }]]
    const ran = await place.ralph(['run', 'x', '--agent', place.script(turns), '--verify', 'test -e a', '--json'])
    expect(ran.lines.map(({ type }) => type)).toEqual([
      'loop-start',
      ...['check-start', 'check-end'],
      'iteration-start',
      ...['agent-event', 'agent-event', 'agent-event'],
      'iteration-end',
      'check-start',
      'check-end',
      'loop-end',
    ])
    const id = onlyLoop(place)
    expect(ran.lines.every((line) => line.loop_id === id)).toBe(true)
    expect(ran.end).toMatchObject({
      type: 'loop-end',
      loop_id: id,
      status: 'completed',
      reason: null,
      proof: 'verified',
      iterations: 1,
      cost_usd: 0.25,
      tokens: 100,
    })
  })

  test('works in --dir, and finds an agent in that folder', async () => {
    const place = makePlace()
    place.write('sub/agent.sh', `#!/bin/sh\npwd > where.txt; ${CLAIMS}\n`, 0o755)
    const ran = await place.ralph(['run', 'x', '--dir', 'sub', '--agent', 'command:./agent.sh', '--json'])
    expect(ran.code).toBe(0)
    expect(place.read('sub/where.txt')).toBe(`${place.dir}/sub\n`)
  })

  test('takes its agent from RALPH_AGENT', async () => {
    const place = makePlace()
    const env = { RALPH_AGENT: place.agent(`${WORKS}; ${CLAIMS}`) }
    expect((await place.ralph(['run', 'x'], { env })).code).toBe(0)
  })

  test('with auto estimates its iterations', async () => {
    const place = makePlace()
    const agent = place.agent(`${WORKS}; ${CLAIMS}`)
    const [start] = (await place.ralph(['run', 'x', '--agent', agent, '--max-iterations', 'auto', '--json'])).lines
    expect([6, 10, 16, 24]).toContain(start?.max_iterations)
    const [low] = (await place.ralph(['run', 'x', '--agent', agent, '--max-iterations', 'auto:4', '--json'])).lines
    expect(low?.max_iterations).toBe(4)
  })

  test('leaves the index, branch and stash of the repository as they are', async () => {
    const place = makePlace()
    const git = (...args: string[]) =>
      execFileSync('git', args, { cwd: place.dir, env: place.env, encoding: 'utf8' }).trim()
    place.write('staged.txt', 'staged')
    git('add', 'staged.txt')
    place.write('untracked.txt', 'untracked')
    const before = [git('status', '--short'), git('rev-parse', 'HEAD'), git('branch'), git('stash', 'list')]
    await place.ralph(['run', 'x', '--agent', place.agent('echo hm'), '--verify', 'false'])
    expect([git('status', '--short'), git('rev-parse', 'HEAD'), git('branch'), git('stash', 'list')]).toEqual(before)
  })

  test('leaves nothing in the temporary folder', async () => {
    const place = makePlace()
    await place.ralph(['run', 'x', '--agent', place.agent(`${WORKS}; ${CLAIMS}`), '--verify', 'true'])
    expect(readdirSync(join(place.root, 'tmp'))).toEqual([])
  })
})

describe.concurrent('colors', () => {
  const ESCAPE = '\u001b'
  // A program on most systems that runs another one in a terminal of its own.
  const SCRIPT = 'script'
  const inTerminal = (place: Place, env: Record<string, string>) =>
    spawnSync(SCRIPT, ['-qec', `'${process.execPath}' '${LAUNCHER}' status`, '/dev/null'], {
      cwd: place.dir,
      env: { ...place.env, TERM: 'xterm', ...env },
      encoding: 'utf8',
    })
  const noScript = spawnSync(SCRIPT, ['--version']).error !== undefined

  test('are not printed without a terminal', async () => {
    const place = makePlace()
    const env = { TERM: 'xterm-256color', FORCE_COLOR: '' }
    const ran = await place.ralph(['run', 'x', '--agent', place.agent(`${WORKS}; ${CLAIMS}`)], { env })
    const shown = await Promise.all(['status', 'show', 'stats', 'doctor'].map((word) => place.ralph([word], { env })))
    for (const { stdout } of [ran, ...shown]) expect(stdout).not.toContain(ESCAPE)
  })

  test('are printed in a terminal, but not with NO_COLOR', async ({ skip }) => {
    skip(noScript, `there is no ${SCRIPT} to create a terminal with`)
    const place = makePlace()
    await place.ralph(['run', 'x', '--agent', place.agent(`${WORKS}; ${CLAIMS}`)])
    expect(inTerminal(place, {}).stdout).toContain(`${ESCAPE}[`)
    const plain = inTerminal(place, { NO_COLOR: '1' }).stdout
    expect(plain).toContain(onlyLoop(place))
    expect(plain).not.toContain(ESCAPE)
  })

  test('a reader that closes the pipe does no harm', async () => {
    const place = makePlace()
    const agent = place.agent(`seq 1 20000; ${WORKS}; echo; ${CLAIMS}`)
    const command = `"$@" | head -n 1; echo "\${PIPESTATUS[0]}"`
    const ran = spawnSync(
      'bash',
      ['-c', command, 'bash', process.execPath, LAUNCHER, 'run', 'x', '--agent', agent, '--json'],
      { cwd: place.dir, env: place.env, encoding: 'utf8' },
    )
    expect(ran.stderr).toBe('')
    expect(ran.stdout.trim().split('\n').at(-1)).toBe('0')
    expect(query(place, 'SELECT status FROM loop')).toEqual([{ status: 'completed' }])
  })
})

describe.concurrent('ralph status', () => {
  test('says if there are no loops yet', async () => {
    const ran = await makePlace({ git: false }).ralph(['status'])
    expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining('No loops yet.') })
  })

  test('lists loops, newest first, and finds one by the start of its id', async () => {
    const place = makePlace()
    await place.ralph(['run', 'First task.', '--agent', place.agent('echo hm')])
    await place.ralph(['run', 'Second task.', '--agent', place.agent(`${WORKS}; ${CLAIMS}`)])
    const list = await place.ralph(['status', '--json'])
    expect(list.code).toBe(0)
    expect(list.lines).toMatchObject([
      { status: 'completed', proof: 'claimed', reason: null, iterations: 1, prompt: 'Second task.', alive: false },
      { status: 'halted', proof: null, reason: 'no-progress', iterations: 3, prompt: 'First task.', alive: false },
    ])
    const text = (await place.ralph(['status'])).stdout
    expect(text).toMatch(/completed, claimed.*\n.*halted: no-progress/)

    const id = String(list.lines[1]?.loop_id)
    const one = await place.ralph(['status', id.slice(0, 6), '--json'])
    expect(one.lines).toMatchObject([{ loop_id: id, status: 'halted', reason: 'no-progress', iterations: 3 }])
    const output = (await place.ralph(['status', id])).stdout
    expect(output).toContain('halted (no-progress) after 3 iterations.')
    expect(output).toMatch(/\niteration 3\/10, last: "[^"\n]+"\n/)
  })

  test('tells a running loop from one without a process', async () => {
    const place = makePlace()
    const going = startPatient(place, `${WORKS}; ${CLAIMS}`)
    await agentCalled(place)
    expect((await place.ralph(['status', '--json'])).lines).toMatchObject([{ status: 'running', alive: true }])
    going.child.kill('SIGKILL')
    await going.ended
    expect((await place.ralph(['status', '--json'])).lines).toMatchObject([{ status: 'running', alive: false }])
    expect((await place.ralph(['status'])).stdout).toContain(', no process')
  })

  test('with --watch shows changes until it is interrupted', async () => {
    const place = makePlace()
    const watching = place.start(['status', '--watch', '--json'])
    const going = startPatient(place, `${WORKS}; ${CLAIMS}`)
    const shows = (status: string) =>
      until(`status ${status}`, () => watching.lines().some((line) => line.status === status))
    await shows('running')
    release(place)
    await going.ended
    await shows('completed')
    watching.child.kill('SIGINT')
    expect(await watching.ended).toMatchObject({ code: 0, signal: null })
  })
})

describe.concurrent('ralph show', () => {
  async function refusedOnce(): Promise<Place> {
    const place = makePlace()
    const agent = place.agent(`${WORKS}; [ "$RALPH_ITERATION" = 1 ] || touch finished; echo "My work."; ${CLAIMS}`)
    await place.ralph(['run', 'Do the task.', '--agent', agent, '--verify', 'ls finished'])
    return place
  }

  test("prints a loop's story: claims, checks, why it continued, why it ended", async () => {
    const place = await refusedOnce()
    const { code, stdout } = await place.ralph(['show'])
    expect(code).toBe(0)
    expect(stdout).toContain('The agent claimed to be done.')
    expect(stdout).toContain('ralph checked: ls finished fails')
    expect(stdout).toContain('Next: iteration 2.')
    expect(stdout).toContain('Before any work, ralph checked: ls finished fails')
    expect(stdout).toContain('It is complete, proof: verified.')
    expect(stdout).toContain('complete, proof: verified, after 2 iterations.')
    expect((await place.ralph(['show', onlyLoop(place).slice(0, 5)])).stdout).toBe(stdout)
  })

  test('shows one iteration in full: its prompt, its answer, its checks', async () => {
    const place = await refusedOnce()
    const { code, stdout } = await place.ralph(['show', onlyLoop(place), '1'])
    expect(code).toBe(0)
    expect(stdout).toContain('Do the task.\n\n---')
    expect(stdout).toContain('My work.\n<promise>COMPLETE</promise>')
    expect(stdout).toMatch(/check ls finished: fail\n.*No such file/)
  })

  test("shows one iteration as text and tool calls; --raw prints the agent's raw output", async () => {
    const place = makePlace({ git: false })
    const line = (value: object) => `echo '${JSON.stringify(value)}'`
    const said = (content: object[]) => line({ type: 'assistant', message: { role: 'assistant', content } })
    place.write(
      '../bin/claude',
      `#!/bin/sh\ncat > /dev/null\n${[
        line({ type: 'system', subtype: 'init', session_id: 's' }),
        said([{ type: 'text', text: 'I look first.' }]),
        said([{ type: 'tool_use', name: 'Bash', input: { command: 'npm test' } }]),
        line({ type: 'result', is_error: false, result: 'Looked.', usage: {} }),
      ].join('\n')}\n`,
      0o755,
    )
    const env = { ...place.env, PATH: `${join(place.root, 'bin')}:${place.env.PATH}` }
    await place.ralph(['run', 'Do the task.', '--agent', 'claude', '--permissions', 'ask', '--max-iterations', '1'], {
      env,
    })
    const output = (await place.ralph(['show', onlyLoop(place), '1'])).stdout
    expect(output).toContain('Do the task.\n\n---')
    expect(output).toContain('I look first.\n› Bash: npm test\n')
    expect(output).not.toContain('"type":"assistant"')
    const raw = (await place.ralph(['show', onlyLoop(place), '1', '--raw'])).stdout
    expect(raw).toContain('{"type":"assistant"')
    expect(raw).toContain('Do the task.\n\n---')
  })

  test('with --json prints events without gaps, and the lines of a transcript', async () => {
    const place = await refusedOnce()
    const events = (await place.ralph(['show', '--json'])).lines
    expect(events.map(({ n }) => n)).toEqual([1, 2, 3, 4, 5])
    const entries = (await place.ralph(['show', onlyLoop(place), '2', '--json'])).lines
    expect(entries[0]).toMatchObject({ attempt: 1, prompt: expect.stringContaining('Do the task.') })
    expect(entries.at(-3)).toMatchObject({ exit: 0, signal: null })
    expect(entries.at(-2)?.diff).toContain('+++ b/')
    expect(entries.at(-1)).toMatchObject({ proof: 'verified' })
  })

  test('refuses an iteration that does not exist', async () => {
    const place = await refusedOnce()
    for (const n of ['3', '0', 'two']) expect((await place.ralph(['show', onlyLoop(place), n])).code).toBe(2)
  })

  test('with --follow keeps printing until the loop ends', async () => {
    const place = makePlace()
    const going = startPatient(place, `${WORKS}; [ "$RALPH_ITERATION" -lt 3 ] || ${CLAIMS}`)
    await agentCalled(place)
    const [text, events] = [place.start(['show', '--follow']), place.start(['show', '--follow', '--json'])]
    await until('the story', () => text.stdout().includes('Do the task.'))
    release(place)
    expect((await going.ended).code).toBe(0)
    expect(await text.ended).toMatchObject({ code: 0, stdout: expect.stringContaining('complete, proof: claimed') })
    const output = await events.ended
    expect(output.code).toBe(0)
    expect(output.lines.map(({ n }) => n)).toEqual([1, 2, 3])
    expect(output.end.next).toMatchObject({ kind: 'complete' })
  })

  test('with --follow stops on Ctrl-C while the loop continues', async () => {
    const place = makePlace()
    const going = startPatient(place, `${WORKS}; ${CLAIMS}`)
    await agentCalled(place)
    const following = place.start(['show', '--follow'])
    await until('the wait for news', () => watchesFiles(following.pid))
    following.child.kill('SIGINT')
    expect((await following.ended).code).toBe(0)
    release(place)
    expect((await going.ended).code).toBe(0)
  })
})

describe.concurrent('ralph cancel', () => {
  test('stops a running agent at once', async () => {
    const place = makePlace()
    const going = startPatient(place, CLAIMS, '--json')
    await agentCalled(place)
    expect((await place.ralph(['cancel'])).code).toBe(0)
    const ran = await going.ended
    expect(ran).toMatchObject({ code: 130, end: { status: 'cancelled', reason: 'cancelled', iterations: 0 } })
    expect(carriers(`RALPH_LOOP_ID=${onlyLoop(place)}`)).toEqual([])
  })

  test.each([
    { when: 'before any work', check: 'sleep 1000', iterations: 0 },
    { when: 'after a claim', check: './check.sh', iterations: 1 },
  ])('stops a running check at once, $when', async ({ check, iterations }) => {
    const place = makePlace()
    place.write('check.sh', '#!/bin/sh\n[ ! -e progress.txt ] || sleep 1000\n', 0o755)
    const agent = place.agent(`${WORKS}; ${CLAIMS}`)
    const going = place.start(['run', 'x', '--agent', agent, '--verify', check, '--json'])
    await until('the check', () => checksStarted(going) === 1 + iterations)
    expect((await place.ralph(['cancel'])).code).toBe(0)
    expect(await going.ended).toMatchObject({ code: 130, end: { status: 'cancelled', iterations } })
    expect(carriers(`RALPH_LOOP_ID=${onlyLoop(place)}`)).toEqual([])
  })

  test('ends a loop that no process is running', async () => {
    const place = makePlace()
    await place.ralph(['run', 'x', '--agent', place.agent('echo "<ask>Which way?</ask>"')])
    const ran = await place.ralph(['cancel', onlyLoop(place)])
    expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining('cancelled') })
    expect((await place.ralph(['resume'])).code).toBe(1)
  })
})

describe.concurrent('ralph pause and ralph resume', () => {
  test('stop after the iteration and continue with the next', async () => {
    const place = makePlace()
    const going = startPatient(place, `${WORKS}; [ "$RALPH_ITERATION" -lt 2 ] || ${CLAIMS}`, '--json')
    await agentCalled(place)
    const paused = await place.ralph(['pause'])
    expect(paused).toMatchObject({ code: 0, stdout: expect.stringContaining('will pause after its current iteration') })
    release(place)
    expect(await going.ended).toMatchObject({ code: 130, end: { status: 'paused', iterations: 1 } })
    const resumed = await place.ralph(['resume', '--json'])
    expect(resumed).toMatchObject({ code: 0, end: { status: 'completed', iterations: 2 } })
    expect(place.calls()).toEqual(['1 1', '2 1'])
  })

  test('keep the check that was due when the pause came', async () => {
    const place = makePlace()
    const going = startPatient(place, `touch finished; ${CLAIMS}`, '--verify', 'test -e finished', '--json')
    await agentCalled(place)
    await place.ralph(['pause'])
    release(place)
    expect(await going.ended).toMatchObject({ code: 130, end: { status: 'paused', iterations: 1 } })
    expect(await place.ralph(['resume', '--json'])).toMatchObject({
      code: 0,
      end: { proof: 'verified', iterations: 1 },
    })
    expect(place.calls()).toEqual(['1 1'])
  })

  test('retry a rate-limited agent at once', async () => {
    const place = makePlace()
    const agent = place.agent(
      `[ "$RALPH_ATTEMPT" -gt 1 ] || { echo "rate limit reached"; exit 1; }; ${WORKS}; ${CLAIMS}`,
    )
    const going = place.start(['run', 'x', '--agent', agent, '--json'])
    await until('the wait', () => going.lines().some(({ type }) => type === 'iteration-end'))
    going.child.kill('SIGKILL')
    await going.ended
    const ran = await place.ralph(['resume', '--json'])
    expect(ran).toMatchObject({ code: 0, end: { status: 'completed', iterations: 1 } })
  })

  test('continue a loop that waits for an answer without one', async () => {
    const place = makePlace()
    const agent = place.agent(`[ "$RALPH_ITERATION" = 1 ] && echo "<ask>Which way?</ask>" || { ${WORKS}; ${CLAIMS}; }`)
    expect((await place.ralph(['run', 'x', '--agent', agent])).code).toBe(4)
    expect(await place.ralph(['resume', '--json'])).toMatchObject({ code: 0, end: { status: 'completed' } })
    expect(place.prompt(2)).toContain('Nobody is available to answer.')
  })
})

describe.concurrent('ralph steer', () => {
  test('reaches the next iteration of a running loop', async () => {
    const place = makePlace()
    const going = startPatient(place, `${WORKS}; [ "$RALPH_ITERATION" -lt 2 ] || ${CLAIMS}`)
    await agentCalled(place)
    const output = await place.ralph(['steer', onlyLoop(place), 'use tabs & $(no shell)'])
    expect(output).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('will get the message in its next iteration.'),
    })
    release(place)
    expect((await going.ended).code).toBe(0)
    expect(place.prompt(1)).not.toContain('use tabs')
    expect(place.prompt(2)).toContain('A person says: use tabs & $(no shell)')
  })

  test('is stored for a paused loop', async () => {
    const place = makePlace()
    const going = startPatient(place, `${WORKS}; [ "$RALPH_ITERATION" -lt 2 ] || ${CLAIMS}`)
    await agentCalled(place)
    await place.ralph(['pause'])
    release(place)
    await going.ended
    expect((await place.ralph(['steer', onlyLoop(place), 'use tabs'])).code).toBe(0)
    expect(place.calls()).toHaveLength(1)
    expect((await place.ralph(['resume'])).code).toBe(0)
    expect(place.prompt(2)).toContain('A person says: use tabs')
  })
})

describe.concurrent('signals', () => {
  test('Ctrl-C finishes the iteration, pauses, and exits with 130', async () => {
    const place = makePlace()
    const going = startPatient(place, `${WORKS}; [ "$RALPH_ITERATION" -lt 2 ] || ${CLAIMS}`)
    await agentCalled(place)
    going.child.kill('SIGINT')
    await until('a message about it', () => going.stdout().includes('Pausing after this iteration.'))
    expect(going.stdout()).toContain(`ralph resume ${onlyLoop(place)}`)
    release(place)
    const ran = await going.ended
    expect(ran).toMatchObject({ code: 130, signal: null })
    expect(ran.stdout).toContain('paused after 1 iteration.')
    expect((await place.ralph(['resume'])).code).toBe(0)
    expect(iterations(place)).toEqual([
      { n: 1, attempts: 1 },
      { n: 2, attempts: 1 },
    ])
  })

  test('Ctrl-C twice stops the agent at once, and the turn is repeated', async () => {
    const place = makePlace()
    const agent = place.agent(`[ "$RALPH_ATTEMPT" -gt 1 ] || sleep 1000; ${WORKS}; ${CLAIMS}`)
    const going = place.start(['run', 'x', '--agent', agent])
    await agentCalled(place)
    going.child.kill('SIGINT')
    await until('a message about it', () => going.stdout().includes('Press Ctrl-C again'))
    going.child.kill('SIGINT')
    expect(await going.ended).toMatchObject({ code: 130, signal: null })
    expect(carriers(`RALPH_LOOP_ID=${onlyLoop(place)}`)).toEqual([])
    expect((await place.ralph(['status', '--json'])).lines).toMatchObject([{ status: 'paused', iterations: 0 }])
    expect((await place.ralph(['resume'])).code).toBe(0)
    expect(iterations(place)).toEqual([{ n: 1, attempts: 2 }])
    expect(readdirSync(join(place.root, 'tmp'))).toEqual([])
  })

  test.each([
    { when: 'before any work', waits: '', iterations: 0 },
    { when: 'after a claim', waits: '[ -e progress.txt ] || exit 1; ', iterations: 1 },
  ])('Ctrl-C twice stops a check at once, $when, and the check is repeated', async ({ waits, iterations }) => {
    const place = makePlace()
    const check = `#!/bin/sh\n${waits}[ -e '${place.root}/go' ] || sleep 1000\n[ -e progress.txt ]\n`
    place.write('check.sh', check, 0o755)
    const agent = place.agent(`${WORKS}; ${CLAIMS}`)
    const going = place.start(['run', 'x', '--agent', agent, '--verify', './check.sh', '--json'])
    await until('the check', () => checksStarted(going) === 1 + iterations)
    going.child.kill('SIGINT')
    await until('a message about it', () => going.lines().some(({ type }) => type === 'message'))
    going.child.kill('SIGINT')
    expect(await going.ended).toMatchObject({ code: 130, end: { type: 'loop-end', status: 'paused', iterations } })
    expect(carriers(`RALPH_LOOP_ID=${onlyLoop(place)}`)).toEqual([])
    release(place)
    expect(await place.ralph(['resume', '--json'])).toMatchObject({
      code: 0,
      end: { proof: 'verified', iterations: 1 },
    })
    expect(place.calls()).toEqual(['1 1'])
  })

  test.each(['SIGTERM', 'SIGHUP'] as const)('%s stops the agent at once, and the turn is repeated', async (signal) => {
    const place = makePlace()
    const agent = place.agent(`[ "$RALPH_ATTEMPT" -gt 1 ] || sleep 1000; ${WORKS}; ${CLAIMS}`)
    const going = place.start(['run', 'x', '--agent', agent, '--json'])
    await agentCalled(place)
    going.child.kill(signal)
    expect(await going.ended).toMatchObject({ code: 130, end: { type: 'loop-end', status: 'paused', iterations: 0 } })
    expect(carriers(`RALPH_LOOP_ID=${onlyLoop(place)}`)).toEqual([])
    expect((await place.ralph(['resume'])).code).toBe(0)
    expect(iterations(place)).toEqual([{ n: 1, attempts: 2 }])
  })

  test('Ctrl-C ends a wait at once', async () => {
    const place = makePlace()
    const going = place.start(['run', 'x', '--agent', place.agent('echo "rate limit reached"; exit 1'), '--json'])
    await until('the wait', () => going.lines().some(({ type }) => type === 'iteration-end'))
    going.child.kill('SIGINT')
    expect(await going.ended).toMatchObject({ code: 130, end: { status: 'paused', iterations: 0 } })
  })

  test('kill -9 leaves no agent behind, and the turn is repeated', async () => {
    const place = makePlace()
    const deaf = `trap '' TERM INT HUP; [ "$RALPH_ATTEMPT" -gt 1 ] || { setsid sleep 1000 & sleep 1000; }; ${WORKS}; ${CLAIMS}`
    const going = place.start(['run', 'x', '--agent', place.agent(deaf)])
    await agentCalled(place)
    going.child.kill('SIGKILL')
    await going.ended
    await until('the end of the agent', () => carriers(`RALPH_LOOP_ID=${onlyLoop(place)}`).length === 0, 3_000)
    expect((await place.ralph(['resume'])).code).toBe(0)
    expect(iterations(place)).toEqual([{ n: 1, attempts: 2 }])
  })

  /** Kills ralph in its first turn, gives an order, resumes, and returns the agent's calls. */
  async function callsAfter(order: string, ...words: string[]): Promise<string[]> {
    const place = makePlace()
    const agent = place.agent(`[ "$RALPH_ATTEMPT" -gt 1 ] || sleep 1000; ${WORKS}; ${CLAIMS}`)
    const going = place.start(['run', 'x', '--agent', agent])
    await agentCalled(place)
    going.child.kill('SIGKILL')
    await going.ended
    expect((await place.ralph([order, onlyLoop(place), ...words])).code).toBe(0)
    const resumed = place.start(['resume'])
    await agentCalled(place, 2)
    resumed.child.kill('SIGTERM')
    await resumed.ended
    return place.calls()
  }

  test('a killed turn is another attempt, even if the loop is steered before it resumes', async () => {
    expect(await callsAfter('steer', 'use tabs')).toEqual(['1 1', '1 2'])
  })

  test('a killed turn is another attempt, even if the loop is paused before it resumes', async () => {
    expect(await callsAfter('pause')).toEqual(['1 1', '1 2'])
  })

  test("an interrupted turn's cost is counted", async () => {
    const place = makePlace()
    const turn = [
      { usage: { tokens: 100, costUsd: 0.25 } },
      { attempt: 1, text: 'On it.' },
      { attempt: 1, sleep: 1000 },
      { edit: { path: 'a', content: 'a' } },
      { text: '<promise>COMPLETE</promise>' },
    ]
    const going = place.start(['run', 'x', '--agent', place.script([turn]), '--json'])
    await until('output of the agent', () => going.stdout().includes('On it.'))
    going.child.kill('SIGKILL')
    await going.ended.catch(() => {}) // its last line may be cut off
    const ran = await place.ralph(['resume', '--json'])
    expect(ran).toMatchObject({ code: 0, end: { iterations: 1, tokens: 200, cost_usd: 0.5 } })
  })
})

describe.concurrent('ralph stats', () => {
  test('says if there are no loops yet', async () => {
    const ran = await makePlace({ git: false }).ralph(['stats'])
    expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining('No loops yet.') })
  })

  test('sums up how loops ended, how many claims were refused, and what was spent', async () => {
    const place = makePlace()
    await place.ralph(['run', 'x', '--agent', place.agent(CLAIMS), '--verify', 'false'])
    await place.ralph(['run', 'x', '--agent', place.agent(`${WORKS}; ${CLAIMS}`), '--verify', 'test -e progress.txt'])
    await place.ralph(['run', 'x', '--agent', place.agent(`${WORKS}; ${CLAIMS}`)])
    const [analytics] = (await place.ralph(['stats', '--json'])).lines
    expect(analytics).toMatchObject({
      loops: 3,
      byStatus: { completed: 2, halted: 1 },
      success: { count: 2, of: 3 },
      stops: [{ reason: 'no-progress', loops: 1 }],
      falseClaims: { claims: 3, loops: { count: 1, of: 3 } },
      iterations: { total: 5, toDone: { mean: 1 } },
      checks: [{ check: 'false', failures: 3, runs: 3 }],
    })
    const { stdout } = await place.ralph(['stats'])
    expect(stdout).toMatch(/^completed +2 of 3 finished, 67% \(21–94%\)$/m)
    expect(stdout).toMatch(/^by grade +1 verified, 0 tested, 0 kept, 0 altered, 1 claimed$/m)
    expect(stdout).toMatch(/^false claims caught +3 in 1 loop, 33% \(6–79%\)$/m)
    expect(stdout).toMatch(/^false +3 \(100%\) +3$/m)
    expect((await place.ralph(['stats', '--since', '1h', '--agent', 'codex'])).stdout).toBe(
      'No loops match these filters.\n',
    )
    const csv = (await place.ralph(['stats', '--csv'])).stdout.split('\n')
    expect(csv).toHaveLength(5)
    expect(csv[0]).toMatch(/^loop_id,started_at,updated_at,status,reason,proof,agent,/)
  })

  test('reports what is wrong with its options', async () => {
    const place = makePlace({ git: false })
    for (const [args, message] of [
      [['--since', 'soon'], '--since must be a time in the past, such as 24h, 7d or 2026-11-01, got "soon".'],
      [['--owner', 'me'], '--owner must be person, project, vault, session, pane, board or fleet, got "me".'],
      [['--json', '--csv'], 'Use either --json or --csv, not both.'],
    ] as const)
      expect(await place.ralph(['stats', ...args])).toMatchObject({ code: 2, stderr: expect.stringContaining(message) })
  })
})

describe.concurrent('history', () => {
  test('is shown before a loop starts, once there is enough of it', async () => {
    const place = makePlace({ git: false })
    const agent = place.agent(`${WORKS}; ${CLAIMS}`)
    const args = ['run', 'x', '--agent', agent, '--type', 'docs']
    expect((await place.ralph(args)).stdout).not.toContain('history:')
    const store = openStore(place.home, Date.now)
    const work = { ...specOf().work, dir: place.dir, agent, type: 'docs', size: 'S' as const }
    for (let n = 0; n < 19; n++) {
      const past = startLoop(`past-${n}`, specOf({ work }), { at: n })
      const next = { kind: 'complete', proof: 'claimed', sentence: 'It is done.' } as const
      await store.create({ ...past, tally: { ...past.tally, iteration: 1 }, next })
    }
    await store.close()
    expect((await place.ralph(args)).stdout).toMatch(
      /^history: 9\d% complete within 10 iterations \(\d\d–100%\); half of the loops that complete take up to 1, nine in ten up to 1 \(20 finished loops in this folder with command:\S+ of type docs of size S\)$/m,
    )
    const [start] = (await place.ralph([...args, '--json'])).lines
    expect(start).toMatchObject({ type: 'loop-start', forecast: { loops: 21, chance: { rate: expect.any(Number) } } })
  })
})

describe.concurrent('ralph doctor', () => {
  test('finds nothing wrong', async () => {
    const place = makePlace()
    const ran = await place.ralph(['doctor'])
    expect(ran.code).toBe(0)
    for (const what of ['node', 'database', 'git']) expect(ran.stdout).toMatch(new RegExp(`^✓ ${what} `, 'm'))
    const { lines } = await place.ralph(['doctor', '--json'])
    expect(lines.map(({ what, ok }) => [what, ok])).toEqual(expect.arrayContaining([['database', true]]))
  })

  test('reports missing git', async () => {
    const place = makePlace({ git: false })
    const ran = await place.ralph(['doctor'], { env: { PATH: join(place.root, 'tmp') }, apart: true })
    expect(ran.stdout).toMatch(/^✗ git /m)
    expect(ran.code).toBe(1)
  })
})

describe.concurrent('ralph prune', () => {
  test('removes the conversations of loops that have ended, and nothing else', async () => {
    const place = makePlace()
    await place.ralph(['run', 'x', '--agent', place.agent(`${WORKS}; ${CLAIMS}`)])
    const done = onlyLoop(place)
    await place.ralph(['run', 'x', '--agent', place.agent('echo "<ask>Which way?</ask>"')])
    const before = (await place.ralph(['status', '--json'])).lines
    const open = String(before[0]?.loop_id)
    const files = (id: string) => readdirSync(join(place.home, 'transcripts', id)).sort()
    expect((await place.ralph(['prune'])).stdout).toContain('Nothing to remove.')
    expect(files(done)).toEqual(['1.jsonl', 'loop.jsonl'])
    expect((await place.ralph(['prune', '--days', '0'])).stdout).toContain('1 iteration, 2 checkpoints,')
    expect([files(done), files(open)]).toEqual([['loop.jsonl'], ['1.jsonl', 'loop.jsonl']])
    expect((await place.ralph(['doctor', '--rebuild'])).code).toBe(0)
    expect((await place.ralph(['status', '--json'])).lines).toEqual(before)
    expect((await place.ralph(['show', done])).stdout).toContain('complete, proof: claimed')
    expect((await place.ralph(['resume', open])).code).toBe(4)
  })

  test('happens silently when a loop starts, according to RALPH_KEEP_DAYS', async () => {
    const place = makePlace()
    const agent = place.agent(`${WORKS}; ${CLAIMS}`)
    await place.ralph(['run', 'x', '--agent', agent])
    const first = onlyLoop(place)
    await place.ralph(['run', 'x', '--agent', agent], { env: { RALPH_KEEP_DAYS: '0' } })
    expect(existsSync(join(place.home, 'transcripts', first, '1.jsonl'))).toBe(false)
    const wrong = await place.ralph(['prune'], { env: { RALPH_KEEP_DAYS: 'forever' } })
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('RALPH_KEEP_DAYS') })
  })
})

describe.concurrent('--notify', () => {
  async function listen(status: number): Promise<{ address: string; bodies: unknown[]; close(): void }> {
    const bodies: unknown[] = []
    const server = createServer((request: IncomingMessage, response) => {
      void json(request).then((body) => {
        bodies.push(body)
        response.writeHead(status).end()
      })
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    return { address: `http://127.0.0.1:${port}/hook`, bodies, close: () => server.close() }
  }

  test('reports to a webhook how the loop ended', async ({ onTestFinished }) => {
    const hook = await listen(200)
    onTestFinished(hook.close)
    const place = makePlace()
    place.write('ralph.config.json', JSON.stringify({ notify_webhook: hook.address }))
    const agent = place.agent('echo "<ask>Which way?</ask>"')
    expect((await place.ralph(['run', 'x', '--agent', agent])).code).toBe(4)
    expect(hook.bodies).toEqual([])
    expect((await place.ralph(['run', 'x', '--agent', agent, '--notify'])).code).toBe(4)
    expect(hook.bodies).toMatchObject([
      { status: 'needs-input', iterations: 1, text: expect.stringContaining('Which way?') },
    ])
    expect((await place.ralph(['resume', '--notify'])).code).toBe(4)
    expect(hook.bodies).toHaveLength(2)
  })

  test.each([
    ['breaks the config', 'echo "{" > ralph.config.json'],
    ['names another address', `echo '{"notify_webhook": "http://127.0.0.1:9/"}' > ralph.config.json`],
  ])('reaches the user even if the agent %s', async (_, change) => {
    const hook = await listen(200)
    try {
      const place = makePlace()
      place.write('ralph.config.json', JSON.stringify({ notify_webhook: hook.address }))
      const agent = place.agent(`${change}; ${CLAIMS}`)
      expect(await place.ralph(['run', 'x', '--agent', agent, '--notify'])).toMatchObject({ code: 0, stderr: '' })
      expect(hook.bodies).toMatchObject([{ status: 'completed' }])
    } finally {
      hook.close()
    }
  })

  test('reports a webhook that refuses or is unreachable, and keeps the exit code', async ({ onTestFinished }) => {
    const hook = await listen(500)
    onTestFinished(hook.close)
    const place = makePlace()
    const flags = ['--agent', place.agent(`${WORKS}; ${CLAIMS}`), '--notify']
    place.write('ralph.config.json', JSON.stringify({ notify_webhook: hook.address }))
    const refused = await place.ralph(['run', 'x', ...flags])
    expect(refused).toMatchObject({ code: 0, stderr: 'ralph: the webhook answered 500.\n' })
    place.write('ralph.config.json', JSON.stringify({ notify_webhook: 'http://127.0.0.1:9/' }))
    const lost = await place.ralph(['run', 'x', ...flags])
    expect(lost).toMatchObject({ code: 0, stderr: expect.stringContaining('could not be reached') })
  })
})

describe.concurrent('ralph demo', () => {
  test('shows how a lie and bent tests are caught, and a loop that is verified', async () => {
    const place = makePlace({ git: false })
    const ran = await place.ralph(['demo'])
    expect(ran.code).toBe(0)
    expect(ran.stdout).toContain('claimed done; refused: node --test fails')
    expect(ran.stdout).toContain('refused: only its changes to cart.test.mjs make node --test pass')
    expect(ran.stdout).toContain('complete, proof: verified, after 4 iterations.')
    expect(ran.stdout).toContain('It is complete, proof: verified.')
    expect(existsSync(place.home)).toBe(false)
    const [, shown = ''] = /```\n(check: [\s\S]*?)```/.exec(readFileSync('README.md', 'utf8')) ?? []
    expect(withoutChance(ran.stdout)).toContain(withoutChance(shown))
    const printed = ran.stdout.split('\n').map(bareLine)
    const pictured = linesOfPicture(readFileSync('docs/demo.svg', 'utf8')).map(bareLine)
    expect(pictured.length).toBeGreaterThan(10)
    // Renewed by `npm run pictures -- terminal`.
    expect(printed.slice(printed.indexOf(pictured[0] ?? '')).slice(0, pictured.length)).toEqual(pictured)
  })
})

/** The lines of a picture of a terminal, without blanks. */
function linesOfPicture(svg: string): string[] {
  const lines = new Map<string, string>()
  for (const [, y = '', runs = ''] of svg.matchAll(/<text y="(\d+)".*?>(.*)<\/text>/g)) {
    const text = runs.replace(/<.*?>/g, '').replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
    lines.set(y, (lines.get(y) ?? '') + text)
  }
  return [...lines.values()]
}

/** A line without blanks, and without what differs from run to run. */
function bareLine(line: string): string {
  return line
    .replace(/\s/g, '')
    .replace(/(loop|show)[a-z0-9]{8}(?=·|$)/, '$1LOOP')
    .replace(/scripted:\S*?script/, 'scripted:script')
    .replace(/\d+:\d\d$/, 'TIME')
}

/** Names of loops and times differ from run to run. */
function withoutChance(text: string): string {
  return text.replace(/\bshow [a-z0-9]{8}\b/g, 'show LOOP').replace(/\b\d+:\d\d$/gm, 'TIME')
}

describe.concurrent('the launcher', () => {
  const OLD_NODE = '/usr/bin/node'
  const version = existsSync(OLD_NODE) ? execFileSync(OLD_NODE, ['--version'], { encoding: 'utf8' }).trim() : 'none'
  const [major = 99, minor = 0] = version.slice(1).split('.').map(Number)
  const isOld = version !== 'none' && (major < 22 || (major === 22 && minor < 19))

  test.each(['--version', '-v'])('answers %s', async (flag) => {
    const ran = await makePlace({ git: false }).ralph([flag], { apart: true })
    expect(ran).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) })
  })

  test('says in one sentence that Node is too old', async ({ skip }) => {
    skip(!isOld, `there is no Node older than 22.19 in ${OLD_NODE} (${version})`)
    const ran = await makePlace({ git: false }).ralph(['status'], { node: OLD_NODE })
    expect(ran.code).toBe(1)
    expect(ran.stdout).toBe('')
    expect(ran.stderr).toMatch(/^ralph needs Node 22\.19 or newer, and this is v[\d.]+\. [^\n]+\n$/)
    expect(ran.stderr).toContain(version)
  })

  test('switches to the Node that RALPH_NODE names', async ({ skip }) => {
    skip(!isOld, `there is no Node older than 22.19 in ${OLD_NODE} (${version})`)
    const place = makePlace({ git: false })
    const env = { RALPH_NODE: process.execPath }
    expect(await place.ralph(['status', 'nosuch'], { node: OLD_NODE, env })).toMatchObject({ code: 2 })
    const agent = place.agent(`${WORKS}; ${CLAIMS}`)
    const ran = await place.ralph(['run', 'x', '--agent', agent, '--json'], { node: OLD_NODE, env })
    expect(ran).toMatchObject({ code: 0, end: { status: 'completed' } })
  })
})

/** Configuration that a loop changed is ignored until a person approves it. */
import { spawnSync } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { done, execute, makeProject, sh } from './project-place.ts'
import { LAUNCHER, makePlace, type Place, type Ran, until } from './ralph.ts'
import { openSession } from './session-place.ts'

/** Sets an agent and a check for the next command. */
const planted = ({ root }: Place) =>
  JSON.stringify({ agent: `command:touch ${root}/obeyed`, verify: [`touch ${root}/obeyed`], max_iterations: 1 })

const plants = (place: Place) => `cat > ralph.config.json << 'END'\n${planted(place)}\nEND`
const DONE = 'echo "<promise>COMPLETE</promise>"'

function hasObeyed({ root }: Place): boolean {
  return existsSync(join(root, 'obeyed'))
}

async function runBy(place: Place, lines: string, ...more: string[]): Promise<Ran> {
  return place.ralph(['run', 'x', '--agent', place.agent(lines), '--json', ...more])
}

const loopOf = ({ lines }: Ran) => String(lines[0]?.loop_id)

function refusal(loop: string): object {
  return { code: 2, stderr: expect.stringMatching(new RegExp(`by loop ${loop}, .*ralph trust`)) }
}

describe.concurrent('configuration that a loop changed', () => {
  test('is refused if nobody can be asked, with the loop that changed it, and applies once the user approves', async () => {
    const place = makePlace()
    const ran = await runBy(place, `${plants(place)}\n${DONE}`)
    expect(ran.code).toBe(0)
    expect(ran.stdout).toContain('ralph trust')
    const loop = loopOf(ran)
    const planted = await place.ralph(['run', 'y', '--json'])
    expect(planted).toMatchObject({ ...refusal(loop), end: { type: 'error', code: 'config-changed' } })
    for (const args of [
      ['watch', '.', '--once'],
      ['fork', loop],
      ['run', 'y', '--dir', '.'],
    ])
      expect(await place.ralph(args), args.join(' ')).toMatchObject(refusal(loop))
    expect(hasObeyed(place)).toBe(false)
    expect(await place.ralph(['trust'], { env: { RALPH_LOOP_ID: loop } })).toMatchObject({ code: 2 })
    expect(await place.ralph(['trust'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('ralph.config.json'),
    })
    await place.ralph(['run', 'y', '--json'])
    expect(hasObeyed(place)).toBe(true)
    expect(await place.ralph(['trust'])).toMatchObject({ stdout: expect.stringContaining('Nothing to accept') })
  })

  test('is also noticed when the loop resumes, and not again after it was approved', async () => {
    const place = makePlace()
    const lines = `if [ "$RALPH_ITERATION" = 1 ]; then\n${plants(place)}\nelse echo x >> x.txt; fi`
    const ran = await runBy(place, lines, '--max-iterations', '3')
    expect(await place.ralph(['run', 'y'])).toMatchObject(refusal(loopOf(ran)))
    await place.ralph(['trust'])
    await place.ralph(['resume', loopOf(ran), '--max-iterations', '4'])
    await place.ralph(['run', 'y'])
    expect(hasObeyed(place)).toBe(true)
  })

  test('applies if the user has changed it since', async () => {
    const place = makePlace()
    await runBy(place, `${plants(place)}\n${DONE}`)
    place.write('ralph.config.json', `{ "agent": "${place.agent(`touch '${place.root}/mine'; ${DONE}`)}" }`)
    expect(await place.ralph(['run', 'y'])).toMatchObject({ code: 0 })
    expect(existsSync(join(place.root, 'mine'))).toBe(true)
  })

  test.each([
    ['deleted', '{ "max_iterations": 3 }', 'rm ralph.config.json', 'ralph.config.json was deleted'],
    ['another section of config.yaml', 'other: 1\nralph:\n  max_iterations: 3\n', 'echo "more: 2" >> config.yaml', ''],
    [
      'the section of config.yaml',
      'other: 1\n',
      'printf "ralph:\\n  agent: command:true\\n" >> config.yaml',
      'config.yaml was changed',
    ],
    [
      'agents of config.yaml',
      'other: 1\n',
      'printf "agents:\\n  - name: x\\n" >> config.yaml',
      'config.yaml was changed',
    ],
  ])('%s', async (_, text, lines, says) => {
    const place = makePlace()
    place.write(text.startsWith('{') ? 'ralph.config.json' : 'config.yaml', text)
    await runBy(place, `${lines}\n${DONE}`)
    const next = await place.ralph(['run', 'y', '--agent', place.agent(DONE)])
    expect(next).toMatchObject(says === '' ? { code: 0 } : { code: 2, stderr: expect.stringContaining(says) })
  })

  test('is noticed if ralph was killed during that turn', async () => {
    const place = makePlace()
    const running = place.start([
      'run',
      'x',
      '--agent',
      place.agent(`${plants(place)}\ntouch ready; sleep 60`),
      '--json',
    ])
    await until('the agent has changed it', () => existsSync(join(place.dir, 'ready')))
    process.kill(running.pid, 'SIGKILL')
    const { lines } = await running.ended
    expect(await place.ralph(['run', 'y'])).toMatchObject(refusal(String(lines[0]?.loop_id)))
  })

  test('by a check is noticed, since checks run what the agent wrote', async () => {
    const place = makePlace()
    const lines = `cat > check.sh << 'ALL'\n${plants(place)}\nALL\n${DONE}`
    const ran = await runBy(place, lines, '--verify', 'sh check.sh', '--max-iterations', '1')
    expect(await place.ralph(['run', 'y'])).toMatchObject(refusal(loopOf(ran)))
    expect(hasObeyed(place)).toBe(false)
  })

  test('in a worktree applies once a person accepts the work', async () => {
    const place = makePlace()
    place.write('ralph.config.json', '{ "max_iterations": 7 }') // which is in no commit
    const ran = await runBy(place, `echo x > x.txt\n${DONE}`, '--worktree')
    expect(ran.stdout).not.toContain('ralph trust')
    rmSync(join(place.dir, 'ralph.config.json'))
    const planting = await runBy(place, `${plants(place)}\n${DONE}`, '--worktree')
    expect(await place.ralph(['accept', loopOf(planting)])).toMatchObject({ code: 0 })
    await place.ralph(['run', 'y'])
    expect(hasObeyed(place)).toBe(true)
  })

  test.each([[[]], [['--parallel', '2']]])(
    'by a task of a project is refused for the next `ralph execute` %s',
    async (flags) => {
      const place = makeProject(['T1', 'T2'])
      await execute(place, { T1: [[sh(plants(place)), done]], T2: [[done]] }, ...flags)
      expect(await place.ralph(['execute', 'shop'])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(`${place.dir}/ralph.config.json was changed by loop`),
      })
      expect(hasObeyed(place)).toBe(false)
    },
  )

  test("by a loop in a session is refused even after the loop's end, and no session applies it", async () => {
    const place = makePlace()
    const session = openSession(place)
    await session.type('/ralph:loop Build it')
    place.write('ralph.config.json', planted(place))
    await session.stop('I worked.')
    await session.type('/ralph:cancel')
    const refused = await place.ralph(['run', 'y'])
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('ralph trust') })
    const other = await openSession(place, { id: 's-2' }).type('/ralph:loop Build more')
    expect(other.out).toContain('ralph trust')
    expect(hasObeyed(place)).toBe(false)
  })

  test('in a turn of a session whose end went unnoticed is asked about once', async () => {
    const place = makePlace()
    await openSession(place).type('/ralph:loop Build it')
    place.write('ralph.config.json', planted(place))
    expect(await place.ralph(['run', 'y'])).toMatchObject({ code: 2 })
    place.write('ralph.config.json', `{ "agent": "${place.agent(DONE)}" }`)
    expect(await place.ralph(['run', 'y'])).toMatchObject({ code: 0 })
  })

  test('names no agents for the dispatcher', async () => {
    const place = makePlace()
    const lines = `printf 'agents:\\n  - name: x\\n    setup: touch ${place.root}/obeyed\\n' > config.yaml`
    const ran = await runBy(place, `${lines}\n${DONE}`)
    expect(await place.ralph(['dispatch', '--config', 'config.yaml'])).toMatchObject(refusal(loopOf(ran)))
    expect(hasObeyed(place)).toBe(false)
  })

  test('is asked about in a terminal, and the command continues', async ({ skip }) => {
    skip(spawnSync('script', ['--version']).status !== 0, 'script is not installed')
    const place = makePlace()
    await runBy(place, `${plants(place)}\n${DONE}`)
    const type = (words: string) =>
      spawnSync(
        'script',
        ['--quiet', '--return', '--command', `'${process.execPath}' '${LAUNCHER}' run y`, '/dev/null'],
        {
          cwd: place.dir,
          env: { ...place.env, TERM: 'xterm' },
          input: words,
          encoding: 'utf8',
        },
      )
    expect(type('n\n')).toMatchObject({ status: 1, stdout: expect.stringContaining('Use it as it is now? [y/N]') })
    expect(hasObeyed(place)).toBe(false)
    expect(type('y\n').stdout).toContain('Use it as it is now? [y/N]')
    expect(hasObeyed(place)).toBe(true)
    expect(type('').stdout).not.toContain('Use it')
  })
})

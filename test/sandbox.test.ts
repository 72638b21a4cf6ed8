/** `--sandbox`: what an agent cannot write, and that its loop continues. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { delimiter, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { carriers, commitAll, makePlace, type Place } from './ralph.ts'

// A sandbox has its own /dev: if these tests ran in memory, it would not find their folders.
delete process.env.TMPDIR

const usable = spawnSync('bwrap', ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', 'true']).status === 0

/** Work, and a change to a file that the check reads, so that experiments are needed. */
const WORK = 'echo x > in.txt; echo "# more" >> check.sh'

/** An agent outside the worktree, which a sandbox can read but not write. */
function agent(place: Place, lines: string): string {
  writeFileSync(join(place.root, 'agent.sh'), `#!/bin/sh\n${lines}\necho "<promise>COMPLETE</promise>"\n`, {
    mode: 0o755,
  })
  return `command:${join(place.root, 'agent.sh')}`
}

function commandLines(): string[] {
  return readdirSync('/proc').flatMap((name) => {
    try {
      return /^\d+$/.test(name) ? [readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()] : []
    } catch {
      return [] // it has ended
    }
  })
}

describe.concurrent('--sandbox', () => {
  test('a write outside is denied, and the loop continues to its end', async ({ skip }) => {
    skip(!usable, 'bubblewrap is not installed')
    const place = makePlace()
    writeFileSync(join(place.root, 'home', 'mine.txt'), 'mine\n')
    const lines = [
      'echo inside > in.txt',
      `echo out > '${place.root}/out.txt' 2>> denied.txt || echo denied >> denied.txt`,
      'rm -f "$HOME/mine.txt" 2>> denied.txt || echo denied >> denied.txt',
      'echo scratch > "$TMPDIR/scratch" && cat "$TMPDIR/scratch" > scratch.txt',
      'git add --all && git commit --quiet --message Inside',
    ]
    const ran = await place.ralph([
      'run',
      'x',
      '--sandbox',
      '--agent',
      agent(place, lines.join('\n')),
      '--verify',
      'test -f in.txt',
      '--json',
    ])
    expect(ran).toMatchObject({ code: 0, end: { status: 'completed', proof: 'verified' } })
    expect(existsSync(join(place.root, 'out.txt'))).toBe(false)
    expect(readFileSync(join(place.root, 'home', 'mine.txt'), 'utf8')).toBe('mine\n')
    expect(place.read('denied.txt')).toContain('denied')
    expect(place.read('scratch.txt')).toBe('scratch\n')
    expect(carriers(`RALPH_LOOP_ID=${ran.lines[0]?.loop_id}`)).toEqual([])
  })

  test('works in a linked worktree, whose git folder is elsewhere', async ({ skip }) => {
    skip(!usable, 'bubblewrap is not installed')
    const place = makePlace()
    const work = 'echo new > new.txt; git add --all; git commit --quiet --message New'
    const ran = await place.ralph(['run', 'x', '--sandbox', '--worktree', '--agent', agent(place, work), '--json'])
    expect(ran).toMatchObject({ code: 0, end: { status: 'completed' } })
    expect(await place.ralph(['accept', String(ran.lines[0]?.loop_id)])).toMatchObject({ code: 0 })
    expect(place.read('new.txt')).toBe('new\n')
  })

  test('root cannot open it from inside, and git outside runs nothing the agent named', async ({ skip }) => {
    skip(!usable, 'bubblewrap is not installed')
    const place = makePlace()
    const lines = [
      'mount -o remount,bind,rw / 2>/dev/null',
      `git config filter.x.clean "touch '${place.root}/filtered'; cat" 2>/dev/null`,
      "echo '*.txt filter=x' > .gitattributes; echo x > x.txt",
      `printf '#!/bin/sh\\ntouch ${place.root}/hooked\\n' > .git/hooks/pre-commit`,
      `touch '${place.root}/out.txt' 2>/dev/null`,
    ]
    const ran = await place.ralph(['run', 'x', '--sandbox', '--agent', agent(place, lines.join('\n')), '--json'])
    expect(ran.code).toBe(0)
    expect(['out.txt', 'filtered', 'hooked'].filter((name) => existsSync(join(place.root, name)))).toEqual([])
    expect(existsSync(join(place.dir, '.git/hooks/pre-commit'))).toBe(false)
  })

  test('nothing that the agent leaves running outlives it', async ({ skip }) => {
    skip(!usable, 'bubblewrap is not installed')
    const place = makePlace()
    const ran = await place.ralph([
      'run',
      'x',
      '--sandbox',
      '--agent',
      agent(place, 'echo x > x.txt; setsid env -i sleep 987654 &'),
      '--json',
    ])
    expect(ran.code).toBe(0)
    expect(commandLines()).not.toContain('sleep 987654')
  })

  test('a service can be let in by name', async ({ skip }) => {
    skip(!usable, 'bubblewrap is not installed')
    const place = makePlace()
    const socket = join(place.root, 'docker.sock')
    const server = createServer((connection) => connection.on('error', () => {}).end('hello')).listen(socket)
    onTestFinished(() => void server.close())
    writeFileSync(
      join(place.root, 'reach.cjs'),
      `require('node:net').connect('${socket}').on('data', () => console.log('reached')).on('error', () => {})`,
    )
    const agentIs = agent(place, `echo "$DOCKER_HOST" > seen.txt; node '${place.root}/reach.cjs' >> seen.txt`)
    const run = (...more: string[]) =>
      place.ralph(['run', 'x', '--agent', agentIs, '--json', ...more], { env: { DOCKER_HOST: `unix://${socket}` } })
    expect(await run('--sandbox')).toMatchObject({ code: 0 })
    expect(place.read('seen.txt')).toBe('\n')
    expect(await run('--sandbox', '--sandbox-allow', 'redis, docker')).toMatchObject({ code: 0 })
    expect(place.read('seen.txt')).toBe(`unix://${socket}\nreached\n`)
    place.write('ralph.config.json', '{ "sandbox": true, "sandbox_allow": ["docker"] }')
    place.write('seen.txt', '')
    expect(await run()).toMatchObject({ code: 0 })
    expect(place.read('seen.txt')).toBe(`unix://${socket}\nreached\n`)
  })

  test.for<[args: string[], says: string]>([
    [['--sandbox', '--sandbox-allow', 'dokcer'], 'did you mean "docker"?'],
    [['--sandbox-allow', 'docker'], 'Add --sandbox'],
    [['--sandbox=on'], '--sandbox must be strict or off, got "on"'],
  ])('%s is refused', async ([args, says]) => {
    const place = makePlace()
    const ran = await place.ralph(['run', 'x', '--agent', agent(place, 'echo x > x.txt'), ...args])
    expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining(says) })
  })

  test("ralph's own folder is hidden, even if it is in the worktree", async ({ skip }) => {
    skip(!usable, 'bubblewrap is not installed')
    const place = makePlace()
    const home = join(place.dir, '.ralph')
    const lines = `ls -A '${home}' > seen.txt; touch '${home}/planted' 2>> seen.txt; echo x > x.txt`
    const ran = await place.ralph(['run', 'x', '--sandbox', '--agent', agent(place, lines), '--json'], {
      env: { RALPH_HOME: home },
    })
    expect(ran.code).toBe(0)
    expect(place.read('seen.txt')).toMatch(/^touch: .*Read-only file system\n$/)
    expect(existsSync(join(home, 'planted'))).toBe(false)
  })

  test('strict runs checks and experiments inside, without a network', async ({ skip }) => {
    skip(!usable, 'bubblewrap is not installed')
    const place = makePlace()
    const server = createServer((connection) => connection.on('error', () => {}).end('hello'))
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const reach = (at: string | number) =>
      `node -e "require('node:net').connect(${at}, '127.0.0.1').on('connect', () => process.exit()).on('error', () => process.exit(1))"`
    const own = `node -e "const s = require('node:net').createServer((c) => c.end()).listen(0, '127.0.0.1', () => require('node:net').connect(s.address().port, '127.0.0.1').on('connect', () => process.exit()))"`
    const check = [
      `touch '${place.root}/out' 2>/dev/null`, // its /tmp is a different one
      `${reach(port)} && exit 4`,
      `${own} || exit 5`,
      'test -f in.txt',
      '',
    ]
    place.write('check.sh', check.join('\n'))
    commitAll(place)
    const run = (...more: string[]) =>
      place.ralph(['run', 'x', '--verify', 'sh check.sh', '--json', '--agent', agent(place, WORK), ...more])
    const ran = await run('--sandbox=strict', '--worktree')
    expect(ran).toMatchObject({ code: 0, end: { status: 'completed', proof: 'verified' } })
    expect(ran.lines).toContainEqual(expect.objectContaining({ type: 'proof-end', run: 'sealed' }))
    expect(existsSync(join(place.root, 'out'))).toBe(false)
    const loop = String(ran.lines[0]?.loop_id)
    expect(await place.ralph(['proof', loop, '--again'])).toMatchObject({ code: 0 })
    expect(existsSync(join(place.root, 'out'))).toBe(false)
    // Without a sandbox, the same check reports that it got out.
    expect(await run('--max-iterations', '1')).toMatchObject({ code: 1 })
    expect(existsSync(join(place.root, 'out'))).toBe(true)
  })

  test('without bubblewrap it is refused, with instructions', async () => {
    const place = makePlace()
    const bin = join(place.root, 'bin')
    mkdirSync(bin)
    for (const name of ['git', 'sh', 'true'])
      writeFileSync(join(bin, name), `#!/bin/sh\nexec /usr/bin/${name} "$@"\n`, { mode: 0o755 })
    const ran = await place.ralph(['run', 'x', '--sandbox', '--agent', agent(place, 'echo x > x.txt')], {
      env: { PATH: [bin].join(delimiter) },
    })
    expect(ran).toMatchObject({ code: 3, stderr: expect.stringContaining('apt install bubblewrap') })
    expect(existsSync(join(place.dir, 'x.txt'))).toBe(false)
  })
})

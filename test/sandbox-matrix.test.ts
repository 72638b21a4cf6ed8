/** Every trick of the table, tried by an agent in the sandbox: it is contained, or docs/sandbox.md admits it. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { commitAll, LAUNCHER, makePlace, type Place, type Ran } from './ralph.ts'
import { MINE, type Service, type Site, TRICKS } from './sandbox-tricks.ts'

// A sandbox has its own /dev: if these tests ran in memory, it would not find their folders.
delete process.env.TMPDIR
// This process is an ancestor of the agent, and nobody gave this to the agent.
process.env.RALPH_TEST_OF_THE_PARENT = '1'

const usable = spawnSync('bwrap', ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', 'true']).status === 0
const docs = readFileSync(resolve(import.meta.dirname, '../docs/sandbox.md'), 'utf8')

let site: Site
let place: Place
let ran: Ran
const servers: Server[] = []
const reached = new Set<string>()
let sleeper: ChildProcess

beforeAll(async () => {
  if (!usable) return
  place = makePlace()
  site = await openSite(place)
  ran = await place.ralph(['run', 'x', '--sandbox', '--agent', agentOf(place), '--json'], { env: variables(site) })
}, 120_000)

afterAll(() => {
  for (const server of servers) server.close()
  if (site) rmSync(dirname(site.sockets.x11), { recursive: true, force: true })
  sleeper?.kill('SIGKILL')
})

describe('an agent in the sandbox', () => {
  test('continues to its end', ({ skip }) => {
    skip(!usable, 'bubblewrap is not installed')
    expect(ran).toMatchObject({ code: 0, end: { status: 'completed' } })
    expect(TRICKS.length).toBeGreaterThanOrEqual(40)
  })

  test.for(TRICKS.map((trick, index) => ({ ...trick, index })))('$name', ({ index, got, named }, { skip }) => {
    skip(!usable, 'bubblewrap is not installed')
    const said = readFileSync(join(place.dir, `trick-${index}.out`), 'utf8')
    const isOut = got ? got(site, said) : said.includes('GOT')
    if (named !== undefined) expect(docs).toContain(named)
    expect(isOut, said).toBe(named !== undefined)
  })

  test("cannot reach the user's terminal, even if ralph has one", ({ skip }) => {
    skip(!usable, 'bubblewrap is not installed')
    skip(spawnSync('script', ['--version']).status !== 0, 'script is not installed')
    const { dir, env, root } = makePlace()
    const opens = '(exec 3<> /dev/tty) 2> /dev/null && echo GOT'
    writeFileSync(join(root, 'agent.sh'), `#!/bin/sh\n{ ${opens}; echo done; } > tty.txt\n`, { mode: 0o755 })
    const inTerminal = (command: string) =>
      spawnSync('script', ['--quiet', '--command', command, '/dev/null'], { cwd: dir, env, encoding: 'utf8' }).stdout
    expect(inTerminal(opens)).toContain('GOT')
    inTerminal(
      `'${process.execPath}' '${LAUNCHER}' run x --sandbox --max-iterations 1 --agent 'command:${root}/agent.sh'`,
    )
    expect(readFileSync(join(dir, 'tty.txt'), 'utf8')).toBe('done\n')
  })

  test('plants no configuration for the next loop', async ({ skip }) => {
    skip(!usable, 'bubblewrap is not installed')
    const { root, ...own } = makePlace()
    const config = JSON.stringify({ agent: `command:touch ${root}/obeyed`, verify: [`touch ${root}/obeyed`] })
    const lines = `printf '%s' '${config}' > ralph.config.json\necho "<promise>COMPLETE</promise>"`
    writeFileSync(join(root, 'agent.sh'), `#!/bin/sh\n${lines}\n`, { mode: 0o755 })
    expect(await own.ralph(['run', 'x', '--sandbox', '--agent', `command:${root}/agent.sh`])).toMatchObject({ code: 0 })
    expect(await own.ralph(['run', 'y'])).toMatchObject({ code: 2, stderr: expect.stringContaining('ralph trust') })
    expect(existsSync(join(root, 'obeyed'))).toBe(false)
  })

  test('makes no check pass through the script that it runs', async ({ skip }) => {
    skip(!usable, 'bubblewrap is not installed')
    const made = makePlace()
    made.write('check.sh', 'test -f work.txt\n')
    commitAll(made)
    const lines = 'echo exit 0 > check.sh\necho "<promise>COMPLETE</promise>"'
    writeFileSync(join(made.root, 'agent.sh'), `#!/bin/sh\n${lines}\n`, { mode: 0o755 })
    const args = [
      'run',
      'x',
      '--sandbox',
      '--agent',
      `command:${made.root}/agent.sh`,
      '--verify',
      'sh check.sh',
      '--json',
    ]
    expect(await made.ralph(args)).toMatchObject({ code: 4, end: { status: 'needs-input' } })
  })

  test('reaches only the services that the docs admit', ({ skip }) => {
    skip(!usable, 'bubblewrap is not installed')
    expect([...reached].sort()).toEqual(['abstract', 'port', 'work'])
  })
})

/** Tries all tricks, several at a time, and logs what each says. */
function agentOf(made: Place): string {
  const tricks = join(made.root, 'tricks')
  mkdirSync(tricks)
  writeFileSync(join(tricks, 'reach.cjs'), REACH)
  for (const [index, { tries }] of TRICKS.entries()) writeFileSync(join(tricks, `${index}.sh`), `${tries(site)}\n`)
  const one = `timeout 10 sh "$TRICKS/$1.sh" > "trick-$1.out" 2>&1 < /dev/null; true`
  const lines = [
    '#!/bin/sh',
    `export TRICKS='${tricks}'`,
    `seq 0 ${TRICKS.length - 1} | xargs -P 4 -I N sh -c '${one}' sh N`,
    'echo "<promise>COMPLETE</promise>"',
  ]
  writeFileSync(join(made.root, 'agent.sh'), `${lines.join('\n')}\n`, { mode: 0o755 })
  return `command:${join(made.root, 'agent.sh')}`
}

const REACH = `
const [word] = process.argv.slice(2)
const at = word.startsWith('abstract:') ? { path: '\\0' + word.slice(9) } : /^\\d+$/.test(word) ? { port: Number(word), host: '127.0.0.1' } : { path: word }
const socket = require('node:net').connect(at)
socket.on('data', () => { console.log('GOT'); process.exit() })
socket.on('error', (error) => { console.log(error.code); process.exit() })
`

async function openSite({ root, dir, home }: Place): Promise<Site> {
  const [person, outside] = [join(root, 'home'), join(root, 'outside')]
  mkdirSync(outside)
  for (const name of ['mine.txt', 'kept.txt', 'mode.txt']) writeFileSync(join(outside, name), MINE, { mode: 0o644 })
  writeFileSync(join(person, '.Xauthority'), 'cookie\n')
  for (const name of ['worktrees/other', 'transcripts', 'locks']) mkdirSync(join(home, name), { recursive: true })
  for (const name of ['server.json', 'server-token']) writeFileSync(join(home, name), 'ralph_secret\n')
  sleeper = spawn('sleep', ['600'], { cwd: outside, stdio: 'ignore' })
  const runtime = join(root, 'runtime')
  const sockets: Record<Service, string> = {
    docker: join(person, '.docker/run/docker.sock'),
    podman: join(runtime, 'podman/podman.sock'),
    'ssh-agent': join(root, 'agent/ssh.sock'),
    'gpg-agent': join(person, '.gnupg/S.gpg-agent'),
    dbus: join(runtime, 'bus'),
    x11: `/tmp/.ralph-sandbox-${process.pid}/X99`,
    wayland: join(runtime, 'wayland-0'),
    tmux: join(root, 'tmux/default'),
    postgres: join(root, 'postgres/.s.PGSQL.5432'),
    control: join(person, '.ssh/control'),
    elsewhere: join(root, 'elsewhere/socket'),
    run: `/run/ralph-sandbox-${process.pid}`,
    work: join(dir, 'own.sock'),
  }
  for (const [name, path] of Object.entries(sockets)) await listen(name, path)
  await listen('abstract', `\0ralph-sandbox-${process.pid}`)
  const { port } = (await listen('port', 0)) as { port: number }
  const ralph = resolve(import.meta.dirname, '..')
  return { person, outside, work: dir, ralphHome: home, ralph, sleeper: sleeper.pid ?? 0, sockets, port }
}

async function listen(name: string, at: string | number): Promise<unknown> {
  const server = createServer((socket) => {
    reached.add(name)
    socket.on('error', () => {}).end('hello')
  })
  if (typeof at === 'string' && !at.startsWith('\0')) mkdirSync(dirname(at), { recursive: true })
  // Only root can listen below /run.
  const path = name === 'control' ? `${at}.bound` : at
  await new Promise<void>((done) => {
    server.once('listening', done).once('error', () => done())
    if (typeof path === 'number') server.listen(path, '127.0.0.1')
    else server.listen(path)
  })
  // OpenSSH gives the socket its name once it listens.
  if (name === 'control') {
    linkSync(String(path), String(at))
    rmSync(String(path))
  }
  servers.push(server)
  return server.address()
}

function variables({ sockets }: Site): Record<string, string> {
  return {
    SSH_AUTH_SOCK: sockets['ssh-agent'],
    XDG_RUNTIME_DIR: dirname(sockets.dbus),
    DBUS_SESSION_BUS_ADDRESS: `unix:path=${sockets.dbus},guid=1`,
    DISPLAY: ':99',
    WAYLAND_DISPLAY: 'wayland-0',
    DOCKER_HOST: `unix://${sockets.docker}`,
    TMUX: `${sockets.tmux},1,0`,
    GPG_AGENT_INFO: `${sockets['gpg-agent']}:0:1`,
    SOME_EDITOR: sockets.elsewhere,
  }
}

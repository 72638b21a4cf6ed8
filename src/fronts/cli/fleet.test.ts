import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { describe, expect, onTestFinished, test } from 'vitest'
import { eventually, temporaryFolder } from '../../host/place.test-support.ts'
import { dropDatabase, postgresMissing, testDatabase } from '../../host/postgres/postgres.test-support.ts'
import { main } from './main.ts'
import { openRecorder } from './screen.test-support.ts'

const missing = await postgresMissing()
const ROOT = resolve(import.meta.dirname, '../../..')
const DONE = `echo '<promise>COMPLETE</promise>'`

type Ran = { code: number; out: string; err: string }
type Line = Record<string, unknown>

/** A clone of a remote repository, with an agent beside it, and a database that everything below uses. */
async function openPlace() {
  const url = await testDatabase()
  onTestFinished(() => dropDatabase(url))
  const folder = temporaryFolder()
  const [remote, clone] = [join(folder, 'remote.git'), join(folder, 'clone')]
  const git = (cwd: string, ...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@a', ...args], { cwd, encoding: 'utf8' }).trim()
  git(folder, 'init', '--quiet', '--bare', '--initial-branch', 'main', remote)
  git(folder, 'clone', '--quiet', remote, clone)
  git(clone, 'config', 'user.email', 'ada@example.com')
  writeFileSync(join(clone, 'a.txt'), 'a\n')
  git(clone, 'add', '--all')
  git(clone, 'commit', '--quiet', '--message', 'start')
  git(clone, 'push', '--quiet', 'origin', 'HEAD:main')

  const start = (argv: readonly string[], home: string, env: Record<string, string> = {}) => {
    const [out, err] = [openRecorder(), openRecorder()]
    const machine = {
      env: { PATH: process.env.PATH, HOME: folder, RALPH_HOME: join(folder, home), RALPH_DATABASE: url, ...env },
      cwd: () => clone,
      stdin: Readable.from([]),
      stdout: out.stream,
      stderr: err.stream,
    }
    const ended = main(argv, { root: ROOT, version: '0.1.0' }, machine).then(
      (code): Ran => ({ code, out: out.text(), err: err.text() }),
    )
    return { out: out.text, err: err.text, ended }
  }
  const ralph = (...argv: string[]) => start(argv, 'home').ended
  let workers = 0
  return {
    url,
    clone,
    remote,
    git,
    start,
    ralph,
    lines: async (...argv: string[]): Promise<Line[]> => {
      const { out } = await ralph(...argv, '--json')
      return out.split('\n').flatMap((line) => (line ? [JSON.parse(line) as Line] : []))
    },
    agent(lines: string): string {
      const file = join(folder, `agent-${Math.random()}.sh`)
      writeFileSync(file, `#!/bin/sh\ncat > /dev/null\n${lines}\n`)
      chmodSync(file, 0o755)
      return `command:${file}`
    },
    /** In this process, until `ralph fleet drain` ends it. */
    async worker(...argv: string[]) {
      const running = start(['worker', '--agents', 'command', ...argv], `worker-${++workers}`)
      const id = await eventually(() => /^ralph worker (\S+) /.exec(running.out())?.[1])
      onTestFinished(async () => {
        await ralph('fleet', 'drain', id)
        await running.ended
      })
      return { id, ...running }
    },
  }
}

describe.skipIf(missing)(`the fleet on the command line${missing ? `: ${missing}` : ''}`, () => {
  test('a task is submitted, run, pushed and shown', async () => {
    const { ralph, worker, agent, git, remote } = await openPlace()
    const { id, out } = await worker('--labels', 'linux')
    const submitted = await ralph(
      ...[
        'submit',
        'Write b.txt',
        '--agent',
        agent(`touch b.txt; ${DONE}`),
        '--labels',
        'linux',
        '--verify',
        'test -f b.txt',
      ],
      '--wait',
    )
    expect(submitted).toMatchObject({ code: 0, err: '' })
    const [, task = ''] = /^Task (\w+) is submitted\. Its work goes to ralph\/\1 of /.exec(submitted.out) ?? []
    expect(submitted.out).toMatch(new RegExp(`^${task}  done  `, 'm'))
    expect(git(remote, 'ls-tree', '--name-only', `ralph/${task}`)).toBe('a.txt\nb.txt')
    expect(out()).toContain(`${task}  started: Write b.txt`)
    expect(out()).toContain(`${task}  iteration 1 is over`)
    expect((await ralph('status')).out).toMatch(new RegExp(`^${id} +alive +0/2 +command +linux`, 'm'))
    expect((await ralph('status', task)).out).toContain('submitted by ada@example.com · agents command:')
    expect((await ralph('show', task)).out).toContain('Write b.txt')
    expect((await ralph('proof', task)).out).toContain('verified')
  })
})

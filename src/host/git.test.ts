import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { askGit, git } from './git.ts'
import { temporaryFolder } from './place.test-support.ts'

test('returns what git prints without its last line break', async () => {
  expect(await git(temporaryFolder(), ['--version'])).toMatch(/^git version \S+[^\n]*$/)
})

test('a git that fails returns nothing', async () => {
  expect(await git(temporaryFolder(), ['rev-parse', '--show-toplevel'])).toBeUndefined()
  expect(await git(temporaryFolder(), ['no-such-command'])).toBeUndefined()
  expect(await git(join(temporaryFolder(), 'gone'), ['--version'])).toBeUndefined()
})

test('arguments reach git unchanged, without a shell', async () => {
  const dir = temporaryFolder()
  expect(await git(dir, ['rev-parse', '--sq-quote', '$(touch pwned)', '`id`', 'a b'])).toBe(
    ` '$(touch pwned)' '\`id\`' 'a b'`,
  )
})

test('a file system monitor of the repository is not started', async () => {
  const dir = temporaryFolder()
  execFileSync('git', ['init', '--quiet'], { cwd: dir })
  writeFileSync(join(dir, 'hook.sh'), `#!/bin/sh\ntouch "${join(dir, 'started')}"\n`, { mode: 0o755 })
  execFileSync('git', ['config', 'core.fsmonitor', join(dir, 'hook.sh')], { cwd: dir })
  expect(await git(dir, ['status', '--porcelain'])).toBe('?? hook.sh')
})

test('a long output of git is read completely', async () => {
  const dir = temporaryFolder()
  execFileSync('git', ['init', '--quiet'], { cwd: dir })
  writeFileSync(join(dir, 'large.txt'), `${'x'.repeat(99)}\n`.repeat(100_000))
  const id = await git(dir, ['hash-object', '-w', 'large.txt'])
  expect((await git(dir, ['cat-file', 'blob', id ?? '']))?.length).toBe(10_000_000 - 1)
})

test('a replaced object is seen as it was', async () => {
  const dir = temporaryFolder()
  execFileSync('git', ['init', '--quiet'], { cwd: dir })
  const blob = (text: string) =>
    execFileSync('git', ['hash-object', '-w', '--stdin'], { cwd: dir, input: text, encoding: 'utf8' }).trim()
  const [honest, bent] = [blob('equal(1, 2)'), blob('equal(2, 2)')]
  execFileSync('git', ['replace', honest, bent], { cwd: dir })
  expect(await git(dir, ['cat-file', 'blob', honest])).toBe('equal(1, 2)')
})

test('an interrupted git says so', async () => {
  const dir = temporaryFolder()
  execFileSync('git', ['init', '--quiet'], { cwd: dir })
  const answer = await askGit(dir, ['status'], { signal: AbortSignal.abort() })
  expect(answer).toEqual({ ok: false, code: undefined, says: 'it was interrupted' })
})

describe('a git that does not answer', () => {
  afterEach(() => void vi.unstubAllEnvs())

  /** A git that does this the first time, and succeeds from then on. */
  function firstly(lines: string): void {
    const folder = temporaryFolder()
    const script = `#!/bin/sh\nif [ -e "${folder}/again" ]; then echo yes; exit; fi\n: > "${folder}/again"\n${lines}\n`
    writeFileSync(join(folder, 'git'), script, { mode: 0o755 })
    vi.stubEnv('PATH', `${folder}:${process.env.PATH}`)
  }

  test.each([
    ['was killed, as on a machine without memory', 'kill -KILL $$'],
    ['could not open a file', 'echo "fatal: open .git/config: Too many open files" >&2; exit 128'],
    ['could not start a program', 'echo "error: cannot fork() for x: Resource temporarily unavailable" >&2; exit 128'],
  ])('because it %s is called again', async (_, lines) => {
    firstly(lines)
    expect(await askGit(temporaryFolder(), ['status'])).toEqual({ ok: true, out: 'yes' })
  })

  test.each([
    ['crashed', 'kill -SEGV $$', {}],
    ['does not end', 'exec sleep 100', { minutes: 0.002 }],
    ['was killed while it ran hooks', 'kill -KILL $$', { hooks: true as const }],
  ])('because it %s has not said no', async (_, lines, how) => {
    firstly(lines)
    const asked = git(temporaryFolder(), ['status'], how)
    await expect(asked).rejects.toMatchObject({ code: 'git-failed', message: expect.stringMatching(/^git status in /) })
  })
})

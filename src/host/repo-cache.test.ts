import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { eventually, source, startScript, temporaryFolder } from './place.test-support.ts'
import { damageObjects, makeRemote, type Remote } from './remote.test-support.ts'
import { openRepoCache, type RepoCache } from './repo-cache.ts'
import { maskUrl, mirrorName, mustBeRepo } from './repo-url.ts'

let remote: Remote
let home: string
let cache: RepoCache

beforeEach(async () => {
  remote = await makeRemote()
  home = temporaryFolder()
  cache = openRepoCache(home)
})

const MAIN = 'refs/heads/main'

const fetchMain = async (from = remote.url, by = cache) => {
  const fetched = await by.fetch(from, [MAIN])
  return fetched.kind === 'fetched' ? fetched.commits.get(MAIN) : fetched
}

describe('an address', () => {
  test.each([
    'https://example.org/a/b.git',
    'https://somebody@example.org/a.git',
    'ssh://git@example.org:22/a/b.git',
    'git@example.org:a/b.git',
    'example.org:a.git',
    'file:///srv/git/a.git',
    '/srv/git/a.git',
  ])('that git knows is accepted: %s', (repo) => {
    expect(() => mustBeRepo(repo)).not.toThrow()
  })

  test.each<[string, string]>([
    ['ext::sh -c touch% /tmp/x', 'git would run a program to fetch it'],
    ['foo::bar', 'git would run a program to fetch it'],
    ['--upload-pack=touch /tmp/x', 'git would read it as an option'],
    ['ssh://-oProxyCommand=x/a', 'ssh would read its host as an option'],
    ['-oProxyCommand=x:a', 'git would read it as an option'],
    ['git@-oProxyCommand=x:a', 'ssh would read its host as an option'],
    ['../a.git', 'a relative path'],
    ['a.git', 'a relative path'],
    ['ftp://example.org/a', 'ftp:// is not one of'],
    ['/srv/a\nb', 'control characters'],
    ['', 'it is empty'],
    ['https://me:hunter2@example.org/a.git', 'it contains a password'],
  ])('is refused with a sentence: %s', (repo, says) => {
    expect(() => mustBeRepo(repo)).toThrow(says)
    expect(() => mustBeRepo(repo)).not.toThrow('hunter2')
  })

  test('is shown without its secrets', () => {
    expect(maskUrl("unable to access 'https://me:hunter2@example.org/a/': no")).toBe(
      "unable to access 'https://***@example.org/a/': no",
    )
    expect(maskUrl('https://hunter2@example.org/a ssh://git@example.org/a')).toBe(
      'https://***@example.org/a ssh://git@example.org/a',
    )
  })

  test('has its own folder that people recognize', () => {
    const names = ['https://a.org/x/shop.git', 'https://b.org/x/shop.git', '/', 'a:../../..'].map(mirrorName)
    expect(new Set(names).size).toBe(4)
    expect(names[0]).toMatch(/^shop-[0-9a-f]{12}$/)
    for (const name of names) expect(name).toMatch(/^[\w][\w.-]*$/)
  })
})

describe('the mirror of a repository', () => {
  test('has what the remote has, and gets what is new the next time', async () => {
    expect(await fetchMain()).toBe(remote.tip('main'))
    const next = remote.commit({ 'b.txt': 'b\n' })
    expect(await fetchMain()).toBe(next)
    expect(readdirSync(join(home, 'repos')).filter((name) => /^\S+-[0-9a-f]{12}$/.test(name))).toHaveLength(1)
  })

  test('runs no hook and obeys no setting that an agent left in it', async () => {
    const { top } = await cache.open(remote.url)
    const trace = join(home, 'trace')
    execFileSync('git', ['config', 'core.gitProxy', `touch ${trace}`], { cwd: top })
    execFileSync('git', ['config', `url.ext::touch ${trace} %S .insteadOf`, remote.url], { cwd: top })
    expect(await fetchMain()).toBe(remote.tip('main'))
    expect(existsSync(trace)).toBe(false)
  })

  test('is fetched into by one process at a time', async () => {
    const all = await Promise.all(Array.from({ length: 6 }, () => fetchMain(remote.url, openRepoCache(home))))
    expect(new Set(all)).toEqual(new Set([remote.tip('main')]))
  })

  test('waits for another process that is fetching', async () => {
    const { top } = await cache.open(remote.url)
    const other = startScript(`
      import { inTurnAlone } from ${source('host/turn-alone.ts')}
      await inTurnAlone(${JSON.stringify(`${top}.lock`)}, async () => {
        console.log('in')
        await new Promise((done) => process.stdin.once('data', done))
        console.log('out')
      })
      process.exit()`)
    await eventually(() => other.lines().includes('in'))
    let done = false
    const fetched = fetchMain().then((tip) => {
      done = true
      return tip
    })
    expect(await Promise.race([fetched, new Promise((tell) => setTimeout(tell, 200, 'waits'))])).toBe('waits')
    expect(done).toBe(false)
    other.write('go\n')
    expect(await fetched).toBe(remote.tip('main'))
  })

  test.each<[string, (top: string) => void]>([
    ['half created', (top) => rmSync(join(top, '.git', 'objects'), { recursive: true })],
    ['without HEAD', (top) => truncateSync(join(top, '.git', 'HEAD'))],
    ['left next to it by a killed ralph', (top) => renameSync(top, `${top}.new`)],
    ['without its pin', (top) => rmSync(`${top}.pin`, { recursive: true })],
    ['with empty objects', (top) => damageObjects(join(top, '.git'))],
  ])('is usable again when it is found %s', async (_, damage) => {
    await fetchMain()
    damage((await cache.open(remote.url)).top)
    const next = remote.commit({ 'b.txt': 'b\n' })
    expect(await fetchMain()).toBe(next)
  })

  test('is repaired, and not recreated, if that is enough', async () => {
    await fetchMain()
    const { top, commonDir } = await cache.open(remote.url)
    writeFileSync(join(top, '.env'), 'mine\n')
    mkdirSync(join(commonDir, 'worktrees/mine'))
    rmSync(join(commonDir, 'HEAD'))
    expect(await fetchMain()).toBe(remote.tip('main'))
    expect(existsSync(join(commonDir, 'worktrees/mine'))).toBe(true)
    rmSync(join(commonDir, 'objects'), { recursive: true })
    expect(await fetchMain()).toBe(remote.tip('main'))
    expect([join(commonDir, 'worktrees/mine'), join(top, '.env')].map((path) => existsSync(path))).toEqual([
      false,
      true,
    ])
  })

  test('is freed from the lock of a killed git', async () => {
    await fetchMain()
    const { top } = await cache.open(remote.url)
    const lock = join(top, '.git/refs/remotes/origin/main.lock')
    writeFileSync(lock, '')
    utimesSync(lock, 1, 1)
    const next = remote.commit({ 'b.txt': 'b\n' })
    expect(await fetchMain()).toBe(next)
  })

  test('accepts a branch that has become a folder of branches', async () => {
    remote.git('branch', 'a', 'main')
    await cache.fetch(remote.url, ['refs/heads/a'])
    remote.git('branch', '-m', 'a', 'a/b')
    expect(await cache.fetch(remote.url, ['refs/heads/a/b'])).toMatchObject({ kind: 'fetched' })
  })
})

describe('a remote', () => {
  test('that is unavailable is worth another try, and works when it is back', async () => {
    await fetchMain()
    renameSync(remote.url, `${remote.url}-away`)
    expect(await fetchMain()).toEqual({
      kind: 'unreachable',
      why: expect.stringMatching(/not appear to be a git repo.*\.$/),
    })
    renameSync(`${remote.url}-away`, remote.url)
    expect(await fetchMain()).toBe(remote.tip('main'))
  })

  test('without a server is worth another try', async () => {
    expect(await fetchMain('http://127.0.0.1:1/a.git')).toEqual({
      kind: 'unreachable',
      why: expect.stringContaining('127.0.0.1'),
    })
  })

  test('without that branch is not', async () => {
    const fetched = await cache.fetch(remote.url, ['refs/heads/nope'])
    expect(fetched).toEqual({ kind: 'refused', why: "couldn't find remote ref refs/heads/nope." })
  })

  test('is left when the caller wants to stop', async () => {
    const fetched = cache.fetch(remote.url, [MAIN], { signal: AbortSignal.abort() })
    expect(await fetched).toEqual({ kind: 'unreachable', why: 'It was interrupted.' })
  })
})

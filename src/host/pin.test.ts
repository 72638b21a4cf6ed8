import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { printSettings, type Setting } from '../formats/git-config.ts'
import { openRepository } from './git.ts'
import { holding } from './git-site.ts'
import { openPin, openPins, type Pin, pinFolder } from './pin.ts'
import { temporaryFolder } from './place.test-support.ts'
import { makeRepository, makeWorktree, type TestRepository } from './repository.test-support.ts'
import { gitPlaces } from './sandbox-git.ts'
import { openTree } from './tree.ts'

let main: TestRepository
let home: string

beforeEach(async () => {
  main = await makeRepository()
  home = temporaryFolder()
})

async function pinned(place: string = main.dir): Promise<Pin> {
  const pin = await openPin({ folder: pinFolder(home, 'a1'), place })
  if ('none' in pin) throw new Error(pin.none)
  return pin
}

test('git reads a printed configuration as the same settings', () => {
  const file = join(home, 'config')
  const text = fc.string({ unit: fc.constantFrom(...'ab"\\ \t\n;#=[].é\'$`'), maxLength: 12 })
  const part = text.filter((one) => !one.includes('\n'))
  const setting = fc
    .tuple(fc.constantFrom('core', 'filter', 'x-1'), fc.option(part), fc.constantFrom('clean', 'a-b'), fc.option(text))
    .map(([section, sub, name, value]): Setting => {
      const key = `${section}${sub === null ? '' : `.${sub}`}.${name}`
      return value === null ? { key } : { key, value }
    })
  fc.assert(
    fc.property(fc.array(setting, { minLength: 1, maxLength: 8 }), (settings) => {
      writeFileSync(file, printSettings(settings))
      const listed = execFileSync('git', ['config', '--file', file, '--list', '-z'], { encoding: 'utf8' })
      const expected = settings.map(({ key, value }) => (value === undefined ? key : `${key}\n${value}`))
      expect(listed.split('\0').slice(0, -1)).toEqual(expected)
    }),
    { numRuns: Number(process.env.RALPH_TEST_RUNS ?? 20) },
  )
})

describe('the configuration that ralph uses', () => {
  const asked = async ({ repo }: Pin, ...args: string[]) => (await repo.ask(args)) as { out?: string }

  test('is the original one, with what it includes, whatever is written later', async () => {
    main.write('shared.config', '[filter "mine"]\n\tclean = tr a b\n')
    main.git('config', 'include.path', '../shared.config')
    const pin = await pinned()
    main.git('config', 'core.attributesFile', '/elsewhere')
    main.write('shared.config', '[filter "mine"]\n\tclean = evil\n')
    expect(await asked(pin, 'config', 'filter.mine.clean')).toMatchObject({ out: 'tr a b' })
    expect(await asked(pin, 'config', 'core.attributesFile')).toMatchObject({ ok: false })
    expect(await asked(await pinned(), 'config', 'filter.mine.clean')).toMatchObject({ out: 'tr a b' })
  })

  test.each<[string, () => void]>([
    ['grafts', () => writeFileSync(join(main.dir, '.git/info/grafts'), `${main.git('rev-parse', 'HEAD')}\n`)],
    [
      'replacements',
      () => {
        main.git('config', 'core.useReplaceRefs', 'true')
        main.git('replace', '--graft', 'HEAD')
      },
    ],
    ['a shallow boundary', () => writeFileSync(join(main.dir, '.git/shallow'), `${main.git('rev-parse', 'HEAD')}\n`)],
    ['a broken configuration', () => writeFileSync(join(main.dir, '.git/config'), 'nonsense [')],
  ])('does not know %s', async (_, write) => {
    main.commit('Second')
    const pin = await pinned()
    write()
    expect(await asked(pin, 'rev-list', '--count', 'HEAD')).toMatchObject({ out: '2' })
  })

  test('leaves branches, logs and worktrees where the person has them', async () => {
    const pin = await pinned()
    expect(await asked(pin, 'update-ref', '-m', 'why', 'refs/heads/new', 'HEAD')).toMatchObject({ ok: true })
    expect(main.git('reflog', 'show', '--format=%gs', 'new')).toBe('why')
    main.git('pack-refs', '--all')
    expect(await asked(pin, 'update-ref', '-d', 'refs/heads/new')).toMatchObject({ ok: true })
    expect(main.git('branch', '--list', 'new')).toBe('')
    expect(await asked(pin, 'worktree', 'list', '--porcelain')).toMatchObject({
      out: expect.stringContaining(`worktree ${main.dir}\n`),
    })
  })
})

describe('what a turn left', () => {
  test.each<[string, () => void, RegExp]>([
    ['a filter', () => main.git('config', 'filter.x.clean', 'evil'), /\/config has changed .*\(filter\.x\.clean\)/],
    ['a hook', () => main.write('.git/hooks/pre-commit', 'evil'), /hooks .*\(pre-commit\)/],
    ['another hooks folder', () => main.git('config', 'core.hooksPath', 'mine'), /\(core\.hookspath\)/],
  ])('is reported: %s', async (_, write, says) => {
    const pin = await pinned()
    expect(await pin.look()).toEqual([])
    write()
    expect(await pin.look()).toEqual([expect.stringMatching(says)])
    expect(await pin.look()).toEqual([])
    expect(await pin.changes()).toEqual([expect.stringMatching(says)])
  })

  test.each<[string, () => void]>([
    ['the author and where it is pushed', () => main.git('config', 'branch.main.remote', 'origin')],
    ['a sample', () => main.write('.git/hooks/pre-commit.sample', 'text')],
    ['nothing', () => {}],
  ])('and means nothing is not reported: %s', async (_, write) => {
    const pin = await pinned()
    write()
    expect(await pin.look()).toEqual([])
  })

  test('is not used by the git of an accept, unless somebody changed it since', async () => {
    const pin = await pinned()
    main.git('config', 'filter.x.clean', 'evil')
    await pin.look()
    expect((await openPins(home, 'a1')).sites).toEqual([expect.objectContaining({ pinned: expect.any(String) })])
    main.git('config', 'filter.x.clean', 'mine')
    main.write('.git/hooks/pre-commit', 'mine')
    expect(await openPins(home, 'a1')).toEqual({
      changes: [],
      sites: [{ top: main.dir, gitDir: join(main.dir, '.git'), commonDir: join(main.dir, '.git') }],
    })
  })

  test('next to HEAD is removed, and what is missing is restored', async () => {
    const pin = await pinned()
    const git = join(main.dir, '.git')
    writeFileSync(join(git, 'commondir'), '/elsewhere\n')
    rmSync(join(git, 'HEAD'))
    expect(pin.repair()).toEqual([expect.stringContaining('commondir'), expect.stringContaining('HEAD')])
    expect(main.git('symbolic-ref', 'HEAD')).toBe('refs/heads/main')
    expect(pin.repair()).toEqual([])
  })

  test('in place of the link of a worktree is set aside', async () => {
    const { dir } = await makeWorktree(main)
    const pin = await pinned(dir)
    const link = readFileSync(join(dir, '.git'), 'utf8')
    rmSync(join(dir, '.git'))
    execFileSync('git', ['init', '--quiet'], { cwd: dir })
    writeFileSync(join(pin.repo.gitDir, 'commondir'), '/elsewhere\n')
    expect(pin.repair()).toHaveLength(2)
    expect(readFileSync(join(dir, '.git'), 'utf8')).toBe(link)
    expect(existsSync(join(pinFolder(home, 'a1'), 'aside'))).toBe(true)
  })
})

describe('a repository', () => {
  test('that was removed is not pinned again, not even in what is left of its folder', async () => {
    const pin = await pinned()
    const folder = join(main.dir, '.git')
    rmSync(folder, { recursive: true })
    expect([pin.repair(), gitPlaces(main.dir, pin.repo, undefined), existsSync(folder)]).toEqual([
      [],
      { visible: [], writable: [main.dir], readOnly: [] },
      false,
    ])
    mkdirSync(folder)
    expect([pin.repair(), readdirSync(folder)]).toEqual([[], []])
  })

  test('that was replaced no longer exists', async () => {
    const { dir } = await makeWorktree(main)
    const pin = await pinned(dir)
    renameSync(pin.repo.gitDir, `${pin.repo.gitDir}-away`)
    rmSync(join(dir, '.git'))
    execFileSync('git', ['init', '--quiet'], { cwd: dir })
    expect(await openPin({ folder: pinFolder(home, 'a1'), place: dir })).toEqual({
      none: expect.stringMatching(/^the git repository it started in no longer exists: /),
    })
  })

  test('that an agent in a sandbox made does not belong to its loop', async () => {
    const dir = temporaryFolder()
    const open = async (begun: boolean) => openTree({ dir, home, loop: 'b2', sandbox: true, begun })
    expect((await open(false)).checkpoints).toEqual({ none: expect.any(String) })
    execFileSync('git', ['init', '--quiet'], { cwd: dir })
    expect((await open(true)).checkpoints).toEqual({ none: 'this is not a git repository' })
    expect((await open(false)).checkpoints).toHaveProperty('repo')
  })

  test('that is held is the one that git works in, whatever the folder says', async () => {
    const pin = await pinned()
    mkdirSync(join(main.dir, 'other'))
    execFileSync('git', ['init', '--quiet'], { cwd: join(main.dir, 'other') })
    renameSync(join(main.dir, '.git'), join(main.dir, '.kept'))
    writeFileSync(join(main.dir, '.git'), `gitdir: ${join(main.dir, 'other/.git')}\n`)
    const { top, pinned: common } = pin.repo
    const site = { top, gitDir: join(main.dir, '.kept'), commonDir: join(main.dir, '.kept') }
    expect(common).toBeDefined()
    const found = await holding([site], () => openRepository(main.dir))
    expect(found).toMatchObject({ gitDir: join(main.dir, '.kept') })
    expect(await openRepository(main.dir)).toMatchObject({ gitDir: join(main.dir, 'other/.git') })
  })
})

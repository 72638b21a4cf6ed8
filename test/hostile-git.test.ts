/** What an agent leaves in a repository turns neither ralph's own git nor a rollback against the user. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { commitAll, type How, makePlace, type Place, type Ran } from './ralph.ts'

// A sandbox has its own /dev: if these tests ran in memory, it would not find their folders.
delete process.env.TMPDIR

const usable = spawnSync('bwrap', ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', 'true']).status === 0
const NO_SANDBOX = 'bubblewrap is not installed'

function gitIn(place: Place, dir: string = place.dir): (...args: string[]) => string {
  const env = { ...place.env, GIT_OPTIONAL_LOCKS: '0' }
  return (...args) => execFileSync('git', args, { cwd: dir, env, encoding: 'utf8', stdio: 'pipe' }).trimEnd()
}

/** A loop of these turns in this folder; the last one claims. */
async function work(
  place: Place,
  turns: readonly string[],
  { flags = [], dir = place.dir, ...how }: { flags?: string[]; dir?: string } & Omit<How, 'cwd'> = {},
): Promise<{ id: string; ran: Ran }> {
  const arms = turns.map((lines, index) => {
    const claims = index === turns.length - 1 ? '\necho "<promise>COMPLETE</promise>"' : ''
    return `${index + 1})\n${lines}${claims}\n;;`
  })
  const file = join(place.root, 'agent.sh')
  writeFileSync(file, `#!/bin/sh\ncase "$RALPH_ITERATION" in\n${arms.join('\n')}\nesac\n`, { mode: 0o755 })
  const ran = await place.ralph(['run', 'Do the task.', '--agent', `command:${file}`, ...flags], { cwd: dir, ...how })
  return { id: /loop (\w{8})\b/.exec(ran.stdout)?.[1] ?? '', ran }
}

async function succeeds(place: Place, ...args: string[]): Promise<string> {
  const { code, stderr, stdout } = await place.ralph(args)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return stdout
}

/** A program of the agent that leaves a mark when somebody runs it, outside its sandbox. */
function trap(place: Place, name = 'ran'): { command: string; sprung(): boolean } {
  return { command: `touch '${place.root}/${name}'; cat`, sprung: () => existsSync(join(place.root, name)) }
}

/** Lines of sh that configure a filter for every text file, and one that git runs to look for changes. */
function evilConfig(file: string, command: string): string {
  return [
    `printf '[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = "%s"\\n\\thooksPath = %s\\n' "${command}" "$PWD/evil" >> ${file}`,
    `printf '[filter "x"]\\n\\tclean = "%s"\\n\\tsmudge = "%s"\\n' "${command}" "${command}" >> ${file}`,
    `mkdir -p evil; printf '#!/bin/sh\\n%s\\n' "${command}" > evil/pre-commit; chmod +x evil/pre-commit`,
    "echo '*.txt filter=x' > .gitattributes; echo x > x.txt",
  ].join('\n')
}

describe.concurrent('what an agent wrote into the repository', () => {
  test('as a replacement for the start does not empty the folder in a rollback', async () => {
    const place = makePlace()
    const { id } = await work(place, [
      `git config core.useReplaceRefs true
git replace "$(git rev-parse "refs/ralph/$RALPH_LOOP_ID/0^{tree}")" "$(git hash-object -t tree -w /dev/null)"
echo new > new.txt`,
    ])
    await succeeds(place, 'rollback', id, '0')
    expect(readFileSync(join(place.dir, 'README.md'), 'utf8')).toBe('A project.\n')
    expect(existsSync(join(place.dir, 'new.txt'))).toBe(false)
  })

  test.each([
    ['in its configuration', (command: string) => evilConfig('.git/config', command)],
    [
      'in a file that its configuration includes',
      (command: string) => `${evilConfig('evil.config', command)}\ngit config include.path "$PWD/evil.config"`,
    ],
  ])('as a filter %s is not run, and the user is warned', async (_, lines) => {
    const place = makePlace()
    const { command, sprung } = trap(place)
    const { id, ran } = await work(place, [lines(command), 'echo y > y.txt'])
    expect(ran).toMatchObject({ code: 0, stdout: expect.stringMatching(/\.git\/config .*filter\.x\.clean/) })
    await succeeds(place, 'rollback', id, '1')
    expect(existsSync(join(place.dir, 'y.txt'))).toBe(false)
    expect(sprung()).toBe(false)
  })

  test("does not stop the user's own filter from working", async () => {
    const place = makePlace()
    const git = gitIn(place)
    git('config', 'filter.upper.clean', "tr 'a-z' 'A-Z'")
    git('config', 'filter.upper.smudge', "tr 'A-Z' 'a-z'")
    place.write('.gitattributes', '*.low filter=upper\n')
    commitAll(place)
    const { id } = await work(place, ['echo work > work.low; git config --remove-section filter.upper', 'rm work.low'])
    expect(git('show', `refs/ralph/${id}/1:work.low`)).toBe('WORK')
    await succeeds(place, 'rollback', id, '1')
    expect(place.read('work.low')).toBe('work\n')
  })

  test('in a submodule as a filter is not run', async () => {
    const place = makePlace()
    const library = makePlace()
    gitIn(place)('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library.dir, 'lib')
    commitAll(place)
    const { command, sprung } = trap(place)
    const evil = evilConfig('../.git/modules/lib/config', command)
    const { ran } = await work(place, [
      `(cd lib; ${evil}; echo '* filter=x' > .gitattributes; touch README.md)`,
      'echo n > n',
    ])
    expect(ran.code).toBe(0)
    expect(sprung()).toBe(false)
  })

  test('in place of the checkpoints does not lose them while their objects exist', async () => {
    const place = makePlace()
    const { id } = await work(place, [
      'echo 1 > n.txt',
      `git update-ref "refs/ralph/$RALPH_LOOP_ID/0" HEAD
for ref in $(git for-each-ref --format='%(refname)' refs/ralph); do git update-ref -d "$ref"; done
git update-ref "refs/ralph/$RALPH_LOOP_ID/1" "$(git commit-tree -m x "$(git hash-object -t tree -w /dev/null)")"
echo 2 > n.txt`,
    ])
    await succeeds(place, 'rollback', id, '1')
    expect(place.read('n.txt')).toBe('1\n')
    await succeeds(place, 'rollback', id, '0')
    expect(existsSync(join(place.dir, 'n.txt'))).toBe(false)
    await succeeds(place, 'undo', id)
    await succeeds(place, 'undo', id)
    expect(place.read('n.txt')).toBe('2\n')
  })

  test('in place of an original object is detected before a rollback changes anything', async () => {
    const place = makePlace()
    const { id } = await work(place, [
      `tree=$(git rev-parse "refs/ralph/$RALPH_LOOP_ID/0^{tree}")
file=.git/objects/$(echo "$tree" | cut -c1-2)/$(echo "$tree" | cut -c3-)
empty=.git/objects/$(git hash-object -t tree -w /dev/null | sed 's,^..,&/,')
rm -f "$file"; cp "$empty" "$file"; echo new > new.txt`,
    ])
    const { code, stderr } = await place.ralph(['rollback', id, '0'])
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('The checkpoint is damaged') })
    expect(place.read('new.txt')).toBe('new\n')
    expect(place.read('README.md')).toBe('A project.\n')
  })

  test('as a sign that its work was accepted does not discard the work', async () => {
    const place = makePlace()
    const { id } = await work(place, ['echo new > new.txt; git update-ref "refs/ralph/$RALPH_LOOP_ID/merged" HEAD'], {
      flags: ['--worktree'],
    })
    await succeeds(place, 'accept', id)
    expect(place.read('new.txt')).toBe('new\n')
  })

  test('that destroys the repository is restored', async () => {
    const place = makePlace()
    const { id, ran } = await work(place, ['mv .git/HEAD .git/away; echo 1 > n.txt', 'echo 2 > n.txt'])
    expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining('HEAD') })
    await succeeds(place, 'rollback', id, '1')
    expect(place.read('n.txt')).toBe('1\n')
  })

  test('as hooks is not run when its work is accepted, and the user is warned', async () => {
    const place = makePlace()
    const { command, sprung } = trap(place)
    const { id } = await work(
      place,
      [
        `hooks=$(git rev-parse --git-common-dir)/hooks; mkdir -p "$hooks"
for name in pre-commit commit-msg post-merge; do printf '#!/bin/sh\\n%s\\n' "${command}" > "$hooks/$name"; chmod +x "$hooks/$name"; done
echo new > new.txt`,
      ],
      { flags: ['--worktree'] },
    )
    expect(await succeeds(place, 'accept', id)).toMatch(/hooks.*pre-commit/)
    expect(place.read('new.txt')).toBe('new\n')
    expect(sprung()).toBe(false)
  })

  test("leaves the user's own hooks working when it is accepted", async () => {
    const place = makePlace()
    mkdirSync(join(place.dir, '.git/hooks'), { recursive: true })
    const mark = join(place.root, 'hooked')
    writeFileSync(join(place.dir, '.git/hooks/pre-commit'), `#!/bin/sh\ntouch '${mark}'\n`, { mode: 0o755 })
    const { id } = await work(place, ['echo new > new.txt'], { flags: ['--worktree'] })
    await succeeds(place, 'accept', id)
    expect(existsSync(mark)).toBe(true)
  })
})

describe.concurrent('inside the sandbox', () => {
  test('a commondir next to HEAD gives git outside no other configuration', async ({ skip }) => {
    skip(!usable, NO_SANDBOX)
    const place = makePlace()
    const { command, sprung } = trap(place)
    const lines = `mkdir other; cp -r .git/objects .git/refs other/
${evilConfig('other/config', command)}
echo "$PWD/other" > .git/commondir`
    const { id, ran } = await work(place, [lines, 'echo y > y.txt'], { flags: ['--sandbox'] })
    expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining('.git/commondir') })
    await succeeds(place, 'rollback', id, '0')
    expect(existsSync(join(place.dir, 'x.txt'))).toBe(false)
    expect(sprung()).toBe(false)
    expect(existsSync(join(place.dir, '.git/commondir'))).toBe(false)
  })

  test('a HEAD that was moved away exposes neither configuration nor hooks', async ({ skip }) => {
    skip(!usable, NO_SANDBOX)
    const place = makePlace()
    const { command, sprung } = trap(place)
    const before = readFileSync(join(place.dir, '.git/config'), 'utf8')
    const turns = [
      'mv .git/HEAD .git/away; echo 1 > n.txt',
      `${evilConfig('.git/config', command)}; mkdir -p .git/hooks; echo > .git/hooks/post-commit; mv .git/away .git/HEAD`,
      'echo 3 > n.txt',
    ]
    const { id } = await work(place, turns, { flags: ['--sandbox'] })
    await succeeds(place, 'rollback', id, '0')
    expect(readFileSync(join(place.dir, '.git/config'), 'utf8')).toBe(before)
    expect(existsSync(join(place.dir, '.git/hooks/post-commit'))).toBe(false)
    expect(sprung()).toBe(false)
  })

  test('a replaced .git in its own worktree is not used to accept its work', async ({ skip }) => {
    skip(!usable, NO_SANDBOX)
    const place = makePlace()
    const { command, sprung } = trap(place)
    const lines = `git init --quiet --bare other
${evilConfig('other/config', command)}
echo "gitdir: $PWD/other" > evil.git; mv -f evil.git .git 2>/dev/null; cp evil.git .git 2>/dev/null
own=$(git rev-parse --absolute-git-dir); echo "$PWD/other" > "$own/commondir"; echo nowhere > "$own/gitdir"
rm -rf other evil evil.git; echo new > new.txt`
    const { id, ran } = await work(place, [lines], { flags: ['--sandbox', '--worktree'] })
    expect(ran.code).toBe(0)
    await succeeds(place, 'accept', id)
    expect(place.read('new.txt')).toBe('new\n')
    expect(sprung()).toBe(false)
  })

  test("a linked worktree cannot reach anything of the user's", async ({ skip }) => {
    skip(!usable, NO_SANDBOX)
    const place = makePlace()
    const git = gitIn(place)
    const before = [git('rev-parse', 'HEAD'), git('symbolic-ref', 'HEAD'), git('ls-files', '--stage')]
    const lines = `common=$(git rev-parse --git-common-dir)
echo new > new.txt; git add new.txt; git commit --quiet --message New
git update-ref refs/heads/$(git -C "$common" symbolic-ref --short HEAD) HEAD
rm -f "$common/index"; echo 'ref: refs/heads/none' > "$common/HEAD"; git tag mine; echo x >> "$common/config"`
    const { id, ran } = await work(place, [lines], { flags: ['--sandbox', '--worktree'] })
    expect(ran.code).toBe(0)
    expect([git('rev-parse', 'HEAD'), git('symbolic-ref', 'HEAD'), git('ls-files', '--stage')]).toEqual(before)
    expect(git('tag')).toBe('')
    expect(git('log', '-1', '--format=%s', `ralph/${id}`)).toBe('New')
    await succeeds(place, 'accept', id)
    expect(place.read('new.txt')).toBe('new\n')
  })
})

describe.concurrent('without a sandbox', () => {
  test('a replaced .git in its own worktree is repaired before its work is accepted', async () => {
    const place = makePlace()
    const { command, sprung } = trap(place)
    const lines = `rm .git; git init --quiet; ${evilConfig('.git/config', command)}; rm -r evil; echo new > new.txt`
    const { id, ran } = await work(place, [lines], { flags: ['--worktree'] })
    expect(ran.code).toBe(0)
    await succeeds(place, 'accept', id)
    expect(place.read('new.txt')).toBe('new\n')
    expect(sprung()).toBe(false)
  })

  test.each([[''], ['.'], ['bin'], ['node_modules/.bin']])(
    'a git in "%s" of PATH is not the one ralph runs',
    async (folder) => {
      const place = makePlace()
      const { sprung } = trap(place)
      const bin = join(place.dir, folder)
      mkdirSync(bin, { recursive: true })
      writeFileSync(join(bin, 'git'), `#!/bin/sh\ntouch '${place.root}/ran'\nexec /usr/bin/git "$@"\n`, { mode: 0o755 })
      const entry = folder === 'node_modules/.bin' ? bin : folder
      const PATH = [entry, place.env.PATH].join(delimiter)
      const { ran, id } = await work(place, ['echo 1 > n.txt'], { env: { PATH }, apart: true })
      expect(ran.code).toBe(0)
      expect(id).not.toBe('')
      expect(sprung()).toBe(false)
    },
  )
})

describe.concurrent('an unusual repository', () => {
  test('that is a submodule is rolled back', async () => {
    const place = makePlace()
    const library = makePlace()
    gitIn(place)('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library.dir, 'lib')
    commitAll(place)
    const dir = join(place.dir, 'lib')
    const { id } = await work(place, ['echo 1 > n.txt; git add n.txt; git commit --quiet --message One'], { dir })
    await succeeds(place, 'rollback', id, '0')
    expect(existsSync(join(dir, 'n.txt'))).toBe(false)
    expect(gitIn(place, dir)('status', '--porcelain')).toBe('')
  })

  test('whose index the agent damaged is rolled back, including the index', async () => {
    const place = makePlace()
    place.write('staged.txt', 'staged\n')
    gitIn(place)('add', 'staged.txt')
    const { id, ran } = await work(place, ['echo 1 > n.txt; echo damaged > .git/index', 'echo 2 > n.txt'])
    expect(ran.code).toBe(0)
    await succeeds(place, 'rollback', id, '1')
    expect(place.read('n.txt')).toBe('1\n')
    await succeeds(place, 'rollback', id, '0')
    expect(gitIn(place)('status', '--porcelain')).toBe('A  staged.txt')
  })

  test.each([
    ['in a folder', 'a\nb'],
    ['in a folder, at its end', 'a\n'],
    ['in the folder of a repository', 'a\ntrue\nb'],
  ])('with a line break %s has checkpoints', async (_, name) => {
    const place = makePlace({ git: false })
    const dir = join(place.dir, name)
    mkdirSync(dir)
    writeFileSync(join(dir, 'a\nb.txt'), 'a\n')
    commitAll({ dir, env: place.env })
    const { id, ran } = await work(place, ["echo 1 > n.txt; printf 'b\\n' > 'a\nb.txt'; echo 1 > 'c\nd'"], { dir })
    expect(ran.code).toBe(0)
    await succeeds(place, 'rollback', id, '0')
    expect(readFileSync(join(dir, 'a\nb.txt'), 'utf8')).toBe('a\n')
    expect(gitIn(place, dir)('status', '--porcelain')).toBe('')
  })
})

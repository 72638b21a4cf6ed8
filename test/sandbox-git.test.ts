/**
 * What an agent in the sandbox may try with git, each in its own repository: git outside must run nothing that the
 * agent named.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makePlace, type Place } from './ralph.ts'

// A sandbox has its own /dev: if these tests ran in memory, it would not find their folders.
delete process.env.TMPDIR

const usable = spawnSync('bwrap', ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', 'true']).status === 0

/** Prints a configuration that makes git run a program. */
const evil = ({ root }: Place) =>
  `printf '[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = touch ${root}/got; true\\n'`

const hasRun = ({ root }: Place) => existsSync(join(root, 'got'))

/** `named`: the sentence of docs/sandbox.md that admits it. */
type GitTrick = {
  name: string
  flags?: string[]
  named?: string
  tries(place: Place): string
  got(place: Place): boolean
}

const docs = readFileSync(resolve(import.meta.dirname, '../docs/sandbox.md'), 'utf8')
const OWN = 'it can change the index, refs, attributes and objects of the repository that the loop works in'

const TRICKS: GitTrick[] = [
  {
    name: 'another .git folder',
    tries: (place) => `mv .git old && cp -r old .git; ${evil(place)} > .git/config`,
    got: (place) => hasRun(place) || readFileSync(join(place.dir, '.git/config'), 'utf8').includes('fsmonitor'),
  },
  {
    name: 'a .git file that names another folder',
    tries: (place) =>
      `cp -r .git other; ${evil(place)} > other/config; mv .git old && echo "gitdir: $PWD/other" > .git`,
    got: (place) => hasRun(place) || existsSync(join(place.dir, 'old')),
  },
  {
    name: 'another .git file of a linked worktree',
    flags: ['--worktree'],
    tries: (place) =>
      `cp -r "$(git rev-parse --git-common-dir)" other; ${evil(place)} > other/config; echo "gitdir: $PWD/other" > .git`,
    got: hasRun,
  },
  {
    name: 'another commondir of a linked worktree',
    flags: ['--worktree'],
    tries: (place) =>
      `own=$(git rev-parse --git-dir); common=$(git rev-parse --git-common-dir); mkdir other; cp -r "$common/objects" "$common/refs" other/; ${evil(place)} > other/config; echo "$PWD/other" > "$own/commondir"`,
    got: hasRun,
  },
  {
    name: 'a commondir in the git folder',
    tries: (place) =>
      `mkdir other; cp -r .git/objects .git/refs other/; ${evil(place)} > other/config; echo "$PWD/other" > .git/commondir`,
    got: (place) => hasRun(place) || existsSync(join(place.dir, '.git/commondir')),
  },
  {
    name: 'HEAD moved away',
    tries: () => 'mv .git/HEAD .git/HEAD2',
    got: ({ dir }) => !existsSync(join(dir, '.git/HEAD')),
  },
  {
    name: 'no index',
    named: OWN,
    tries: () => 'rm .git/index',
    got: ({ dir }) => !existsSync(join(dir, '.git/index')),
  },
  {
    name: "the user's branch, from a linked worktree",
    flags: ['--worktree'],
    tries: ({ dir }) =>
      `branch=$(git -C '${dir}' symbolic-ref --short HEAD); git commit --quiet --allow-empty --message moved; git update-ref "refs/heads/$branch" HEAD`,
    got: ({ dir }) =>
      spawnSync('git', ['log', '-1', '--format=%s'], { cwd: dir, encoding: 'utf8' }).stdout === 'moved\n',
  },
  {
    name: "the user's index, from a linked worktree",
    flags: ['--worktree'],
    tries: () => 'rm "$(git rev-parse --git-common-dir)/index"',
    got: ({ dir }) => !existsSync(join(dir, '.git/index')),
  },
  {
    name: "the user's HEAD, from a linked worktree",
    flags: ['--worktree'],
    tries: () => 'echo "ref: refs/heads/other" > "$(git rev-parse --git-common-dir)/HEAD"',
    got: ({ dir }) => readFileSync(join(dir, '.git/HEAD'), 'utf8').includes('other'),
  },
  {
    name: 'attributes in the git folder',
    named: OWN,
    tries: () => 'mkdir -p .git/info; echo "* filter=x" > .git/info/attributes',
    got: ({ dir }) => existsSync(join(dir, '.git/info/attributes')),
  },
  {
    name: 'objects of another repository',
    named: OWN,
    tries: () => 'mkdir -p .git/objects/info; echo /tmp > .git/objects/info/alternates',
    got: ({ dir }) => existsSync(join(dir, '.git/objects/info/alternates')),
  },
]

describe.concurrent('an agent in the sandbox', () => {
  test.for(TRICKS)('$name', async ({ flags = [], tries, got, named }, { skip }) => {
    skip(!usable, 'bubblewrap is not installed')
    const place = makePlace()
    const lines = `{ ${tries(place)}\n} 2> said.txt; echo x > x.txt\necho "<promise>COMPLETE</promise>"`
    writeFileSync(join(place.root, 'agent.sh'), `#!/bin/sh\n${lines}\n`, { mode: 0o755 })
    const agent = ['--agent', `command:${place.root}/agent.sh`, '--max-iterations', '2']
    const ran = await place.ralph(['run', 'x', '--sandbox', ...agent, ...flags])
    if (named !== undefined) expect(docs).toContain(named)
    expect(got(place), ran.stderr).toBe(named !== undefined)
  })
})

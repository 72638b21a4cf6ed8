/** `--sandbox`: what an agent cannot write, and that its loop goes on. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { carriers, makePlace, type Place } from './ralph.ts'

// A sandbox has a /dev of its own: in memory it would not find the places of these tests.
delete process.env.TMPDIR

const usable = spawnSync('bwrap', ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', 'true']).status === 0

/** An agent outside the work tree, which a sandbox lets read but not write. */
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
  test('a write outside is denied, and the loop goes on to its end', async ({ skip }) => {
    skip(!usable, 'bubblewrap is not here')
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

  test('works in a linked work tree, whose git folder lies elsewhere', async ({ skip }) => {
    skip(!usable, 'bubblewrap is not here')
    const place = makePlace()
    const work = 'echo new > new.txt; git add --all; git commit --quiet --message New'
    const ran = await place.ralph(['run', 'x', '--sandbox', '--worktree', '--agent', agent(place, work), '--json'])
    expect(ran).toMatchObject({ code: 0, end: { status: 'completed' } })
    expect(await place.ralph(['accept', String(ran.lines[0]?.loop_id)])).toMatchObject({ code: 0 })
    expect(place.read('new.txt')).toBe('new\n')
  })

  test('root cannot open it from inside, and git outside runs nothing the agent named', async ({ skip }) => {
    skip(!usable, 'bubblewrap is not here')
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
    skip(!usable, 'bubblewrap is not here')
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

  test('without bubblewrap it is refused, with what to do', async () => {
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

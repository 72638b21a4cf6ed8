/** Worktrees that are ready to use: `worktree_setup` prepares them, and each has its own ports. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { commitAll, makePlace, type Place } from './ralph.ts'

const CLAIMS = `echo; echo '<promise>COMPLETE</promise>'`

function configured(setup: string): Place {
  const place = makePlace()
  place.write('.gitignore', 'installed\n')
  place.write('setup.sh', `#!/bin/sh\n${setup}\n`, 0o755)
  place.write('ralph.config.json', JSON.stringify({ worktree_setup: './setup.sh' }))
  commitAll(place)
  return place
}

const run = (place: Place, agent: string, ...flags: string[]) =>
  place.ralph(['run', 'Do it.', '--agent', place.agent(agent), '--worktree', ...flags])

describe.concurrent('worktree_setup', () => {
  test('runs once, in the new worktree, before the checks and the agent', async () => {
    const place = configured('echo "$RALPH_PORT" >> installed; echo made >> "$LOG"')
    place.env.LOG = join(place.root, 'log')
    const agent = `cat installed > "seen-$RALPH_ITERATION"; [ "$RALPH_ITERATION" = 1 ] || { ${CLAIMS}; }`
    const ran = await run(place, agent, '--verify', 'test -s installed')
    expect(ran.code).toBe(0)
    expect(ran.stdout + ran.stderr).toContain('Setting up the worktree: ./setup.sh')
    expect(ran.stdout).toContain('before: test -s installed passes')
    expect(readFileSync(join(place.root, 'log'), 'utf8')).toBe('made\n')
    expect(existsSync(join(place.dir, 'installed'))).toBe(false)
  })

  test('that fails is reported with its output, and repeated by resume', async () => {
    const place = configured('[ -e "$GO" ] || { echo "no network"; exit 3; }')
    place.env.GO = join(place.root, 'go')
    const ran = await run(place, `touch done; ${CLAIMS}`)
    expect(ran).toMatchObject({ code: 1 })
    expect(ran.stderr).toContain('worktree_setup (./setup.sh) failed in ')
    expect(ran.stderr).toContain('no network')
    expect(place.calls()).toEqual([])
    writeFileSync(join(place.root, 'go'), '')
    const again = await place.ralph(['resume'])
    expect(again).toMatchObject({ code: 0 })
    expect(place.calls()).toEqual(['1 1'])
  })

  test('that changes more than what git ignores is reported', async () => {
    const place = configured('echo changed >> README.md; touch installed')
    const ran = await run(place, `touch done; ${CLAIMS}`)
    expect(ran.code).toBe(0)
    expect(ran.stdout + ran.stderr).toContain('worktree_setup changed README.md, which git does not ignore')
  })

  test('that is not a command is refused with the name of the file', async () => {
    const place = configured('true')
    place.write('ralph.config.json', JSON.stringify({ worktree_setup: 7 }))
    const ran = await run(place, CLAIMS)
    expect(ran.code).toBe(2)
    expect(ran.stderr).toMatch(/ralph\.config\.json: worktree_setup must be a command, .*, got 7\./)
  })
})

describe.concurrent('RALPH_PORT', () => {
  test('is the same for the agent and its checks, and different in another worktree', async () => {
    const place = makePlace()
    const agent = `echo "$RALPH_PORT" > port; ${CLAIMS}`
    const check = `sh -c '[ "$(cat port)" = "$RALPH_PORT" ]'`
    const ports = []
    for (const _ of [1, 2]) {
      const ran = await run(place, agent, '--verify', check)
      expect(ran.code).toBe(0)
      const id = /loop (\w{8})\b/.exec(ran.stdout)?.[1] ?? ''
      ports.push(Number(readFileSync(join(place.home, 'worktrees', id, 'port'), 'utf8')))
    }
    const [one = 0, other = 0] = ports
    expect(one).toBeGreaterThanOrEqual(21_000)
    expect(Math.abs(one - other)).toBeGreaterThanOrEqual(10)
  })

  test('is not set where the user works', async () => {
    const place = makePlace()
    const ran = await place.ralph(['run', 'x', '--agent', place.agent(`echo "port=$RALPH_PORT" > port; ${CLAIMS}`)])
    expect(ran.code).toBe(0)
    expect(place.read('port')).toBe('port=\n')
  })
})

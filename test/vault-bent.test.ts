/** A vault task whose checks were bent: every view names a command for the user, and that command works. */
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { commitAll, makePlace, onlyLoop, type Place, type Ran } from './ralph.ts'

const QUESTION = "The checks pass only because of the agent's changes to check.sh."

function makeVault(): Place & { task(...args: string[]): Promise<Ran> } {
  const place = makePlace()
  place.env.RALPH_QUIET_SECONDS = '0.1'
  place.write('check.sh', 'grep -q right work.txt\n')
  place.write('work.txt', 'wrong\n')
  commitAll(place)
  const file = join(place.dir, 'Needs_Action', 'b.md')
  for (const folder of ['Needs_Action', 'Done']) mkdirSync(join(place.dir, folder))
  writeFileSync(file, '---\nverify: sh check.sh\n---\nMake it right.\n')
  const then = Date.now() / 1_000 - 60
  utimesSync(file, then, then)
  return { ...place, task: (verb, ...args) => place.ralph(['task', verb, '--vault', place.dir, ...args]) }
}

const BENDS = 'echo true > check.sh; [ -e Done/b.md ] || mv Needs_Action/b.md Done/'

describe.concurrent('a task whose checks were bent', () => {
  async function openBent() {
    const place = makeVault()
    const watched = await place.ralph(['watch', place.dir, '--once', '--agent', place.agent(BENDS)])
    return { place, watched, loop: onlyLoop(place) }
  }

  test('is shown with what accepts it, what to do instead, and what ends it', async () => {
    const { place, watched, loop } = await openBent()
    const reject = `ralph task reject --vault ${place.dir} b`
    const answers = `Allow it: ralph allow ${loop} · or say what to do instead: ralph steer ${loop} "…" · Reject it: ${reject}`
    expect(watched.stdout).toContain(`waiting for you: ${QUESTION} ${answers}`)
    expect((await place.ralph(['status', loop])).stdout).toContain(answers)
    expect((await place.task('list')).stdout).toMatch(new RegExp(`waiting approval .* ralph allow ${loop}\n`))
    expect((await place.task('state', 'b')).stdout).toMatch(
      new RegExp(`allow +ralph allow ${loop}\n +or instead +ralph steer ${loop} "…"\n +or reject +ralph task reject`),
    )
    const briefing = await place.ralph(['briefing', place.dir])
    expect(briefing.stdout).toContain(
      `${QUESTION}\n  - allow it: \`ralph allow ${loop}\`\n  - say what to do instead: \`ralph steer ${loop} "…"\`\n  - reject it: \`${reject}\`\n`,
    )
    expect(briefing.stdout).toContain(`1. Accept or refuse what was changed for b: \`ralph allow ${loop}\``)
  })

  test('is not approved by a bare word; the answer says what accepts it, and that works', async () => {
    const { place, loop } = await openBent()
    expect(await place.task('approve', 'b')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        `${QUESTION} Allow it: ralph allow ${loop}, or say what to do instead: ralph steer`,
      ),
    })
    expect((await place.task('state', 'b')).stdout).toContain('waiting approval')
    expect(await place.task('complete', 'b')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`Allow it: ralph allow ${loop}`),
    })
    expect(await place.ralph(['allow', loop])).toMatchObject({ code: 0 })
    expect((await place.task('state', 'b')).stdout).toContain('✓ b · completed')
  })

  test('continues with the text of a note, which is no approval', async () => {
    const { place, loop } = await openBent()
    expect((await place.task('approve', 'b', '--note', 'Put it back.')).stdout).toContain('in progress')
    const agent = place.agent('git checkout -q check.sh; echo right > work.txt')
    await place.ralph(['watch', place.dir, '--once', '--agent', agent])
    const { stdout } = await place.ralph(['show', loop])
    expect(stdout).toContain('said: "Put it back."')
  })
})

/** A loop that hits a limit: its agent's, or its own. */
import { describe, expect, test } from 'vitest'
import { makePlace, onlyLoop, type Place, query } from './ralph.ts'
import { expectReplayed } from './replayed.ts'

function scripted(place: Place, ...turns: object[][]): string {
  place.write('script.json', JSON.stringify({ turns }))
  return 'scripted:script.json'
}

describe.concurrent("an agent's rate limit", () => {
  const limited = [{ 'rate-limit': { resetsInSeconds: 3_600, message: 'You hit your limit.' } }]

  test('with --on-limit stop, the loop halts at once and says when the limit resets', async () => {
    const place = makePlace({ git: false })
    const agent = scripted(place, limited)
    const ran = await place.ralph(['run', 'Build it', '--agent', agent, '--on-limit', 'stop', '--json'])
    expect(ran).toMatchObject({ code: 3, end: { status: 'halted', reason: 'agent-unusable', iterations: 0 } })
    expect(String(ran.end?.sentence)).toMatch(/It can continue in 60 minutes, at .* UTC: You hit your limit/)
  })

  test('the config can set this for every loop', async () => {
    const place = makePlace({ git: false })
    place.write('ralph.config.json', '{"on_limit": "stop"}')
    const ran = await place.ralph(['run', 'Build it', '--agent', scripted(place, limited)])
    expect([ran.code, ran.stdout]).toEqual([3, expect.stringContaining('ralph was told not to wait')])
  })

  test('any other value is an error', async () => {
    const place = makePlace({ git: false })
    const ran = await place.ralph(['run', 'x', '--agent', scripted(place, limited), '--on-limit', 'never'])
    expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining('--on-limit must be wait or stop') })
  })
})

describe.concurrent("a loop's limit", () => {
  const works = 'echo "$RALPH_ITERATION" >> progress.txt; echo "Step $RALPH_ITERATION."'
  const finishes = `${works}; [ "$RALPH_ITERATION" = 4 ] && touch done && echo "<promise>COMPLETE</promise>" || true`

  async function halted(script: string, ...flags: string[]): Promise<{ place: Place; loop: string }> {
    const place = makePlace()
    const ran = await place.ralph(['run', 'Build it', '--agent', place.agent(script), ...flags])
    expect(ran.code).toBe(1)
    return { place, loop: onlyLoop(place) }
  }

  test('with more iterations it continues where it was, and the story shows both parts', async () => {
    const { place, loop } = await halted(finishes, '--verify', 'test -e done', '--max-iterations', '2')
    expect((await place.ralph(['status', loop])).stdout).toContain(`Resume: ralph resume ${loop} --max-iterations 12`)
    const resumed = await place.ralph(['resume', loop, '--max-iterations', '5', '--json'])
    expect(resumed).toMatchObject({ code: 0, end: { status: 'completed', proof: 'verified', iterations: 4 } })
    expect(place.read('progress.txt')).toBe('1\n2\n3\n4\n')
    const { stdout } = await place.ralph(['show', loop])
    expect(stdout).toContain('It halted (max-iterations): Reached the limit of 2 iterations.')
    expect(stdout).toContain('You resumed it with up to 5 iterations. Next: iteration 3.')
    expect(stdout).toContain('complete, proof: verified, after 4 iterations')
    // Checkpoints continue where they ended.
    expect((await place.ralph(['rollback', loop, '2'])).code).toBe(0)
    expect(place.read('progress.txt')).toBe('1\n2\n')
    await expectReplayed(place.home)
  })

  test('too little, or nothing, is refused with the command to type', async () => {
    const { place, loop } = await halted(works, '--max-iterations', '1')
    const refused = await place.ralph(['resume', loop, '--max-iterations', '1'])
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('has already used what these limits allow'),
    })
    expect(refused.stderr).toContain(`ralph resume ${loop} --max-iterations 11`)
    const plain = await place.ralph(['resume', loop])
    expect(plain).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`ralph resume ${loop} --max-iterations 11`),
    })
    expect(query(place, 'SELECT n FROM iteration')).toHaveLength(1)
  })

  test('tokens and cost, if the agent reports them', async () => {
    const place = makePlace()
    const usage = { usage: { tokens: 100, costUsd: 1 } }
    const turn = (n: number) => [{ edit: { path: 'a', content: String(n) } }, usage, { text: `Step ${n}.` }]
    const agent = scripted(place, turn(1), turn(2), [{ text: 'Done.\n\n<promise>COMPLETE</promise>' }])
    expect((await place.ralph(['run', 'x', '--agent', agent, '--max-tokens', '50'])).code).toBe(1)
    const loop = onlyLoop(place)
    const more = await place.ralph(['resume', loop, '--max-tokens', '150', '--max-cost', '5', '--json'])
    expect(more).toMatchObject({ code: 1, end: { reason: 'tokens', iterations: 2 } })
    expect(await place.ralph(['resume', loop, '--max-tokens', '999', '--json'])).toMatchObject({ code: 0 })
    await expectReplayed(place.home)
  })

  test('it continues from the files that --on-halt restored', async () => {
    const { place, loop } = await halted(works, '--max-iterations', '2', '--on-halt', 'restore')
    const resumed = await place.ralph(['resume', loop, '--max-iterations', '3', '--json'])
    expect(resumed).toMatchObject({ code: 1, end: { reason: 'max-iterations', iterations: 3 } })
    expect(place.prompt(3)).toContain('The files were restored to their state before the loop began.')
    expect((await place.ralph(['show', loop, '3'])).stdout).toContain('+3')
    await expectReplayed(place.home)
  })

  test('a loop that did not end on a limit cannot be extended', async () => {
    const { place, loop } = await halted('echo nothing', '--no-progress', '2')
    expect(await place.ralph(['resume', loop, '--max-iterations', '50'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('has ended: halted (no-progress)'),
    })
  })

  test('an agent inside a loop cannot extend it', async () => {
    const { place, loop } = await halted(works, '--max-iterations', '1')
    const resumed = await place.ralph(['resume', loop, '--max-iterations', '9'], {
      env: { ...place.env, RALPH_LOOP_ID: loop },
    })
    expect(resumed).toMatchObject({ code: 2, stderr: expect.stringContaining('person') })
  })
})

test('tokens are shown if the cost is unknown: in status, show and stats', async () => {
  const place = makePlace({ git: false })
  const agent = scripted(place, [{ usage: { tokens: 12_345 } }, { text: 'Done.\n\n<promise>COMPLETE</promise>' }])
  await place.ralph(['run', 'x', '--agent', agent, '--max-iterations', '1'])
  expect((await place.ralph(['status'])).stdout).toContain('  12k tokens  ')
  expect((await place.ralph(['status', onlyLoop(place)])).stdout).toContain(' · 12k tokens\n')
  expect((await place.ralph(['show'])).stdout).toContain('  12k tokens  ')
  expect((await place.ralph(['stats'])).stdout).toMatch(/scripted.*12k tokens/)
})

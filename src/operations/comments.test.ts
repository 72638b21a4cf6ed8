/** Comments on lines of a diff reach the next iteration, and their delivery is recorded. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeRepository } from '../host/repository.test-support.ts'
import { type OperationPlace, openPlace } from './place.test-support.ts'

const WRITES = 'printf "one $RALPH_ITERATION\\ntwo\\nthree\\n" > a.txt; echo "I worked."'
const CLAIMS = 'date +%N > done.txt; echo "<promise>COMPLETE</promise>"'

type Worked = OperationPlace & { loop: string }

/** A loop that wrote a.txt in its first iteration, and waits for a person unless it has ended. */
async function worked({ lines = WRITES, iterations = 1 } = {}): Promise<Worked> {
  const place = openPlace({ cwd: (await makeRepository({ 'a.txt': 'one\ntwo\n' })).dir })
  const { loop } = await place.run('start_loop', {
    prompt: 'Build it',
    agent: place.agent(lines),
    limits: { iterations },
  })
  await place.drive(loop)
  return { ...place, loop }
}

const asks = { lines: `${WRITES}; echo "<ask>Which color?</ask>"`, iterations: 5 }

const on = (line: number, text = 'Why?', more: object = {}) => ({ iteration: 1, path: 'a.txt', line, text, ...more })

const delivered = async ({ run, loop }: Worked, of = loop) =>
  (await run('list_comments', { loop: of })).comments.map((each) => [each.text, each.hearer, each.delivered])

async function until(what: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await what())) await new Promise((wake) => setTimeout(wake, 5))
}

describe('comments', () => {
  test('reach the next iteration in one message, with the lines they refer to', async () => {
    const place = await worked(asks)
    const { loop } = place
    expect(
      await place.run('add_comments', { loop, comments: [on(3, 'Say four.'), on(1, 'Keep it.', { side: 'old' })] }),
    ).toMatchObject({
      loop,
      heard: 'nobody',
      comments: [
        { quote: 'three', side: 'new' },
        { quote: 'one', side: 'old' },
      ],
    })
    expect(await delivered(place)).toEqual([
      ['Say four.', loop, null],
      ['Keep it.', loop, null],
    ])
    place.agent(CLAIMS)
    expect((await place.drive(loop)).next.kind).toBe('complete')
    expect(await delivered(place)).toEqual([
      ['Say four.', loop, 2],
      ['Keep it.', loop, 2],
    ])
    const { prompt } = await place.run('get_iteration', { loop, iteration: 2 })
    const message = [
      'A person says: There are comments on lines you changed. Address each one, or say why not.',
      ...['', 'a.txt:3 (after iteration 1)', '> three', 'Say four.'],
      ...['', 'a.txt:1 (before iteration 1)', '> one', 'Keep it.'],
    ]
    expect(prompt).toContain(message.map((line) => `> ${line}`).join('\n'))
  })

  test('count as delivered as soon as their turn has started', async () => {
    const place = await worked(asks)
    const [begun, go] = ['begun', 'go'].map((name) => join(place.context.home, name))
    await place.run('add_comments', { loop: place.loop, comments: [on(3)] })
    place.agent(`touch ${begun}; while [ ! -e ${go} ]; do sleep 0.02; done; ${CLAIMS}`)
    const driving = place.drive(place.loop)
    await until(() => existsSync(begun ?? ''))
    expect(await delivered(place)).toEqual([['Why?', place.loop, 2]])
    // Comments written meanwhile are for the iteration after, which this loop never has.
    const later = await place.run('add_comments', { loop: place.loop, comments: [on(2, 'And this?'), on(3, 'No.')] })
    expect(later.heard).toBe('driver')
    await place.run('remove_comment', { loop: place.loop, comment: later.comments[1]?.id ?? 0 })
    writeFileSync(go ?? '', '')
    await driving
    expect(await delivered(place)).toEqual([
      ['Why?', place.loop, 2],
      ['And this?', place.loop, null],
    ])
    const { loop: fork } = await place.run('fork', { loop: place.loop })
    place.agent(CLAIMS)
    await place.drive(fork)
    expect(await delivered(place)).toEqual([
      ['Why?', place.loop, 2],
      ['And this?', fork, 1],
    ])
  })

  test.each(['retry', 'fork'] as const)('on a loop that has ended go to its %s', async (again) => {
    const place = await worked()
    const added = await place.run('add_comments', { loop: place.loop, comments: [on(3)] })
    expect(added).toMatchObject({ heard: 'later', how: expect.stringContaining(`ralph retry ${place.loop}`) })
    const { loop } = await place.run(again, { loop: place.loop })
    expect(await delivered(place)).toEqual([['Why?', loop, null]])
    place.agent(CLAIMS)
    await place.drive(loop)
    expect(await delivered(place)).toEqual([['Why?', loop, 1]])
    expect(await delivered(place, loop)).toEqual([['Why?', loop, 1]])
    expect((await place.run('get_iteration', { loop, iteration: 1 })).prompt).toContain('> a.txt:3 (after iteration 1)')
    // They are delivered once.
    const { loop: third } = await place.run('fork', { loop: place.loop })
    expect(await place.context.store().nextOrder(third)).toBeUndefined()
  })

  test('also work on the changes of the whole loop', async () => {
    const place = await worked({ ...asks, lines: `echo "$RALPH_ITERATION" >> b.txt; echo "<ask>Which color?</ask>"` })
    await place.run('steer', { loop: place.loop, words: 'Blue.' })
    await place.drive(place.loop)
    const about = { iteration: 2, path: 'b.txt', line: 1, text: 'Why?' }
    const { comments } = await place.run('add_comments', {
      loop: place.loop,
      comments: [about, { ...about, against: 'start' }],
    })
    expect(comments.map(({ against, quote }) => [against, quote])).toEqual([
      ['previous', '1'],
      ['start', '1'],
    ])
  })

  test('on lines outside the diff are refused, with all others in the request', async () => {
    const place = await worked(asks)
    const wrong: [comment: object, says: string][] = [
      [on(99), 'comments[1] refers to line 99 (new) of a.txt, which is not in the diff of iteration 1.'],
      [on(3, 'Why?', { side: 'old' }), 'line 3 (old) of a.txt'],
      [on(1, 'Why?', { path: 'b.txt' }), 'comments[1] refers to b.txt, which is not in the diff'],
      [on(1, 'Why?', { iteration: 9 }), 'has no checkpoint of iteration 9'],
    ]
    for (const [comment, says] of wrong)
      await expect(place.run('add_comments', { loop: place.loop, comments: [on(1), comment] })).rejects.toThrow(says)
    expect(await delivered(place)).toEqual([])
    expect(await place.context.store().nextOrder(place.loop)).toBeUndefined()
  })

  test('can be removed until the loop receives them', async () => {
    const place = await worked(asks)
    const { comments } = await place.run('add_comments', { loop: place.loop, comments: [on(1, 'No.'), on(3, 'Yes.')] })
    const [first, second] = comments.map(({ id }) => id)
    expect(await place.run('remove_comment', { loop: place.loop, comment: first ?? 0 })).toEqual({
      loop: place.loop,
      comment: first,
    })
    place.agent(CLAIMS)
    await place.drive(place.loop)
    expect(await delivered(place)).toEqual([['Yes.', place.loop, 2]])
    const gone = place.run('remove_comment', { loop: place.loop, comment: second ?? 0 })
    await expect(gone).rejects.toThrow(`loop ${place.loop} received it in iteration 2.`)
    await expect(place.run('remove_comment', { loop: place.loop, comment: 99 })).rejects.toThrow('has no comment 99')
    expect((await place.run('get_iteration', { loop: place.loop, iteration: 2 })).prompt).not.toContain('No.')
  })
})

describe('an answer', () => {
  test('to a question continues the loop', async () => {
    const place = await worked(asks)
    expect(await place.run('answer', { loop: place.loop, words: 'Blue.' })).toEqual({
      loop: place.loop,
      heard: 'nobody',
    })
    place.agent(CLAIMS)
    await place.drive(place.loop)
    expect((await place.run('get_iteration', { loop: place.loop, iteration: 2 })).prompt).toContain(
      'A person says: Blue.',
    )
  })

  test('that does not match the question is refused', async () => {
    const place = await worked(asks)
    const { loop } = place
    const words = 'asks a question: answer it with words'
    await expect(place.run('answer', { loop, allow: true })).rejects.toThrow(words)
    await expect(place.run('answer', { loop })).rejects.toThrow('answer: give words.')
    await expect(place.run('answer', { loop, allow: true, words: 'Yes.' })).rejects.toThrow('answer: give words.')
    expect((await place.context.store().load(loop)).next).toMatchObject({ kind: 'wait', why: 'person' })
  })

  test('is refused if nothing is asked', async () => {
    const place = await worked()
    await expect(place.run('answer', { loop: place.loop, words: 'Blue.' })).rejects.toMatchObject({
      code: 'loop-ended',
    })
    const { loop } = await place.run('start_loop', { prompt: 'More', agent: place.agent(WRITES) })
    await expect(place.run('answer', { loop, words: 'Blue.' })).rejects.toThrow(`Loop ${loop} is not asking for input:`)
  })
})

/** The tokens of a loop inside an agent's own session, from the record that its host writes. */
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makePlace, type Place } from './ralph.ts'
import { answerOf, callGate, openSession } from './session-place.ts'

/** What Claude Code records of an answer, block by block. */
function say(place: Place, id: string, tokens: number): void {
  const usage = { input_tokens: tokens - 100, cache_read_input_tokens: 60, output_tokens: 40 }
  const line = (type: string) => JSON.stringify({ type: 'assistant', message: { id, content: [{ type }], usage } })
  appendFileSync(join(place.root, 's-1.jsonl'), `${line('thinking')}\n${line('text')}\n`)
}

const tokensOf = async (place: Place) => (await place.ralph(['status', '--json'])).lines[0]?.tokens

test('a loop counts its own tokens, and not those before it or while it is paused', async () => {
  const place = makePlace({ git: false })
  const session = openSession(place)
  say(place, 'before', 5_000)
  await session.type('/ralph:loop Go on.')
  say(place, 'one', 1_000)
  await session.work()
  expect(await tokensOf(place)).toBe(1_000)
  say(place, 'two', 400)
  await session.work()
  expect(await tokensOf(place)).toBe(1_400)
  expect(answerOf(await session.type('/ralph:status'))).toContain('2 of 10 iterations finished, 1.4k tokens')
  expect((await place.ralph(['show'])).stdout).toContain('1k tokens')

  await session.type('What is this file for?')
  say(place, 'aside', 3_000)
  await session.stop()
  await session.type('/ralph:resume')
  say(place, 'three', 200)
  await session.work()
  expect(await tokensOf(place)).toBe(1_600)
})

test('a loop halts on its token limit, and continues with another one', async () => {
  const place = makePlace({ git: false })
  const session = openSession(place)
  const begun = await session.type('/ralph:loop Go on. --max-tokens 1500')
  expect(begun.said).toContain('at most 10 iterations · 1.5k tokens')
  say(place, 'one', 1_000)
  expect((await session.work()).prompt).toContain('This is iteration 2')
  say(place, 'two', 1_000)
  expect((await session.work()).said).toContain('stopped after 2 iterations (tokens)')
  expect(answerOf(await session.type('/ralph:status'))).toContain('Resume: /ralph:resume --max-tokens 4000')
  expect((await session.type('/ralph:resume --max-tokens 4000')).prompt).toContain('This is iteration 3')
  say(place, 'three', 500)
  await session.work()
  expect(await tokensOf(place)).toBe(2_500)
})

test('a missing, truncated or invalid transcript ends nothing', async () => {
  const place = makePlace({ git: false })
  const session = openSession(place)
  const record = join(place.root, 's-1.jsonl')
  say(place, 'before', 5_000)
  await session.type('/ralph:loop Go on. --max-tokens 1500')
  for (const [turn, text] of ['', '{"usage":{\n\0\0{"usage":{}}\n[]\n', '"usage":{'.repeat(99)].entries()) {
    writeFileSync(record, text)
    const result = await session.work()
    expect(result).toMatchObject({ code: 0, err: '' })
    expect(result.prompt).toContain(`This is iteration ${turn + 2}`)
  }
  const folder = join(place.root, 'folder')
  mkdirSync(folder)
  for (const path of [folder, '/none/at/all', 7, null])
    expect(await session.work('x', { transcript_path: path })).toMatchObject({ code: 0, err: '' })
  expect(await tokensOf(place)).toBe(0)
})

test('Cursor does not report tokens, so they cannot be limited there', async () => {
  const place = makePlace({ git: false })
  const prompt = '/ralph-loop Go on. --max-tokens 1500'
  const payload = {
    conversation_id: 'c-1',
    workspace_roots: [place.dir],
    hook_event_name: 'beforeSubmitPrompt',
    prompt,
  }
  const { json } = await callGate(place, 'prompt', payload).ended
  expect(String(json.user_message)).toContain('--max-tokens is not available in Cursor')
})

import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { kindOfMessage } from '../../agents/api-error.ts'
import { temporaryFolder } from '../../host/place.test-support.ts'
import type { HostName } from '../../session/hosts.ts'
import type { TurnOver } from '../../session/turn-over.ts'
import { newPart } from './new-part.ts'
import type { From, Json } from './payload.ts'
import { readStop } from './stop.ts'

type Finding = Parameters<typeof readStop>[2]

function fromHost(host: HostName): From {
  return { host, shim: false, during: 'stop', session: 's', dir: '/p' }
}

const finding: Finding = {
  newPart,
  lastMessage: async () => 'from the record',
  failed: (message) => ({ kind: kindOfMessage(message) }),
}

const read = (host: HostName, payload: Json, more: Partial<Finding> = {}) =>
  readStop(fromHost(host), payload, { ...finding, ...more })

const wordsOf = ({ outcome }: TurnOver) => (outcome === 'aborted' ? outcome : outcome.finalText)

describe('the last words', () => {
  test.each<[host: HostName, payload: Json, words: string]>([
    ['claude', { last_assistant_message: 'Done.' }, 'Done.'],
    ['claude', { last_assistant_message: '' }, ''],
    ['claude', {}, 'from the record'],
    ['codex', { last_assistant_message: 'Done.' }, 'Done.'],
    ['codex', { last_assistant_message: null }, 'from the record'],
    ['gemini', { prompt_response: 'Done.' }, 'Done.'],
    ['copilot', { transcript_path: '/t' }, 'from the record'],
    ['qwen', { last_assistant_message: 'Done.' }, 'Done.'],
    ['pi', { last_assistant_message: 'Done.', outcome: 'completed' }, 'Done.'],
  ])('of %s, told %j', async (host, payload, words) => {
    expect(wordsOf(await read(host, payload))).toBe(words)
  })

  test('are empty if the user stopped the agent', async () => {
    expect(wordsOf(await read('droid', {}, { lastMessage: async () => undefined }))).toBe('aborted')
  })

  test('are looked up in the named transcript', async () => {
    const paths: string[] = []
    const lastMessage = async (path: string) => String(paths.push(path))
    await read('copilot', { transcript_path: '/a' }, { lastMessage })
    await read('copilot', { transcriptPath: '/b' }, { lastMessage })
    await read('cursor', {}, { lastMessage })
    expect(paths).toEqual(['/a', '/b', ''])
  })
})

describe('a host that repeats all of its answers', () => {
  test('is read from where the last reading ended', async () => {
    const first = await read('gemini', { prompt_response: 'one' })
    expect(wordsOf(first)).toBe('one')
    const heard = first.heard
    const second = await read('gemini', { prompt_response: 'one\n<promise>X</promise>' }, heard ? { heard } : {})
    expect(wordsOf(second)).toBe('\n<promise>X</promise>')
    const third = await read(
      'gemini',
      { prompt_response: 'another prompt' },
      second.heard ? { heard: second.heard } : {},
    )
    expect(wordsOf(third)).toBe('another prompt')
  })

  test('was stopped when it said nothing new', async () => {
    const { heard } = await read('gemini', { prompt_response: 'one' })
    expect((await read('gemini', { prompt_response: 'one' }, heard ? { heard } : {})).outcome).toBe('aborted')
    expect((await read('gemini', { prompt_response: 'one\n ' }, heard ? { heard } : {})).outcome).toBe('aborted')
    expect((await read('gemini', { prompt_response: '[no response text]' })).outcome).toBe('aborted')
  })
})

test('an answer that the user stopped midway is not a turn, although part of it arrived', async () => {
  const path = join(temporaryFolder(), 'session.jsonl')
  const line = (value: object) => appendFileSync(path, `${JSON.stringify(value)}\n`)
  const payload = { transcript_path: path, prompt_response: 'Half an' }
  line({ id: '1', type: 'user', content: [{ text: 'Go on.' }] })
  expect(await read('gemini', payload)).toMatchObject({ outcome: { kind: 'ok' } })
  line({ id: '2', type: 'info', content: 'Request cancelled.' })
  line({ $set: { messages: [{ id: '1', type: 'user', content: [{ text: 'Go on.' }] }] } })
  expect(await read('gemini', payload)).toMatchObject({ outcome: 'aborted', heard: { length: 7 } })
  line({ id: '3', type: 'user', content: [{ text: 'Go on again.' }] })
  line({ id: '4', type: 'gemini', content: 'She said "Request cancelled."' })
  expect(await read('gemini', payload)).toMatchObject({ outcome: { kind: 'ok' } })
})

describe('how it ended', () => {
  test.each<[payload: Json, outcome: object | string]>([
    [{}, { kind: 'ok', tokens: 0, ran: [], denied: [] }],
    [
      { outcome: 'completed', tokens: 5, cost_usd: 0.5, ran: ['a', 7] },
      { kind: 'ok', tokens: 5, costUsd: 0.5, ran: ['a'] },
    ],
    [
      { tokens: 'many', cost_usd: '1', ran: 'a' },
      { kind: 'ok', tokens: 0, ran: [] },
    ],
    [{ outcome: 'aborted' }, 'aborted'],
    [{ status: 'aborted' }, 'aborted'],
    [{ status: 'error' }, { kind: 'unknown', message: 'the agent ended with an error' }],
    [{ outcome: 'error', error_message: '429: {"error":"x"}' }, { kind: 'rate-limit' }],
    [{ outcome: 'error', error_message: '500: {"error":"x"}' }, { kind: 'overloaded' }],
    [{ outcome: 'error', error_message: '401: {"error":"x"}' }, { kind: 'auth' }],
    [{ outcome: 'error', error_message: '400: maximum context length' }, { kind: 'context' }],
    [
      { outcome: 'error', error_message: 'boom' },
      { kind: 'unknown', message: 'boom' },
    ],
    [{ outcome: 'strange' }, { kind: 'ok' }],
  ])('%j', async (payload, outcome) => {
    const { outcome: found } = await read('pi', { last_assistant_message: 'x', ...payload })
    if (typeof outcome === 'string') expect(found).toBe(outcome)
    else expect(found).toMatchObject(outcome)
  })
})

describe('a host continues by itself', () => {
  test.each<[tasks: unknown, background: boolean]>([
    [undefined, false],
    [[], false],
    [[{ id: 'b', type: 'shell', status: 'running' }], true],
    [[{ id: 'b', status: 'completed' }], false],
    [
      [
        { id: 'a', status: 'completed' },
        { id: 'b', status: 'running' },
      ],
      true,
    ],
    [[{ id: 'b' }], true],
    ['many', false],
  ])('with these background tasks: %j', async (background_tasks, background) => {
    expect((await read('claude', { last_assistant_message: 'x', background_tasks })).background).toBe(background)
  })

  const line = (operation: string, content?: string) =>
    `${JSON.stringify({ type: 'queue-operation', operation, timestamp: 'x', ...(content ? { content } : {}) })}\n`

  test.each<[record: string, background: boolean]>([
    [line('enqueue', '/ralph:cancel'), true],
    [line('enqueue', '/ralph:pause'), true],
    [line('enqueue', '/ralph:cancel') + line('dequeue'), false],
    [line('dequeue') + line('enqueue', '/ralph:cancel'), true],
    [line('enqueue', 'tell me about /ralph:cancel'), false],
    [line('enqueue', '/ralph:status'), false],
    [line('enqueue', '/ralph:steer Use tabs.') + line('enqueue', '/ralph:pause'), true],
    [line('enqueue', '/ralph:steer Use tabs.'), false],
    ['', false],
  ])('with a waiting command: %j', async (record, background) => {
    const path = join(temporaryFolder(), 'record.jsonl')
    writeFileSync(path, record)
    const payload = { last_assistant_message: 'x', transcript_path: path }
    expect((await read('claude', payload)).hasOrder === true).toBe(background)
    expect((await read('codex', payload)).hasOrder).toBeUndefined()
  })

  test.each<[record: string, waits: boolean]>([
    [line('enqueue', '/ralph:steer Use tabs.'), true],
    [line('enqueue', '/ralph:steer Use tabs.') + line('enqueue', '/ralph:steer And blanks.'), true],
    [line('enqueue', '/ralph:steer Use tabs.') + line('dequeue'), false],
    [line('enqueue', '/ralph:steer Use tabs.') + line('enqueue', '/ralph:cancel'), false],
    ['', false],
  ])('with waiting words for the next turn: %j', async (record, waits) => {
    const path = join(temporaryFolder(), 'record.jsonl')
    writeFileSync(path, record)
    const over = await read('claude', { last_assistant_message: 'x', transcript_path: path })
    expect(over.hasWords === true).toBe(waits)
  })
})

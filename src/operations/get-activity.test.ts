import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { START, specOf, works } from '../engine/stories.test-support.ts'
import { storyIn } from '../host/store-contract/scene.ts'
import type { TurnEntry } from '../host/transcript.ts'
import type { Row } from './activity-rows.ts'
import { type OperationPlace, openPlace } from './place.test-support.ts'

const GRID = 262_144

/** A loop of this agent with these entries in its first iteration. */
async function wrote(agent: string, entries: TurnEntry[]): Promise<OperationPlace> {
  const place = openPlace()
  const store = place.context.store()
  await storyIn(store, 'a1', { work: { ...specOf().work, agent } }, works)
  const log = store.transcripts.openTurn('a1', 1)
  log.write(entries)
  log.close()
  return place
}

const ask = (place: OperationPlace, more: object = {}) =>
  place.run('get_activity', { loop: 'a1', iteration: 1, ...more })
const rowsOf = async (agent: string, ...entries: TurnEntry[]) => (await ask(await wrote(agent, entries))).rows
const said = (value: object): TurnEntry => ({ out: `${JSON.stringify(value)}\n` })

/** What a real client printed when its model called a tool. */
function recorded(agent: string): TurnEntry[] {
  const file = resolve(import.meta.dirname, '../agents/fixtures', agent, 'promise-in-tool.jsonl')
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  return lines.flatMap((line) => {
    const { out } = JSON.parse(line) as { out?: string }
    return out === undefined ? [] : [{ out: `${out}\n` }]
  })
}

test('the output of a plain program is shown line by line', async () => {
  const place = openPlace()
  const agent = place.agent('echo "I look."; echo; printf "no break"; echo "careful" >&2; echo x > work.txt; exit 3')
  const { loop } = await place.run('start_loop', { prompt: 'Build it', agent, limits: { iterations: 1 } })
  await place.drive(loop)
  const { rows, next, size, over } = await place.run('get_activity', { loop, iteration: 1 })
  const first = rows.slice(0, rows.findIndex(({ kind }) => kind === 'exit') + 1)
  expect(first.map(({ kind, text }) => [kind, text])).toEqual(
    expect.arrayContaining([
      ['prompt', expect.stringMatching(/^attempt 1: .*agent\.sh$/)],
      ['text', 'I look.'],
      ['text', 'no break'],
      ['note', 'careful'],
      ['exit', 'exit code 3'],
    ]),
  )
  expect(first).toHaveLength(5)
  expect(first.map(({ at }) => typeof at)).toEqual(['number', 'undefined', 'undefined', 'undefined', 'number'])
  expect([next, over]).toEqual([size, true])
})

test('raw, every line is shown as it was printed', async () => {
  const place = await wrote('claude', [{ out: '{"type":"system"}\n\nplain\n' }, { err: 'oh\r\n' }])
  expect((await ask(place, { raw: true })).rows).toEqual([
    { kind: 'out', text: '{"type":"system"}' },
    { kind: 'out', text: '' },
    { kind: 'out', text: 'plain' },
    { kind: 'err', text: 'oh' },
  ])
})

describe('the output of an agent', () => {
  test('becomes what it said, with its line breaks, and which tools it called', async () => {
    const content = [
      { type: 'text', text: 'I will run\nthe tests.' },
      { type: 'tool_use', name: 'Bash', input: { command: 'npm test' } },
    ]
    expect(
      await rowsOf(
        'claude',
        said({ type: 'system', subtype: 'init', session_id: 's' }),
        said({ type: 'assistant', message: { content } }),
      ),
    ).toEqual([
      { kind: 'text', text: 'I will run\nthe tests.' },
      { kind: 'tool', name: 'Bash', text: 'npm test' },
    ])
  })

  test('that comes in pieces is put together', async () => {
    const piece = (content: string) => said({ type: 'message', role: 'assistant', content })
    const tool = said({ type: 'tool_use', tool_name: 'read_file', tool_id: '1', parameters: {} })
    expect(await rowsOf('gemini', piece('I '), piece('look.'), tool, piece('Done.'))).toMatchObject([
      { kind: 'text', text: 'I look.' },
      { kind: 'tool', name: 'read_file' },
      { kind: 'text', text: 'Done.' },
    ])
  })

  test('that grows is shown once, even while its turn is running', async () => {
    const chunk = (text: string) =>
      said({
        method: 'session/update',
        params: { update: { sessionUpdate: 'agent_message_chunk', content: { text } } },
      })
    expect(await rowsOf('acp:agent', chunk('I '), chunk('look.'))).toEqual([{ kind: 'text', text: 'I look.' }])
  })

  test('of an agent that is no longer known is plain', async () => {
    expect(await rowsOf('oracle', { out: 'Ask me.\n' })).toEqual([{ kind: 'text', text: 'Ask me.' }])
  })

  test.each([['claude'], ['codex'], ['copilot'], ['gemini'], ['opencode'], ['pi'], ['qwen'], ['droid']])(
    'that was recorded with %s becomes texts and tools',
    async (agent) => {
      const rows = await rowsOf(agent, ...recorded(agent))
      expect(new Set(rows.map(({ kind }) => kind))).toEqual(new Set(['text', 'tool']))
    },
  )
})

test('long texts are cut, never within a character', async () => {
  const long = await rowsOf('command:x', { out: `${'🦉'.repeat(3_000)}\n` })
  expect(long[0]?.text).toHaveLength(3_999)
  expect(long[0]?.text).toMatch(/^(🦉)+…$/u)
  const prompt = 'x'.repeat(9_000)
  const [begun] = await rowsOf('command:x', { at: START, attempt: 2, prompt, command: ['agent', '-p', prompt] })
  expect(begun).toEqual({ kind: 'prompt', text: "attempt 2: agent -p '…'", at: START })
})

test('a stopped turn shows why', async () => {
  expect(await rowsOf('claude', { at: START, exit: null, signal: 'SIGKILL' })).toEqual([
    { kind: 'exit', text: 'SIGKILL', at: START },
  ])
})

test('reading a long transcript in parts shows everything once', async () => {
  const message = (n: number) => ({ type: 'assistant', message: { content: [{ type: 'text', text: `Step ${n}` }] }, n })
  const entries: TurnEntry[] = []
  for (let n = 0; n < 400; n++) {
    const line = `${JSON.stringify({ ...message(n), padding: 'x'.repeat(n % 7 === 0 ? 90_000 : 900) })}\n`
    // The way program output is recorded: long lines in pieces.
    for (let at = 0; at < line.length; at += 65_537) entries.push({ out: line.slice(at, at + 65_537) })
  }
  const place = await wrote('claude', entries)
  const { size } = await ask(place)
  expect(size).toBeGreaterThan(20 * GRID)
  const rows: Row[] = []
  for (let from = 0; from < size; from += GRID) rows.push(...(await ask(place, { from, to: from + GRID })).rows)
  expect(rows).toEqual(Array.from({ length: 400 }, (_, n) => ({ kind: 'text', text: `Step ${n}` })))
})

test('a follower continues from `next`', async () => {
  const place = openPlace()
  const store = place.context.store()
  await storyIn(store, 'a1', { work: { ...specOf().work, agent: 'command:x' } }, works)
  const ask = (from: number) => place.run('get_activity', { loop: 'a1', iteration: 2, from })
  await expect(ask(0)).rejects.toMatchObject({ code: 'loop-unknown' })
  const log = store.transcripts.openTurn('a1', 2)
  log.write([{ out: 'one\n' }])
  const first = await ask(0)
  expect(first).toMatchObject({ rows: [{ text: 'one' }], over: false })
  expect(await ask(first.next)).toMatchObject({ rows: [], next: first.next })
  log.write([{ out: 'two\n' }])
  expect(await ask(first.next)).toMatchObject({ rows: [{ text: 'two' }] })
  log.close()
})

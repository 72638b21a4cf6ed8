import { spawn } from 'node:child_process'
import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { sumOf } from '../agents/usage.ts'
import { temporaryFolder } from '../host/place.test-support.ts'
import type { HostName } from './hosts.ts'
import { markSpent, type Spent, spentSince } from './spent.ts'

type Line = object | string

/** A session in which the loop starts after some lines. */
function begin(host: HostName, before: Line[] = []) {
  const record = join(temporaryFolder(), 'session.jsonl')
  const write = (...lines: Line[]) => appendFileSync(record, lines.map(printed).join(''))
  if (before.length > 0) write(...before)
  let mark: Spent | undefined = markSpent(host, record)
  return {
    record,
    write,
    /** The tokens of the turn that ends with these lines. */
    stop(...lines: Line[]): number {
      if (lines.length > 0) write(...lines)
      const { usage, spent } = spentSince(host, mark, record)
      mark = JSON.parse(JSON.stringify(spent ?? mark)) // as stored between two hooks
      return usage ? sumOf(usage) : 0
    },
  }
}

function printed(line: Line): string {
  return `${typeof line === 'string' ? line : JSON.stringify(line)}\n`
}

/** Lines of real transcripts, without what is not read. */
const claude = (id: string, output: number, type = 'text') => ({
  type: 'assistant',
  message: {
    id,
    content: [{ type }],
    stop_reason: type === 'text' ? 'end_turn' : 'tool_use',
    usage: {
      input_tokens: 3,
      cache_creation_input_tokens: 20,
      cache_read_input_tokens: 100,
      output_tokens: output,
      server_tool_use: { web_search_requests: 0 },
    },
  },
})
const codex = (total: number, last: number) => ({
  type: 'event_msg',
  payload: {
    type: 'token_count',
    info: {
      total_token_usage: { input_tokens: total, cached_input_tokens: 10, output_tokens: 5, total_tokens: total + 5 },
      last_token_usage: { input_tokens: last, cached_input_tokens: 10, output_tokens: 5, total_tokens: last + 5 },
    },
  },
})
const gemini = (id: string, total: number) => ({
  id,
  type: 'gemini',
  tokens: { input: total - 30, output: 10, cached: 5, thoughts: 20, tool: 0, total },
})
const qwen = (uuid: string, input: number) => ({
  uuid,
  type: 'assistant',
  message: { role: 'model' },
  usageMetadata: { promptTokenCount: input, candidatesTokenCount: 7, cachedContentTokenCount: 2 },
})
const copilot = (id: string, input: number) => ({
  id,
  type: 'session.usage_record',
  data: { usage: { model: 'm', inputTokens: input, outputTokens: 7, cacheReadTokens: 2 } },
})

describe('a turn is counted once', () => {
  test.each<[host: HostName, before: Line[], first: Line[], second: Line[], tokens: [number, number]]>([
    // Each block of an answer is a line with the same id; the last one has the total output.
    [
      'claude',
      [claude('m0', 50)],
      [claude('m1', 1), claude('m1', 7, 'tool_use'), claude('m2', 9)],
      [claude('m3', 1)],
      [262, 124],
    ],
    ['codex', [codex(500, 400)], [codex(500, 400), codex(900, 395), codex(900, 395)], [codex(1_000, 95)], [400, 100]],
    [
      'gemini',
      [gemini('g0', 80)],
      [gemini('g1', 100), gemini('g1', 100), gemini('g2', 200)],
      [gemini('g3', 50)],
      [300, 50],
    ],
    ['qwen', [qwen('q0', 9)], [qwen('q1', 100), qwen('q2', 200)], [qwen('q3', 50)], [314, 57]],
    ['copilot', [copilot('c0', 9)], [copilot('c1', 100), copilot('c2', 200)], [copilot('c3', 50)], [314, 57]],
  ])('of %s', (host, before, first, second, tokens) => {
    const session = begin(host, before)
    expect([session.stop(...first), session.stop(...second)]).toEqual(tokens)
  })

  test('of Droid, which keeps the sum next to its transcript', () => {
    const session = begin('droid')
    const settle = (inputTokens: number) =>
      writeFileSync(
        session.record.replace('.jsonl', '.settings.json'),
        JSON.stringify({
          inclusiveTokenUsage: { inputTokens, outputTokens: 1, cacheCreationTokens: 2, cacheReadTokens: 3 },
        }),
      )
    expect(session.stop()).toBe(0)
    settle(100)
    expect(session.stop()).toBe(106)
    settle(150)
    expect(session.stop()).toBe(50)
    expect(session.stop()).toBe(0)
  })

  test('even if the end of an answer comes after the stop', () => {
    const session = begin('gemini')
    expect(session.stop(gemini('g1', 100))).toBe(100)
    expect(session.stop(gemini('g1', 120), gemini('g2', 40))).toBe(60)
  })

  test('although there is no session count before the loop', () => {
    const session = begin('codex', [codex(500, 400), 'x'.repeat(300_000)])
    expect(session.stop(codex(900, 395), codex(900, 395), codex(1_000, 95))).toBe(400 + 100)
  })

  test('although the session count has started over', () => {
    const session = begin('codex', [codex(500, 400)])
    expect(session.stop(codex(60, 55), codex(160, 95))).toBe(60 + 100)
  })
})

test('waits for what Claude Code writes a moment after its stop', () => {
  const session = begin('claude', [claude('m0', 1)])
  session.write(claude('m1', 7, 'tool_use'))
  const late = printed(claude('m2', 9)).trim()
  spawn('sh', ['-c', 'sleep 0.1; printf "%s\\n" "$1" >> "$2"', 'sh', late, session.record])
  expect(session.stop()).toBe(262)
})

describe('what cannot be counted counts as nothing, and nothing fails', () => {
  test('no transcript, and one that appears later', () => {
    const session = begin('codex')
    expect(session.stop()).toBe(0)
    expect(session.stop(codex(95, 95))).toBe(100)
  })

  test('lines that are not JSON, or say something else', () => {
    const session = begin('codex')
    const lines = ['{"total_token_usage":{', '{"payload":7,"total_token_usage":{}}', '[]', 'null', '\0\0']
    expect(session.stop(...lines, codex(95, 95))).toBe(100)
    const other = begin('gemini')
    expect(
      other.stop('{"type":"gemini","tokens":{"total":"many"}}', '{"$set":{"messages":[{"tokens":{"total":9}}]}}'),
    ).toBe(0)
  })

  test('a transcript that was rewritten, shorter', () => {
    const session = begin('gemini', [gemini('g0', 80), gemini('g1', 80)])
    writeFileSync(session.record, printed(gemini('g0', 80)))
    expect(session.stop()).toBe(0)
    expect(session.stop(gemini('g2', 90))).toBe(90)
  })

  test("a transcript other than the loop's first, unless it is Gemini, which starts one for a fresh context", () => {
    const [old, next] = [begin('qwen'), begin('qwen', [qwen('q1', 100)])]
    const { usage, spent } = spentSince('qwen', markSpent('qwen', old.record), next.record)
    expect([usage, spent?.record]).toEqual([undefined, next.record])
    const fresh = begin('gemini', [gemini('g1', 100)])
    expect(spentSince('gemini', markSpent('gemini', old.record), fresh.record).usage).toMatchObject({ input: 65 })
  })

  test('a host that reports no tokens, and a session without a mark', () => {
    expect(markSpent('cursor', '/none')).toBeUndefined()
    expect(markSpent('claude', undefined)).toBeUndefined()
    expect(spentSince('cursor', undefined, '/none')).toEqual({})
    const { record } = begin('qwen', [qwen('q1', 100)])
    expect(spentSince('qwen', undefined, record)).toEqual({ spent: markSpent('qwen', record) })
  })
})

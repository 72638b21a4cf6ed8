import { appendFileSync, closeSync, ftruncateSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../../host/place.test-support.ts'
import { lastMessage, lastPrompt } from './transcript.ts'

function recordOf(...lines: (object | string)[]): string {
  const path = join(temporaryFolder(), 'record.jsonl')
  writeFileSync(path, lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''))
  return path
}

const text = (words: string) => [{ type: 'text', text: words }]
const says = (words: string, more: object = {}) => ({ message: { role: 'assistant', content: text(words) }, ...more })
const asks = (words: string, more: object = {}) => ({ message: { role: 'user', content: words }, ...more })
const tool = { message: { role: 'assistant', content: [{ type: 'tool_use', name: 'Bash', input: {} }] } }
const ran = { message: { role: 'user', content: [{ type: 'tool_result', content: 'ok' }] } }

describe("Claude's transcript", () => {
  test.each<[what: string, lines: (object | string)[], words: string]>([
    ['the last words', [asks('x'), says('one'), says('two')], 'two'],
    ['a message before a tool, with nothing after', [asks('x'), says('one'), tool, ran], 'one'],
    [
      'a message in several parts',
      [asks('x'), { message: { role: 'assistant', content: [...text('a'), ...text('b')] } }],
      'a\nb',
    ],
    ['plain text', [asks('x'), { message: { role: 'assistant', content: 'plain' } }], 'plain'],
    ['lines of other kinds', [asks('x'), says('one'), { type: 'summary' }, '7', 'null', '[]', '{"cut'], 'one'],
  ])('finds %s', async (_, lines, words) => {
    expect(await lastMessage(recordOf(...lines), 'claude', {})).toBe(words)
  })

  test('says nothing about an earlier turn', async () => {
    const path = recordOf(asks('x'), says('<promise>DONE</promise>'), asks('y'), tool, ran)
    expect(await lastMessage(path, 'claude', {})).toBe('')
  })

  test('is waited for while it is being written', async () => {
    const path = recordOf(asks('x'))
    const words = lastMessage(path, 'claude', {})
    appendFileSync(path, `${JSON.stringify(says('late'))}\n`)
    expect(await words).toBe('late')
  })

  test('without a name is not waited for', async () => {
    const begun = performance.now()
    expect(await lastMessage('', 'claude', {})).toBe('')
    expect(performance.now() - begun).toBeLessThan(500)
  })

  test('of 100 MB is read only at the end', async () => {
    const path = recordOf()
    const file = openSync(path, 'r+')
    ftruncateSync(file, 100 << 20)
    closeSync(file)
    appendFileSync(path, `\n${JSON.stringify(asks('x'))}\n${JSON.stringify(says('the end'))}\n`)
    const before = process.memoryUsage().rss
    expect(await lastMessage(path, 'claude', {})).toBe('the end')
    expect(process.memoryUsage().rss - before).toBeLessThan(30 << 20)
  })
})

describe("Droid's transcript", () => {
  test('has the named message', async () => {
    const path = recordOf(
      asks('x'),
      says('one', { id: 'm-1' }),
      says('two', { id: 'm-2' }),
      says('three', { id: 'm-3' }),
    )
    expect(await lastMessage(path, 'droid', { message_id: 'm-2' })).toBe('two')
  })

  test('shows when the user stopped the agent', async () => {
    const path = recordOf(asks('x'), says('one', { id: 'm-1' }), asks('stopped', { id: 'm-2' }))
    expect(await lastMessage(path, 'droid', { message_id: 'm-2' })).toBeUndefined()
  })

  test('has what the user typed last', () => {
    const path = recordOf(asks('first'), asks('/ralph:loop x'), asks('context', { visibility: 'llm' }), says('ok'), ran)
    expect(lastPrompt(path)?.text).toBe('/ralph:loop x')
    expect(lastPrompt(recordOf())).toBeUndefined()
    expect(lastPrompt('/no/such/file')).toBeUndefined()
  })
})

describe("Copilot's transcript", () => {
  const stop = (timestamp: number) => ({ type: 'hook.start', data: { hookType: 'agentStop', input: { timestamp } } })
  const message = (content: string) => ({ type: 'assistant.message', data: { content, toolRequests: [] } })
  const at = 1_794_807_776_082

  test('has what comes before the line of this very stop', async () => {
    const path = recordOf(message('one'), stop(at - 5), message('two'), stop(at), message('three'))
    expect(await lastMessage(path, 'copilot', { timestamp: new Date(at).toISOString() })).toBe('two')
    expect(await lastMessage(path, 'copilot', { timestamp: at })).toBe('two')
  })

  test('is waited for until that line exists', async () => {
    const path = recordOf(message('one'), stop(at - 5), message('two'))
    const words = lastMessage(path, 'copilot', { timestamp: at })
    appendFileSync(path, `${JSON.stringify(message('three'))}\n${JSON.stringify(stop(at))}\n`)
    expect(await words).toBe('three')
  })

  test('is empty if nothing was said', async () => {
    expect(await lastMessage(recordOf(stop(at)), 'copilot', { timestamp: at })).toBe('')
  })
})

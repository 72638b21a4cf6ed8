import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Step } from '../formats/script.ts'
import { temporaryFolder } from './place.test-support.ts'

let dir: string

beforeEach(() => {
  dir = temporaryFolder()
})

type Played = { code: number | null; lines: Record<string, unknown>[]; err: string }

function play(turns: Step[][] | string, env: Record<string, string> = {}): Played {
  const script = join(dir, 'script.json')
  writeFileSync(script, typeof turns === 'string' ? turns : JSON.stringify({ turns }))
  return start(script, env)
}

function start(script: string, env: Record<string, string>): Played {
  const program = join(import.meta.dirname, 'scripted-agent.ts')
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', program, script],
    { cwd: dir, env: { ...process.env, ...env }, input: 'the prompt', encoding: 'utf8', timeout: 30_000 },
  )
  const lines = stdout.split('\n').filter(Boolean)
  return { code: status, lines: lines.map((line) => JSON.parse(line)), err: stderr }
}

const END = { type: 'end', kind: 'ok' }

describe('the program behind the scripted agent', () => {
  test('plays its steps in order and says what it does', () => {
    const { code, lines, err } = play([
      [
        { text: 'hello' },
        { usage: { tokens: 3, costUsd: 0.5 } },
        { edit: { path: 'deep/er/a.txt', content: 'a 🦉' } },
        { shell: ['sh', '-c', 'cat deep/er/a.txt > b.txt'] },
        { denied: 'Bash' },
        { text: 'bye' },
      ],
    ])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(lines).toEqual([
      { type: 'text', text: 'hello' },
      { type: 'usage', tokens: 3, costUsd: 0.5 },
      { type: 'tool', name: 'edit', summary: 'deep/er/a.txt' },
      { type: 'tool', name: 'shell', summary: 'sh -c cat deep/er/a.txt > b.txt' },
      { type: 'denied', tool: 'Bash' },
      { type: 'text', text: 'bye' },
      END,
    ])
    expect(readFileSync(join(dir, 'b.txt'), 'utf8')).toBe('a 🦉')
  })

  test.each([
    ['1', 'first'],
    ['2', 'last'],
    ['9', 'last'],
  ])('plays the turn of iteration %s', (iteration, text) => {
    const { lines } = play([[{ text: 'first' }], [{ text: 'last' }]], { RALPH_ITERATION: iteration })
    expect(lines).toEqual([{ type: 'text', text }, END])
  })

  test('limits a step to its attempt', () => {
    const turns: Step[][] = [[{ attempt: 2, text: 'again' }, { text: 'always' }]]
    expect(play(turns, { RALPH_ATTEMPT: '1' }).lines).toEqual([{ type: 'text', text: 'always' }, END])
    expect(play(turns, { RALPH_ATTEMPT: '2' }).lines).toHaveLength(3)
  })

  test('fails on request', () => {
    const { code, lines, err } = play([[{ fail: 'it broke', exit: 7 }, { edit: { path: 'a.txt', content: '' } }]])
    expect({ code, lines, err }).toEqual({ code: 7, lines: [], err: 'it broke\n' })
    expect(existsSync(join(dir, 'a.txt'))).toBe(false)
  })

  test('hits a rate limit on request', () => {
    const { code, lines } = play([[{ 'rate-limit': { resetsInSeconds: 2, message: 'slow down' } }, { text: 'never' }]])
    expect(code).toBe(1)
    expect(lines).toEqual([{ type: 'end', kind: 'rate-limit', message: 'slow down', resetsInMs: 2_000 }])
  })

  test.each<[what: string, played: () => Played]>([
    ['is missing', () => start(join(dir, 'missing.json'), {})],
    ['is not a script', () => play('{"turns": 3}')],
  ])('cannot be used when its script %s, and says so', (_, played) => {
    const { code, lines, err } = played()
    expect(code).toBe(1)
    expect(lines).toEqual([{ type: 'end', kind: 'config', message: expect.stringContaining('.json') }])
    expect(err).toContain('.json')
  })
})

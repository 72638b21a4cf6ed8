import { describe, expect, test } from 'vitest'
import type { Exit, Outcome, Request } from './agent.ts'
import { type ScriptedLine, scripted } from './scripted.ts'

const request: Request = {
  prompt: 'Do it.',
  mode: 'headless',
  permissions: 'bypass',
  sandbox: false,
  target: 'script.json',
  extraArgs: ['--more'],
  dir: '/work',
  folder: '/tmp',
  self: (program) => ['node', `${program}.mjs`],
  at: 1_000,
}

function outcome(lines: (ScriptedLine | string)[], exit: Partial<Exit> = {}): Outcome {
  const parser = scripted.parser(request)
  for (const line of lines) parser.push(typeof line === 'string' ? line : JSON.stringify(line), 'out')
  return parser.end({ code: 0, signal: null, ...exit }, new Map())
}

const end: ScriptedLine = { type: 'end', kind: 'ok' }

describe('the scripted agent', () => {
  test('is a program of ralph’s own that plays a script', () => {
    expect(scripted.command(request)).toEqual({
      argv: ['node', 'scripted-agent.mjs', 'script.json', '--more'],
      env: {},
      stdin: 'Do it.',
    })
  })

  test('has the last text as its final one', () => {
    const { kind, finalText } = outcome([{ type: 'text', text: 'first' }, { type: 'text', text: 'last' }, end])
    expect({ kind, finalText }).toEqual({ kind: 'ok', finalText: 'last' })
  })

  test('adds up what it used', () => {
    const lines: ScriptedLine[] = [
      { type: 'usage', tokens: 5 },
      { type: 'usage', tokens: 7, costUsd: 0.25 },
      { type: 'usage', tokens: 1, costUsd: 0.5 },
    ]
    expect(outcome([...lines, end])).toMatchObject({ tokens: 13, costUsd: 0.75 })
    expect(outcome([{ type: 'usage', tokens: 5 }, end])).not.toHaveProperty('costUsd')
  })

  test('ran its commands; edits are not commands', () => {
    const lines: ScriptedLine[] = [
      { type: 'tool', name: 'shell', summary: 'npm test' },
      { type: 'tool', name: 'edit', summary: 'vitest.config.ts' },
    ]
    expect(outcome([...lines, end]).ran).toEqual(['npm test'])
  })

  test('says what it was denied', () => {
    expect(outcome([{ type: 'denied', tool: 'Bash' }, end]).denied).toEqual(['Bash'])
  })

  test('says when its limit resets, counted from the start of the turn', () => {
    const lines: ScriptedLine[] = [{ type: 'end', kind: 'rate-limit', message: 'slow down', resetsInMs: 500 }]
    expect(outcome(lines, { code: 1 })).toMatchObject({ kind: 'rate-limit', message: 'slow down', resetsAt: 1_500 })
  })

  test.each<[what: string, lines: (ScriptedLine | string)[], exit: Partial<Exit>, kind: string]>([
    ['an end and exit 0', [end], {}, 'ok'],
    ['exit 0 alone', [{ type: 'text', text: 'hm' }], {}, 'crash'],
    ['an end alone', [end], { code: 1 }, 'crash'],
    ['neither', [], { code: 1 }, 'crash'],
    ['an end before a signal', [end], { code: null, signal: 'SIGKILL' }, 'killed'],
    ['an end that came too late', [end], { stopped: 'deadline' }, 'killed'],
    ['an end of its own kind', [{ type: 'end', kind: 'config', message: 'no script' }], { code: 1 }, 'config'],
  ])('with %s is %s', (_, lines, exit, kind) => {
    expect(outcome(lines, exit).kind).toBe(kind)
  })

  test('ignores what it does not know', () => {
    const lines = ['', 'not JSON', 'null', '[]', '"text"', '3', '{"type":"unheard-of"}', '{"no":"type"}']
    expect(outcome([...lines, { type: 'text', text: 'fine' }, end])).toMatchObject({ kind: 'ok', finalText: 'fine' })
  })

  test('shows its errors as warnings, and a crash is described by the last of them', () => {
    const parser = scripted.parser(request)
    expect(parser.push('it broke', 'err').events).toEqual([{ kind: 'warning', message: 'it broke' }])
    expect(parser.push('{"type":"end","kind":"ok"}', 'err').events).toHaveLength(1)
    parser.push('really', 'err')
    expect(parser.end({ code: 1, signal: null }, new Map())).toMatchObject({ kind: 'crash', message: 'really' })
  })
})

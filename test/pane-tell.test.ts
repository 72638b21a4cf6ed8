/**
 * The script between a client in a pane and the program that gets its reports: what it passes on, and that it disturbs
 * nobody.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { until } from './ralph.ts'

const TELL = resolve('plugins/pane/tell.sh')
const folder = join(mkdtempSync(join(tmpdir(), 'ralph-tell-')), `it's "$HOME" here`)
const [told, asks, hook] = [join(folder, 'told'), join(folder, 'asks'), join(folder, 'hook.cjs')]

mkdirSync(folder)
// The program is as loud and as broken as can be.
writeFileSync(
  hook,
  `require('node:fs').appendFileSync(${JSON.stringify(told)}, require('node:fs').readFileSync(0, 'utf8') + '\\n')
console.log('out'); console.error('err'); process.exit(2)`,
)

afterAll(() => rmSync(join(folder, '..'), { recursive: true, force: true }))

beforeEach(() => {
  for (const file of [told, asks]) rmSync(file, { force: true })
})

const shells = [['sh'], ...(spawnSync('busybox').status === 0 ? [['busybox', 'sh']] : [])]

describe.each(shells)('%s', (...shell) => {
  const given = { RALPH_PANE_NODE: process.execPath, RALPH_PANE_HOOK: hook, RALPH_PANE_ASKS: asks }

  function tell(event: string, payload = `{"n":"${event}"}`, env: Record<string, string> = given): string[] {
    const [program = '', ...args] = [...shell, TELL, event]
    const ran = spawnSync(program, args, { input: payload, encoding: 'utf8', env: { PATH: process.env.PATH, ...env } })
    expect({ status: ran.status, out: ran.stdout, err: ran.stderr }).toEqual({ status: 0, out: '', err: '' })
    return existsSync(told) ? readFileSync(told, 'utf8').trim().split('\n') : []
  }

  test.each([
    'SessionStart',
    'UserPromptSubmit',
    'PermissionRequest',
    'Stop',
    'StopFailure',
    'Interrupt',
    'SessionEnd',
  ])('passes %s on, byte for byte', (event) => {
    const payload = JSON.stringify({ prompt: '`x` $(touch PWNED)\t\\n 任务 🦉\n'.repeat(2_000) })
    expect(tell(event, payload)).toEqual([payload])
  })

  test('a tool run is reported once after a question, and never otherwise', () => {
    expect(tell('PostToolUse')).toEqual([])
    tell('PermissionRequest')
    expect(tell('PostToolUse')).toHaveLength(2)
    expect(tell('PostToolUse')).toHaveLength(2)
    expect(tell('PostToolUseFailure')).toHaveLength(2)
  })

  test('a question is forgotten when the turn has ended', () => {
    tell('PermissionRequest')
    tell('Stop')
    expect(tell('PostToolUse')).toHaveLength(2)
  })

  test('reports only failed model requests', async () => {
    expect(tell('PostModelRequest', '{"status":"completed","error":null}')).toEqual([])
    // The client continues at once: the test waits for what it does then.
    expect(tell('PostModelRequest', '{"status":"failed","error":"429"}')).toEqual([])
    await until('the report', () => existsSync(told))
    rmSync(told)
    tell('ErrorOccurred', '{"hook_event_name":"ErrorOccurred","recoverable":true}')
    await until('the report', () => existsSync(told))
  })

  test.each([
    ['no dispatcher is known', {}],
    ['Node is missing', { ...given, RALPH_PANE_NODE: '/nowhere/node' }],
    ['its folder is missing', { ...given, RALPH_PANE_HOOK: '/nowhere/hook', RALPH_PANE_ASKS: '/nowhere/asks' }],
  ])('is silent if %s', (_, env) => {
    for (const event of ['PermissionRequest', 'PostToolUse', 'Stop', 'PostModelRequest'])
      expect(tell(event, '{"status":"failed"}'.repeat(50_000), env)).toEqual([])
  })
})

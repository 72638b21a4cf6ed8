import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { request } from './conformance.test-support.ts'
import { agents } from './index.ts'

const PLUGINS = resolve(import.meta.dirname, '..', '..', 'plugins')
const telling = { hook: ['/opt/node', '/opt/pane-hook.cjs'], plugins: PLUGINS, folder: '/panes/one' }

test.each(['claude', 'codex'])('%s is given the program to tell and the mark of a question', (name) => {
  expect(agents[name]?.pane?.(telling).env).toMatchObject({
    RALPH_PANE_NODE: '/opt/node',
    RALPH_PANE_HOOK: '/opt/pane-hook.cjs',
    RALPH_PANE_ASKS: '/panes/one/asks',
  })
})

test.each(['claude', 'codex'])('%s is told among its own arguments, before a session it takes up', (name) => {
  const agent = agents[name]
  const extraArgs = agent?.pane?.(telling).args ?? []
  const opened = { ...request, mode: 'interactive', prompt: '', extraArgs } as const
  expect(agent?.command(opened).argv.slice(-extraArgs.length)).toEqual(extraArgs)
  const argv = agent?.command({ ...opened, resume: { id: 'session-7', costUsd: 0 } }).argv.join('\n')
  expect(argv).toContain(extraArgs.join('\n'))
  expect(argv).toContain('session-7')
})

test('Claude Code finds the plugin, whose every hook calls a script that is there, within a time limit', () => {
  const [, plugin = ''] = agents.claude?.pane?.(telling).args ?? []
  expect(existsSync(join(plugin, '.claude-plugin', 'plugin.json'))).toBe(true)
  const { hooks } = JSON.parse(readFileSync(join(plugin, 'hooks', 'hooks.json'), 'utf8'))
  for (const [event, [{ hooks: calls }]] of Object.entries<[{ hooks: { command: string; timeout: number }[] }]>(hooks))
    expect(calls).toMatchObject([{ command: `sh "\${CLAUDE_PLUGIN_ROOT}/../tell.sh" ${event}`, timeout: 10 }])
  expect(existsSync(join(plugin, '..', 'tell.sh'))).toBe(true)
})

test('Codex trusts exactly the hooks it is given', () => {
  const { args = [], env = {} } = agents.codex?.pane?.(telling) ?? {}
  expect(existsSync(env.RALPH_PANE_TELL ?? '')).toBe(true)
  const state = args.at(-1) ?? ''
  const given = args.flatMap((arg) => {
    const [, event, command, timeout] = /^hooks\.(\w+)=.*command='(.*)',timeout=(\d+)/.exec(arg) ?? []
    return event === undefined ? [] : [{ event, command, timeout: Number(timeout) }]
  })
  expect(given).toHaveLength(8)
  for (const { event, command, timeout } of given) {
    const key = event.replace(/\B[A-Z]/g, '_$&').toLowerCase()
    const handler = { async: false, command, timeout, type: 'command' }
    const hash = createHash('sha256')
      .update(JSON.stringify({ event_name: key, hooks: [handler] }))
      .digest('hex')
    expect(state).toContain(`"/<session-flags>/config.toml:${key}:0:0"={trusted_hash="sha256:${hash}"}`)
  }
})

import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { request } from './conformance.test-support.ts'
import { agents } from './index.ts'

const PLUGINS = resolve(import.meta.dirname, '..', '..', 'plugins')
const telling = { hook: ['/opt/node', '/opt/pane-hook.cjs'], plugins: PLUGINS, folder: '/panes/one' }

test.each(['claude'])('%s is given the program to tell and the mark of a question', (name) => {
  expect(agents[name]?.pane?.(telling).env).toMatchObject({
    RALPH_PANE_NODE: '/opt/node',
    RALPH_PANE_HOOK: '/opt/pane-hook.cjs',
    RALPH_PANE_ASKS: '/panes/one/asks',
  })
})

test.each(['claude'])('%s is told among its own arguments, before a session it takes up', (name) => {
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

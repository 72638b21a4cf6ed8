import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { request } from './conformance.test-support.ts'
import { agents } from './index.ts'

const PLUGINS = resolve(import.meta.dirname, '..', '..', 'plugins')
const telling = { hook: ['/opt/node', '/opt/pane-hook.cjs'], plugins: PLUGINS, folder: '/panes/one' }

test.each(['claude', 'codex', 'copilot', 'qwen', 'droid'])(
  '%s is given the program to tell and the mark of a question',
  (name) => {
    expect(agents[name]?.pane?.(telling).env).toMatchObject({
      RALPH_PANE_NODE: '/opt/node',
      RALPH_PANE_HOOK: '/opt/pane-hook.cjs',
      RALPH_PANE_ASKS: '/panes/one/asks',
      RALPH_PANE_TELL: join(PLUGINS, 'pane', 'tell.sh'),
    })
  },
)

test.each(['claude', 'codex', 'copilot', 'droid'])(
  '%s gets it among its own arguments, before a session it resumes',
  (name) => {
    const agent = agents[name]
    const extraArgs = agent?.pane?.(telling).args ?? []
    const opened = { ...request, mode: 'interactive', prompt: '', extraArgs } as const
    expect(agent?.command(opened).argv.slice(-extraArgs.length)).toEqual(extraArgs)
    const argv = agent?.command({ ...opened, resume: { id: 'session-7', costUsd: 0 } }).argv.join('\n')
    expect(argv).toContain(extraArgs.join('\n'))
    expect(argv).toContain('session-7')
  },
)

test.each(['claude', 'copilot'])('%s finds a plugin whose every hook calls a script within a time limit', (name) => {
  const [, plugin = ''] = agents[name]?.pane?.(telling).args ?? []
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

/** The file that a client gets, and the hooks in it. */
function written(name: string, machine?: string) {
  const told = agents[name]?.pane?.({ ...telling, ...(machine === undefined ? {} : { machineFile: () => machine }) })
  const [file] = told?.files ?? []
  return { told, path: file?.path, settings: JSON.parse(file?.text ?? '{}') }
}

const tells = (event: string, timeout: number) => ({
  hooks: [{ type: 'command', command: `sh "$RALPH_PANE_TELL" ${event}`, timeout }],
})

test('Droid gets settings for one process, Qwen defaults: hooks, each with the time limit of its client', () => {
  const droid = written('droid')
  expect(droid).toMatchObject({ path: '/panes/one/droid-settings.json', told: { args: ['--settings', droid.path] } })
  expect(droid.settings.hooks).toMatchObject({ Stop: [tells('Stop', 10)], UserPromptSubmit: [expect.anything()] })
  const qwen = written('qwen')
  expect(qwen).toMatchObject({
    path: '/panes/one/qwen-defaults.json',
    told: { env: { QWEN_CODE_SYSTEM_DEFAULTS_PATH: qwen.path } },
  })
  expect(qwen.settings.hooks).toMatchObject({ Stop: [tells('Stop', 10_000)], StopFailure: [expect.anything()] })
  expect(qwen.settings.hooks.Notification).toMatchObject([{ matcher: 'permission_prompt|elicitation_dialog' }])
})

test("the machine's own defaults for Qwen stay", () => {
  const own =
    '{ // ours\n "model": {"name": "local"}, "ui": {"theme": "x"}, "hooks": {"Stop": [{"hooks": []}], "Own": []},}'
  const { settings } = written('qwen', own)
  expect(settings).toMatchObject({ model: { name: 'local' }, ui: { theme: 'x', enableFollowupSuggestions: false } })
  expect(settings.hooks).toMatchObject({ Stop: [{ hooks: [] }, tells('Stop', 10_000)], Own: [] })
  expect(written('qwen', 'no JSON').settings.hooks.Stop).toHaveLength(1)
})

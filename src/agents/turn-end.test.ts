import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../host/place.test-support.ts'
import type { TurnEnd } from './agent.ts'
import { request } from './conformance.test-support.ts'
import { agents } from './index.ts'

/** Does what the client does with its setting when its turn ends. */
const ENDINGS: Record<string, (told: TurnEnd, dir: string) => Promise<void>> = {
  async claude({ args: [, settings = ''], env }, dir) {
    const { command } = JSON.parse(settings).hooks.Stop[0].hooks[0]
    execFileSync('sh', ['-c', command], { cwd: dir, env: { ...process.env, ...env } })
  },
  async codex({ args: [, setting = ''], env }, dir) {
    notified(setting, 'You interview a person', env, dir)
  },
  async pi({ files: [file] = [] }, dir) {
    const { default: load } = await import(`data:text/javascript,${encodeURIComponent(file?.text ?? '')}`)
    const exec = (program: string, words: string[]) => execFileSync(program, words, { cwd: dir })
    load({ exec, on: (event: string, act: () => void) => event === 'agent_settled' && act() })
  },
}

function notified(setting: string, message: string, env: Record<string, string>, dir: string): void {
  const [program, ...words] = JSON.parse(setting.replace(/^notify=/, ''))
  const payload = JSON.stringify({ type: 'agent-turn-complete', 'input-messages': [message] })
  execFileSync(program, [...words, payload], { cwd: dir, env: { ...process.env, ...env } })
}

test('a turn in which Codex only generates a title does not count', () => {
  const folder = temporaryFolder()
  const { args: [, setting = ''] = [], env = {} } = agents.codex?.turnEnd?.(join(folder, 'turn-end'), folder) ?? {}
  notified(setting, 'Generate a concise, single-line task title of at most 36 characters', env, folder)
  expect(readdirSync(folder)).toEqual([])
})

const telling = Object.values(agents).flatMap((agent) => (agent.turnEnd ? [agent] : []))

test('every agent that can signal the end of its turn is tested here', () => {
  expect(telling.map(({ name }) => name).sort()).toEqual(Object.keys(ENDINGS).sort())
})

describe.each(telling)('$name', ({ name, turnEnd, command }) => {
  test('creates the file when its turn ends, whatever its path, and no other', async () => {
    const folder = join(temporaryFolder(), `it's "$HOME" \`id\` \\ here; exit 7\n`)
    mkdirSync(folder)
    const told = turnEnd?.(join(folder, 'turn-end'), folder) ?? { args: [], env: {} }
    for (const _ of [1, 2]) await ENDINGS[name]?.(told, folder)
    expect(readdirSync(folder)).toEqual(['turn-end'])
    expect(existsSync(join(folder, 'turn-end'))).toBe(true)
  })

  test('gets it among its own arguments, before the prompt', () => {
    const { args } = turnEnd?.('/file', '/folder') ?? { args: [] }
    const { argv } = command({ ...request, mode: 'interactive', extraArgs: args })
    expect(argv.slice(-args.length - 2)).toEqual([...args, '--', 'Work.'])
  })
})

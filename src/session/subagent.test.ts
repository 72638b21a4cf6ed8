import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../host/place.test-support.ts'
import { subagentArgs } from './subagent.ts'

function folders(): { dir: string; home: string; write(path: string, text: string): void } {
  const [dir, home] = [temporaryFolder(), temporaryFolder()]
  const write = (path: string, text: string) => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  return { dir, home, write }
}

test('model, tools and words of an agent become arguments', () => {
  const { dir, home, write } = folders()
  const head = 'name: worker\r\nmodel: "a/b"\r\ntools: read,  bash , edit'
  write(join(dir, '.pi/agents/worker.md'), `\uFEFF---\r\n${head}\r\n---\r\n\r\nYou work.\r\n`)
  expect(subagentArgs('worker', dir, { HOME: home })).toEqual([
    ...['--model', 'a/b', '--tools', 'read,bash,edit', '--append-system-prompt', 'You work.'],
  ])
})

test('what is not named is left out', () => {
  const { dir, home, write } = folders()
  write(join(dir, '.pi/agents/plain.md'), '---\nname: plain\n---\n')
  expect(subagentArgs('plain', dir, { HOME: home })).toEqual([])
  write(join(dir, '.pi/agents/text.md'), 'Only words.\n')
  expect(subagentArgs('text', dir, { HOME: home })).toEqual(['--append-system-prompt', 'Only words.'])
})

test('that of the project goes before that of the person', () => {
  const { dir, home, write } = folders()
  write(join(home, '.pi/agent/agents/worker.md'), '---\nmodel: mine\n---\n')
  expect(subagentArgs('worker', dir, { HOME: home })).toEqual(['--model', 'mine'])
  expect(subagentArgs('worker', dir, { PI_CODING_AGENT_DIR: join(home, '.pi/agent') })).toEqual(['--model', 'mine'])
  write(join(dir, '.pi/agents/worker.md'), '---\nmodel: ours\n---\n')
  expect(subagentArgs('worker', dir, { HOME: home })).toEqual(['--model', 'ours'])
})

test('one that is not there is told with the places that were looked at', () => {
  const { dir, home } = folders()
  expect(() => subagentArgs('nobody', dir, { HOME: home })).toThrow(
    `There is no agent "nobody". Expected nobody.md in ${dir}/.pi/agents or ${home}/.pi/agent/agents.`,
  )
})

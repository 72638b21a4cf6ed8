import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { isTrustedAgent, trustAgent } from '../host/agent-trust.ts'
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

/** Of an agent that may be used. */
function argsOf(name: string, { dir, home }: { dir: string; home: string }, more = {}): string[] | undefined {
  const found = subagentArgs([name], { dir, home, env: { HOME: home }, ...more })
  return 'args' in found ? found.args[0] : undefined
}

test("an agent's model, tools and text become arguments", () => {
  const place = folders()
  const head = 'name: worker\r\nmodel: "a/b"\r\ntools: read,  bash , edit'
  place.write(join(place.home, '.pi/agent/agents/worker.md'), `\uFEFF---\r\n${head}\r\n---\r\n\r\nYou work.\r\n`)
  const args = ['--model', 'a/b', '--tools', 'read,bash,edit', '--append-system-prompt', 'You work.']
  expect(argsOf('worker', place)).toEqual(args)
  place.write(join(place.home, '.pi/agent/agents/critic.md'), 'You look.')
  expect(subagentArgs(['worker', 'critic'], { ...place, env: { HOME: place.home } })).toEqual({
    args: [args, ['--append-system-prompt', 'You look.']],
  })
})

test('what is not named is left out', () => {
  const place = folders()
  place.write(join(place.home, '.pi/agent/agents/plain.md'), '---\nname: plain\n---\n')
  expect(argsOf('plain', place)).toEqual([])
  place.write(join(place.home, '.pi/agent/agents/text.md'), 'Only words.\n')
  expect(argsOf('text', place)).toEqual(['--append-system-prompt', 'Only words.'])
})

test("the repository's agent comes before the user's, once that very text is trusted", () => {
  const place = folders()
  const { dir, home, write } = place
  write(join(home, '.pi/agent/agents/worker.md'), '---\nmodel: mine\n---\n')
  expect(argsOf('worker', place)).toEqual(['--model', 'mine'])
  expect(argsOf('worker', place, { env: { PI_CODING_AGENT_DIR: join(home, '.pi/agent') } })).toEqual([
    '--model',
    'mine',
  ])

  const path = join(dir, '.pi/agents/worker.md')
  const text = '---\nmodel: theirs\n---\n'
  write(path, text)
  const asked = subagentArgs(['worker'], { dir, home, env: { HOME: home } })
  expect(asked).toEqual({ untrusted: expect.objectContaining({ name: 'worker', path, text }) })
  const trusts = 'untrusted' in asked ? asked.untrusted.mark : ''
  expect(argsOf('worker', place, { trusts: 'another' })).toBeUndefined()
  expect(argsOf('worker', place, { trusts })).toEqual(['--model', 'theirs'])
  expect(argsOf('worker', place)).toEqual(['--model', 'theirs'])

  write(path, text.replace('theirs', 'changed'))
  expect(argsOf('worker', place)).toBeUndefined()
  expect(argsOf('worker', place, { trusts })).toBeUndefined()
  trustAgent(home, path, text)
  expect(isTrustedAgent(home, path, `${text}x`)).toBe(false)
})

test('a missing one is reported with the places that were searched', () => {
  const place = folders()
  expect(() => argsOf('nobody', place)).toThrow(
    `No such agent: "nobody". Expected nobody.md in ${place.dir}/.pi/agents or ${place.home}/.pi/agent/agents.`,
  )
})

import { expect, test } from 'vitest'
import { withoutTrust } from './codex-trust.ts'

const HOOKS = '/home/ada/.codex/hooks.json'
const table = (key: string) => `[hooks.state."${key}"]\ntrusted_hash = "sha256:1"\ntrusted_content_hash = "sha256:2"\n`
const mine = 'model = "gpt-5"\n\n# my own\n[tools]\nweb_search = true\n\n'

test('what Codex remembers about removed hooks is removed with them', () => {
  const text = `${mine}${table(`${HOOKS}:stop:0:0`)}\n${table(`${HOOKS}:user_prompt_submit:0:0`)}`
  expect(withoutTrust(text, { file: HOOKS, own: 'all' })).toBe(`${mine}\n`)
})

test('a separate header that is now empty is also removed', () => {
  const text = `${mine}[hooks]\n[hooks.state]\n${table(`${HOOKS}:stop:0:0`)}`
  expect(withoutTrust(text, { file: HOOKS, own: 'all' })).toBe(mine)
})

test('what the user decided about other hooks stays', () => {
  const others = `[hooks.state]\n${table(`${HOOKS}:stop:0:0`)}${table('/p/.codex/hooks.json:stop:1:0')}`
  const text = `${mine}${others}${table(`${HOOKS}:stop:1:0`)}`
  expect(withoutTrust(text, { file: HOOKS, own: [{ event: 'Stop', group: 1 }] })).toBe(`${mine}${others}`)
})

test('a path with blanks is found', () => {
  const file = '/home/ada b/.codex/hooks.json'
  expect(withoutTrust(table(`${file}:stop:0:0`), { file, own: 'all' })).toBe('')
})

test.each([mine, '', 'not = [ toml'])('text without them stays as it is: %j', (text) => {
  expect(withoutTrust(text, { file: HOOKS, own: 'all' })).toBe(text)
})

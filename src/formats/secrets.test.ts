import fc from 'fast-check'
import { expect, test } from 'vitest'
import { maskSecrets } from './secrets.ts'

// Put together here, so that no tool takes this file for one that leaks keys.
const BODY = 'Ab3dEf6hIj9lMn2pQr5tUv8xYz1bCd4fGh7j'
const PREFIXES = [
  ...['sk-', 'sk-ant-', 'sk-proj-', 'ghp_', 'gho_', 'ghs_', 'ghu_', 'github_pat_', 'glpat-', 'xoxb-', 'xoxp-'],
  ...['npm_', 'AIza', 'hf_'],
]

test.each(PREFIXES)('a key that begins with %s is masked, its kind is not', (prefix) => {
  const masked = maskSecrets(`before ${prefix}${BODY} after`)
  expect(masked).toMatch(/^before .* after$/)
  expect(masked).toContain(prefix)
  expect(masked).not.toContain(BODY.slice(0, 8))
})

test("a token of ralph's own is masked, the names of its fields are not", () => {
  const token = `ralph_${`${BODY}-_${BODY}`.slice(0, 43)}`
  expect(maskSecrets(`Bearer ${token}.`)).toBe(`Bearer ${token.slice(0, 12)}…masked….`)
  const names = 'ralph_max_iterations, ralph_completion_promise'
  expect(maskSecrets(names)).toBe(names)
})

test.each(['AKIA', 'ASIA'])('a key of AWS that begins with %s is masked', (prefix) => {
  expect(maskSecrets(`id=${prefix}${'ABCDEFGH12345678'}`)).not.toContain('ABCDEFGH')
})

test.each([
  ['quoted', (key: string) => `{"key":"${key}"}`],
  ['assigned', (key: string) => `API_KEY=${key}`],
  ['in an address', (key: string) => `https://user:${key}@example.org/`],
  ['on a line of its own', (key: string) => `\n${key}\n`],
  ['twice', (key: string) => `${key} ${key}`],
])('a key is masked %s', (_, place) => {
  expect(maskSecrets(place(`sk-${'ant-'}${BODY}`))).not.toContain(BODY)
})

test.each(['RSA ', 'EC ', 'OPENSSH ', ''])('a private %skey is masked, also within JSON', (kind) => {
  const pem = `-----BEGIN ${kind}PRIVATE KEY-----\n${BODY}\n${BODY}\n-----END ${kind}PRIVATE KEY-----`
  for (const text of [pem, JSON.stringify(pem)]) expect(maskSecrets(`a ${text} b`)).not.toContain(BODY)
  expect(maskSecrets(`a ${pem} b`)).toMatch(/^a .* b$/s)
})

test.each([
  'Make the parser faster.',
  'a task-management-system with risk-assessment-overview',
  'npm_config_registry npm_package_version npm_lifecycle_script',
  'from huggingface_hub import hf_hub_download',
  'hf_transfer_is_enabled_by_default',
  'sk-short',
  'commit 0123456789abcdef0123456789abcdef01234567',
  '<promise>COMPLETE</promise>',
])('ordinary text stays as it is: %s', (text) => {
  expect(maskSecrets(text)).toBe(text)
})

test('lines stay lines, and what is masked stays masked', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.string(), fc.constantFrom(...PREFIXES.map((prefix) => prefix + BODY)))),
      (lines) => {
        const masked = maskSecrets(lines.join('\n'))
        expect(masked.split('\n').length).toBe(lines.join('\n').split('\n').length)
        expect(maskSecrets(masked)).toBe(masked)
      },
    ),
  )
})

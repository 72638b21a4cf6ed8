import fc from 'fast-check'
import { expect, test } from 'vitest'
import { secretVariables } from './secret-values.ts'
import { FAKES, PEM_LINES, PEM_RAW } from './secrets.test-support.ts'
import { knownSecrets, maskSecrets, openMasking } from './secrets.ts'

const BODY = 'Ab3dEf6hIj9lMn2pQr5tUv8xYz1bCd4fGh7j'
const PREFIXES = [
  ...['sk-', 'sk-ant-', 'sk-proj-', 'ghp_', 'gho_', 'ghs_', 'ghu_', 'ghr_', 'github_pat_', 'glpat-', 'xoxb-', 'xoxp-'],
  ...['npm_', 'AIza', 'hf_', 'gsk_', 'xai-', 'tvly-', 'sk_live_', 'rk_live_', 'whsec_', 'ya29.'],
]

test.each(PREFIXES)('a key that begins with %s is masked, its kind is not', (prefix) => {
  expect(maskSecrets(`before ${prefix}${BODY} after`)).toBe(`before ${prefix}…masked… after`)
})

test("ralph's own tokens are masked, the names of its fields are not", () => {
  const token = `ralph_${`${BODY}-_${BODY}`.slice(0, 43)}`
  expect(maskSecrets(`Bearer ${token}.`)).toBe(`Bearer ${token.slice(0, 12)}…masked….`)
  const names = 'ralph_max_iterations, ralph_completion_promise'
  expect(maskSecrets(names)).toBe(names)
})

const PLACES: readonly [place: string, put: (text: string) => string][] = [
  ['alone', (text) => text],
  ['in a sentence', (text) => `I found ${text} in there.`],
  ['in JSON', (text) => JSON.stringify({ type: 'text', text })],
  ['in JSON within JSON', (text) => JSON.stringify({ out: JSON.stringify({ text }) })],
  ['behind a line break in JSON', (text) => JSON.stringify({ text: `a\n${text}\nb` })],
  ['in color', (text) => `\u001b[32m${text}\u001b[0m`],
  ['in color in JSON', (text) => JSON.stringify(`\u001b[1;32m${text}\u001b[0m`)],
  ['on a line of its own', (text) => `before\n${text}\r\nafter`],
  ['in a diff', (text) => `+${text}`],
  ['twice', (text) => `${text} ${text}`],
]

for (const [place, put] of PLACES)
  test.each(FAKES)(`$kind is masked ${place}`, ({ text, raw }) => {
    const masked = maskSecrets(put(text))
    expect(masked).not.toContain(raw)
    expect(masked).toContain('…masked…')
    expect(maskSecrets(masked)).toBe(masked)
  })

test.each(FAKES)('JSON with $kind in it stays JSON', ({ text }) => {
  const line = JSON.stringify({ text: `a\n${text}\n"b"`, more: [text] })
  expect(Object.keys(JSON.parse(maskSecrets(line)))).toEqual(['text', 'more'])
})

test.each(FAKES)('$kind is masked wherever a piece of output ends', ({ text, raw }) => {
  const all = `before ${text} after`
  for (let cut = 1; cut < all.length; cut++) {
    const masking = openMasking()
    const masked = masking.piece(all.slice(0, cut)) + masking.piece(all.slice(cut)) + masking.rest()
    expect(masked).not.toContain(raw)
    expect(masked).not.toContain(raw.slice(-8))
    expect(masked).toMatch(/^before .* after$/s)
  }
})

test.each(['RSA ', 'EC ', 'OPENSSH ', ''])('a private %skey is masked, even inside JSON', (kind) => {
  const pem = `-----BEGIN ${kind}PRIVATE KEY-----\n${BODY}\n${BODY}\n-----END ${kind}PRIVATE KEY-----`
  for (const text of [pem, JSON.stringify(pem)]) expect(maskSecrets(`a ${text} b`)).not.toContain(BODY)
  expect(maskSecrets(`a ${pem} b`)).toMatch(/^a .* b$/s)
})

const PIECES: readonly [how: string, pieces: string[]][] = [
  ['line by line', PEM_LINES.map((line) => `${line}\n`)],
  ['with an indent', PEM_LINES.map((line) => `    ${line}\n`)],
  ['an event a line', PEM_LINES.map((line) => `${JSON.stringify({ type: 'text', text: line })}\n`)],
  ['as one text of JSON, in pieces', JSON.stringify(PEM_LINES.join('\n')).match(/.{1,50}/g) ?? []],
  ['without its end', PEM_LINES.slice(0, -1).map((line) => `${line}\n`)],
]

test.each(PIECES)('a private key is masked %s', (_, pieces) => {
  const masking = openMasking()
  const masked = [...pieces.map(masking.piece), masking.piece('\nAfter it, in plain words.\n'), masking.rest()].join('')
  for (const raw of PEM_RAW) expect(masked).not.toContain(raw.slice(0, 20))
  expect(masked).toContain('After it, in plain words.')
})

test('text about private keys stays as it is', () => {
  const text = `A file with ${PEM_LINES[0]} in it is refused.\nconst isKey = (text) => text.includes(BEGIN_OF_A_PRIVATE_KEY)\n`
  expect(maskSecrets(text)).toBe(text)
})

const HONEST = [
  'Make the parser faster.',
  'a task-management-system with risk-assessment-overview, task-list, disk-usage-2024-report',
  'npm_config_registry npm_package_version npm_lifecycle_script',
  'from huggingface_hub import hf_hub_download',
  'hf_transfer_is_enabled_by_default',
  'sk-short',
  '.sk-toggleable__content.sk-estimator-doc-link { }',
  'commit 0123456789abcdef0123456789abcdef01234567',
  '{"session_id":"b0f3c1d2-1111-4222-8333-444455556666","input_tokens":12345678,"max_tokens": 100000000}',
  '"integrity": "sha512-9Cb0Q+pgfYNG5QvxRjlAJ7mH0dR8kb3nZxqJzMRnVNDWk5OHiRzWkUBPDmaUY8tNvKGZlJzTgW5rG3fMHvXq0A=="',
  `<img src="data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk${'YPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='}">`,
  '//# sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbImEudHMiXSwibmFtZXMiOltdfQ==',
  'const password = getPassword()',
  'password = await readPassword2(user1)',
  'PASSWORD=$1',
  'export TOKEN=$(cat /run/token)',
  `API_KEY=\${API_KEY:-none}`,
  'DB_PASSWORD=<your-password>',
  'PASSWORD=password',
  `GITHUB_TOKEN=\${{ secrets.GITHUB_TOKEN }}`,
  'TOKEN_FILE=/run/secrets/token',
  'SECRET_KEY=/run/secrets/key1',
  'token: string',
  'type Login = { token: string; secret: Uint8Array; password?: string | undefined }',
  'function login({ token: token2, secret: mySecret2 }) {}',
  'const token = tokens2[0]',
  'this.token = options1.token2',
  'if (token === undefined) return',
  'The token: it is a word of many meanings.',
  'secret: config.secret.value',
  'cache_key: npm-linux-3f8a9b2c1d',
  'https://example.org:8080/path?x=1, http://localhost:3000/@scope/package',
  'git@github.com:owner/repository.git and ssh://git@host/path',
  'https://user:$PASSWORD@example.org, https://user:<password>@example.org',
  `Bearer \${token}, Bearer <token>, a bearer of good news`,
  'Authorization: Bearer YOUR_ACCESS_TOKEN',
  'eyJ is how such a text begins; AKIA how another does',
  'src/host/store.ts:120:5 - error TS2322: Type "A" is not assignable to type "B".',
  '<promise>COMPLETE</promise>',
  'The password field must have 8 characters or more, e.g. password: ******** in the form.',
  'x-api-key: the header of the request',
  'expect(key).toBe("Ab3dEf6hIj9lMn2pQr5tUv8xYz1bCd4fGh7j")',
]

test.each(HONEST)('ordinary text stays as it is: %s', (text) => {
  expect(maskSecrets(text)).toBe(text)
  const masking = openMasking()
  expect(masking.piece(text) + masking.rest()).toBe(text)
})

test('lines stay lines, and what is masked stays masked', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.string(), fc.constantFrom(...FAKES.map(({ text }) => text)))), (lines) => {
      const masked = maskSecrets(lines.join('\n'))
      expect(masked.split('\n').length).toBe(lines.join('\n').split('\n').length)
      expect(maskSecrets(masked)).toBe(masked)
    }),
  )
})

// Each of them begins like a secret, again and again, and never becomes one.
test.each([
  ...[
    'a',
    'eyJ',
    'eyJ-',
    'eyJaaaaaaaa.',
    '-----BEGIN',
    `-----BEGIN ${'PRIVATE'} KEY-----`,
    'sk-',
    'sk-a',
    'ghp_',
    'xoxb-',
  ],
  ...[
    'token=',
    'password: ',
    'secret="',
    'bearer ',
    'Authorization: ',
    '://',
    '://a:',
    '://a:b',
    'SG.',
    'SG.aaaaaaaaaaaaaaaa',
  ],
  ...[
    'AKIA',
    '1234567890:',
    'AccountKey',
    'abc8Q~',
    '[1;',
    '\\n',
    '%2D',
    '-token ',
    `A${'KIA'}AAAAAAAAAAAAAAAA`,
    'PRIVATE KEY',
  ],
])('a million characters of "%s" take no longer than a million others', (part) => {
  const [some, many] = [msFor(part, 100_000), msFor(part, 1_000_000)]
  // Where it grew with the square, it would be a hundred times as long, and minutes.
  expect(many < 500 || many / some < 40).toBe(true)
})

function msFor(part: string, length: number): number {
  const text = part.repeat(Math.ceil(length / part.length))
  const began = performance.now()
  maskSecrets(text)
  const masking = openMasking()
  for (let at = 0; at < text.length; at += 65_536) masking.piece(text.slice(at, at + 65_536))
  return performance.now() - began
}

const ENV = {
  GITHUB_TOKEN: 'zebra quartz "umbrella"',
  DB_PASSWORD: 'swordfish-and-chips',
  SERVICE_KEY: 'k3y/with+signs=&more',
  MY_APIKEY: 'unremarkable77',
  SSH_PRIVATE_KEY: 'first line of a secret\nsecond line of a secret',
}
const KNOWN = knownSecrets(secretVariables(ENV))

test.each(Object.entries(ENV))('the value of %s is masked, with its name', (name, value) => {
  for (const [, put] of PLACES) {
    const masked = maskSecrets(put(value), KNOWN)
    expect(masked).toContain(`…masked:${name}…`)
    for (const line of value.split('\n')) expect(masked).not.toContain(JSON.stringify(line).slice(1, -1))
  }
  expect(maskSecrets(`https://example.org/?x=${encodeURIComponent(value)}`, KNOWN)).toContain(name)
})

test('a value that is cut in two is masked', () => {
  const masking = openMasking(KNOWN)
  const masked = masking.piece('so swordfish-an') + masking.piece('d-chips it is') + masking.rest()
  expect(masked).toBe('so …masked:DB_PASSWORD… it is')
})

test('variables with ordinary values are left alone', () => {
  const env = {
    TOKEN: 'short',
    DB_PASSWORD: 'password',
    API_TOKEN: 'localhost',
    SORT_KEY: 'created_at',
    HEADER_KEY: 'x-api-key',
    PRIMARY_KEY: 'identifier',
    USE_TOKEN: 'true',
    PORT_KEY: '12345678',
    KEY_FILE: '/home/somebody/key.pem',
    SSH_PRIVATE_KEY: '/home/somebody/.ssh/id_ed25519',
    SSH_AUTH_SOCK: '/tmp/ssh-x/agent.1234',
    PWD: 'a-folder-of-somebody-1',
    MONKEY: 'a-value-of-something-1',
    LANG: 'en_US.UTF-8-of-somebody-1',
  }
  expect(secretVariables(env)).toEqual([])
  expect(knownSecrets([])).toBeUndefined()
})

/** Secrets that nobody has, put together when they are asked for, so that no scanner takes a file of ours for one that leaks keys. */

const letters = 'Ab3dEf6hIj9lMn2pQr5tUv8xYz1bCd4fGh7jKl0n'

/** So many characters that are no word, other ones for each kind. */
function body(length: number, kind: string): string {
  let [text, seed] = ['', [...kind].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 65_521, 7)]
  while (text.length < length) {
    seed = (seed * 75 + 74) % 65_537
    text += letters[seed % letters.length]
  }
  // With a digit near its beginning, as nearly all of them have.
  return `7${text.slice(1)}`
}

/** `text`: as it is printed. `raw`: the part of it that must not be found anywhere. */
export type Fake = { kind: string; text: string; raw: string }

function key(kind: string, length: number, lead = kind): Fake {
  const raw = body(length, kind)
  return { kind, raw, text: `${lead}${raw}` }
}

function entry(kind: string, text: (raw: string) => string, length = 24): Fake {
  const raw = body(length, kind)
  return { kind, raw, text: text(raw) }
}

const jwt = (kind: string) => `${body(30, kind)}.${body(60, `${kind}2`)}.${body(43, `${kind}3`)}`

export const FAKES: readonly Fake[] = [
  ...['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'].map((lead) => key(lead, 36)),
  key('github_pat_', 60),
  key('glpat-', 20),
  key('sk-', 48),
  key('sk-ant-', 90, 'sk-ant-api03-'),
  key('sk-proj-', 60),
  ...['sk_live_', 'rk_live_', 'sk_test_', 'whsec_'].map((lead) => key(lead, 32)),
  ...['xoxb-', 'xoxp-', 'xapp-'].map((lead) => key(lead, 40, `${lead}1-`)),
  key('npm_', 36),
  key('hf_', 34),
  key('AIza', 35),
  key('ya29.', 60),
  entry('SendGrid', (raw) => `SG.${raw}.${body(43, 'after')}`, 22),
  key('gsk_', 52),
  key('xai-', 80),
  key('tvly-', 32),
  entry('dop_v1_', (raw) => `dop_v1_${raw}`, 64),
  { kind: 'AKIA', raw: 'QX7ZJ3KD9MW2PR5T', text: `AK${'IA'}QX7ZJ3KD9MW2PR5T` },
  { kind: 'ASIA', raw: 'WX7ZJ3KD9MW2PR5T', text: `AS${'IA'}WX7ZJ3KD9MW2PR5T` },
  entry('AWS secret key', (raw) => `aws_secret_access_key = ${raw}`, 40),
  entry('AWS secret key in JSON', (raw) => `{"SecretAccessKey": "${raw}"}`, 40),
  { kind: 'JWT', raw: jwt('JWT').split('.')[1] ?? '', text: `ey${'J'}${jwt('JWT')}` },
  entry('Bearer', (raw) => `Authorization: Bearer ${raw}`, 32),
  entry('Basic', (raw) => `authorization: basic ${raw}==`, 20),
  entry('password in an address', (raw) => `postgres://admin:${raw}@db.example.org:5432/app`, 12),
  entry('Azure storage', (raw) => `AccountName=x;AccountKey=${raw}==;EndpointSuffix=core.windows.net`, 86),
  entry('Azure SAS', (raw) => `https://x.blob.core.windows.net/c?sv=2024&sig=${raw}%3D&se=2026`, 43),
  { kind: 'Azure client secret', raw: body(33, 'azure'), text: `abc8Q${'~'}${body(33, 'azure')}` },
  entry('PASSWORD=', (raw) => `PASSWORD=${raw}`, 10),
  entry('export of a variable', (raw) => `export MY_API_KEY="${raw}"`, 12),
  entry('password in YAML', (raw) => `  password: ${raw}`, 14),
  entry('token in JSON', (raw) => `{"access_token":"${raw}","expires_in":3600}`, 20),
  entry('option', (raw) => `deploy --token ${raw} --force`, 24),
  entry('Slack webhook', (raw) => `https://hooks.slack.com/services/T0AAAAAAA/B0BBBBBBB/${raw}`, 24),
]

export const PEM_LINES: readonly string[] = [
  `-----BEGIN RSA ${'PRIVATE'} KEY-----`,
  ...Array.from({ length: 6 }, (_, line) => body(64, `pem ${line}`)),
  `${body(9, 'the last line')}==`,
  `-----END RSA ${'PRIVATE'} KEY-----`,
]

/** What must not be found of a private key. */
export const PEM_RAW: readonly string[] = PEM_LINES.slice(1, -2)

/** Patterns of secrets with a recognizable form or position. Why this table is ours: decision 41. */
import { isSecretValue } from './secret-values.ts'

/** What replaces a secret: `lead` may be shown, `body` may not. */
export type Mark = (body: string, lead: string) => string

/** Replaces every secret in a text with its mark. */
export function markShapes(text: string, mark: Mark): string {
  let marked = text
  for (const { mayHold, shapes } of KINDS)
    if (mayHold(marked)) for (const shape of shapes) marked = put(marked, shape, mark)
  return marked
}

function put(text: string, { form, isSecret }: Shape, mark: Mark): string {
  return text.replace(form, (found: string, ...more: unknown[]) => {
    const { lead = '', body = '', quote = '', name = '' } = more.at(-1) as Record<string, string | undefined> // every pattern has groups
    const after = text.charAt((more.at(-3) as number) + found.length) // the offset comes before the text and the groups
    return isSecret?.({ name, body, quote, after }) === false ? found : `${lead}${mark(body, lead)}`
  })
}

type Shape = {
  form: RegExp
  /** Absent: the form alone is enough. */
  isSecret?: typeof isSecretValue
}

// Where a word starts, including after a JSON escape, a color code or a percent-encoded byte. It comes
// after the literal letters, because searching for literals is fast.
const BEGINS = '(?:^|[^\\w-]|\\\\[nrtbf]|\\\\u[\\da-fA-F]{4}|%[\\da-fA-F]{2}|\\[[\\d;]{0,20}m)'

/** The characters of a value after a name. A color code ends it. */
const VALUE = `[^\\s"'\`\\\\,;<>(){}[\\]|…${String.fromCharCode(27)}]{8,}`

const NAMES = [
  'passw(?:or)?d|passphrase|pwd|secret|token|credentials?|api[_-]?key',
  '(?:access|private|account|auth|client|signing|encryption|master|secret)[_-]?key',
]

/**
 * No pattern is ambiguous, and open-ended ones start at most once per word, so that matching takes linear time. Patterns
 * with more context come first.
 */
const KEYS: readonly Shape[] = [
  // AWS keys have no recognizable form; one that follows its id is found by that.
  {
    form: /(?<lead>A[KS]IA[A-Z0-9]{16}[^A-Za-z0-9/+]{1,5}(?:[\w ]{0,40}[^A-Za-z0-9/+]{1,5})?)(?<body>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])/g,
  },
  // npm_package_version starts like a key, but has a second underscore. ralph's own tokens have a fixed length.
  {
    form: /(?<lead>gh[oprsu]_|npm_|hf_|gsk_|r8_|do[opr]_v1_|[prs]k_(?:live|test)_|A[KS]IA)(?<body>[A-Za-z0-9]{16,})/g,
  },
  {
    form: /(?<lead>github_pat_|gl(?:pat|ptt|rt|dt|ft|soat|cbt|oas)-|xox[abceoprs]-|lin_api_|figd_|shp(?:at|ca|pa|ss)_|sntry[su]_|pypi-AgE|hv[sb]\.|ya29\.)(?<body>[\w-]{12,})/g,
  },
  { form: /(?<lead>ralph_[\w-]{6})(?<body>[\w-]{37})/g },
  { form: /(?<lead>whsec_)(?<body>[A-Za-z0-9+/=_-]{16,})/g },
  { form: /(?<lead>SG\.)(?<body>[\w-]{16,}\.[\w-]{16,})/g },
  // A prefix that is part of many words must start a word and not be a plain word itself.
  {
    form: new RegExp(
      `(?<lead>sk-(?:ant-|proj-|svcacct-|or-v1-)?|(?:xai|tvly|xapp|pplx)-)(?<=${BEGINS}\\1)(?:(?<=sk-[\\w-]+-)|(?=[\\w-]{0,80}\\d|[A-Za-z0-9]{16}))(?<body>[\\w-]{12,})`,
      'g',
    ),
  },
  { form: new RegExp(`(?<lead>AIza)(?<=${BEGINS}AIza)(?<![\\w+/][+/]AIza)(?<body>[\\w-]{12,})`, 'g') },
  // A JWT: two parts in base64, the first of which is an object, and a signature.
  { form: new RegExp(`(?<lead>eyJ)(?<=${BEGINS}eyJ)(?<body>[\\w-]{8,}\\.[\\w-]{12,}(?:\\.[\\w-]*)?)`, 'g') },
  // In the address of a Slack or Discord webhook, and of a Telegram bot.
  { form: /(?<lead>hooks\.slack\.com\/services\/|discord(?:app)?\.com\/api\/webhooks\/)(?<body>[\w/-]{20,})/g },
  { form: /(?<lead>(?<!\d)\d{8,10}:)(?<body>AA[\w-]{33})/g },
]

/** Runs on every text of an agent, so it must be fast rather than exact. */
const KINDS: readonly { mayHold(text: string): boolean; shapes: readonly Shape[] }[] = [
  {
    mayHold: (text) =>
      /[-_.:/][A-Za-z0-9_-]{12}/.test(text) || ['AKIA', 'ASIA', 'AIza'].some((lead) => text.includes(lead)),
    shapes: KEYS,
  },
  {
    mayHold: (text) => text.includes('Q~'), // of Azure
    shapes: [{ form: new RegExp(`(?<lead>)(?<=${BEGINS})(?<body>[\\w~.-]{3}\\dQ~[\\w~.-]{31,34})`, 'g') }],
  },
  {
    mayHold: (text) => /:\/\/[^\s/@:"'<>]{0,200}:[^\s/@"'<>]{3}/.test(text),
    shapes: [
      {
        form: /(?<lead>:\/\/[^\s/@:"'<>…]{0,200}:)(?<body>[^\s/@"'<>…]{3,300})(?=@)/g,
        isSecret: ({ body, after }) => isSecretValue({ name: 'PASSWORD=', body, quote: '', after }),
      },
    ],
  },
  {
    mayHold: (text) => /[Bb](?:earer|EARER)\s{1,3}[A-Za-z0-9._~+/=-]{16}/.test(text),
    shapes: [{ form: /(?<lead>bearer\s{1,3})(?=\S{0,80}\d)(?<body>[A-Za-z0-9._~+/=-]{16,})/gi }],
  },
  {
    mayHold: (text) =>
      /[:=]["'\\\s]{0,6}[^\s"'\\:=]{5}/.test(text) &&
      /(?:passw(?:or)?d|passphrase|pwd|secret|token|key|credentials?|sig|authorization)["'\\\]]{0,4}\s{0,3}[:=]/i.test(
        text,
      ),
    shapes: [
      { form: /(?<lead>[?&;]sig=)(?<body>[A-Za-z0-9%+/=_-]{20,})/g },
      {
        form: /(?<lead>authorization["'\\]{0,4}\s{0,3}[:=]\s{0,3}["'\\]{0,4}(?:basic|token|bearer|apikey)\s{1,3})(?<body>[A-Za-z0-9._~+/=-]{8,})/gi,
        isSecret: ({ body }) => !/^[A-Z_]+$/.test(body),
      },
      {
        form: new RegExp(
          `(?<lead>(?<name>(?:${NAMES.join('|')})["'\\\\\\]]{0,4}\\s{0,3}(?::=|=>|[:=])\\s{0,3})(?<quote>["'\`\\\\]{0,4}))(?<body>${VALUE})`,
          'gi',
        ),
        isSecret: isSecretValue,
      },
    ],
  },
  {
    mayHold: (text) => /-(?:passw(?:or)?d|token|secret|api-?key)\s["']?[^\s"']{8}/i.test(text),
    shapes: [
      {
        form: new RegExp(
          `(?<lead>-(?<name>(?:passw(?:or)?d|token|secret|api-?key)\\s)(?<quote>["']?))(?<body>${VALUE})`,
          'gi',
        ),
        isSecret: isSecretValue,
      },
    ],
  },
]

/** Which values are secrets judging by their name: `PASSWORD=…`, and environment variables. */

/** `name`: with the separator. `after`: the character after the value. */
export type Entry = { name: string; body: string; quote: string; after: string }

/** In text: a value, not a name, type, path or call as in code. */
export function isSecretValue({ name, body, quote, after }: Entry): boolean {
  if (isReference(body) || isCommon(body)) return false
  // As in a shell or .env file: nothing else looks like that.
  if (/^[A-Z_-]+=$/.test(name)) return after !== '(' && after !== '[' && !isNamed(body)
  if (!/\d/.test(body) || !/[A-Za-z]/.test(body)) return false
  // The value of an option, as in --token VALUE.
  if (quote !== '' || !/[:=]/.test(name)) return !body.startsWith('-')
  if (after === '(' || after === '[' || isNamed(body) || /^[A-Z][a-z]+\d*[A-Z]?[A-Za-z]*$/.test(body)) return false
  if (!/^\w+$/.test(body)) return true
  return /:\s*$/.test(name) ? body.length >= 10 && count(body, /\d/g) > 1 : body.length >= 20
}

/** Placeholders and references instead of values: `$1`, `%s`, `/run/secrets/db`, `https://…`, `xxxxxxxx`. */
function isReference(text: string): boolean {
  return (
    /^[$%&@*]|^[.~]{0,2}\/|^(?:https?|file|env|vault|op|ssm|arn):|\$\{|^(.)\1*$/.test(text) ||
    (text.includes('/') && /^[a-z0-9._/-]+$/.test(text)) ||
    /^(?:process|import|os|self|this|config|options?|args?|env|secrets?|vars?|inputs?|github|steps)\./.test(text)
  )
}

/** The name of a constant, or a member access. */
function isNamed(text: string): boolean {
  return /^[A-Z]+(?:_[A-Z]+)*$/.test(text) || /^[A-Za-z_]\w{0,19}(?:[.:]{1,2}[A-Za-z_]\w{0,19})+$/.test(text)
}

function isCommon(text: string): boolean {
  return COMMON.has(text.toLowerCase().replace(/[^a-z]/g, ''))
}

/** What people write in place of a secret, and very common words. */
const COMMON: ReadonlySet<string> = new Set(
  [
    'anonymous boolean changeit changeme default development disabled dummypassword enabled example examplepassword',
    'localhost mypassword mysecret mytoken notasecret nothing nullable optional password passwort pleasechangeme',
    'placeholder postgres production readonly redacted required secret secretkey secretpassword secrettoken string',
    'supersecret testpassword testing testtoken token undefined unknown username yourapikey yourpassword yoursecret',
    'yourtoken yourtokenhere yourpasswordhere yoursecrethere',
  ].flatMap((line) => line.split(' ')),
)

/** A secret that ralph knows by its value. `name`: the variable that holds it. */
export type Known = { value: string; name?: string }

/** The secrets among environment variables, by name. Values that occur in ordinary text are left out. */
export function secretVariables(env: Readonly<Record<string, string | undefined>>): Known[] {
  return Object.entries(env).flatMap(([name, value = '']) => {
    const [, kind] = NAME.exec(name) ?? []
    if (kind === undefined || value.length < 8 || isReference(value) || isCommon(value)) return []
    // A key may be that of a table or header: then it is a plain word.
    const isWord = /^(?:key|auth|pat)$/i.test(kind) && isWordLike(value)
    return isWord || /^[\d.]{1,11}$/.test(value) ? [] : [{ value, name }]
  })
}

const NAME =
  /(?:^|_|-|:|API|AUTH|ACCESS|PRIVATE|DB)_?(TOKEN|KEY|SECRET|PASSWORD|PASSWD|PASS|PASSPHRASE|CREDENTIALS?|AUTH|PAT)(?:_BASE)?$/i

function isWordLike(text: string): boolean {
  if (/^[A-Za-z]+$/.test(text)) return text.length < 16
  return /^[A-Za-z]+(?:[\s._/-]+[A-Za-z]+)*$/.test(text) && text.length < 24
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0
}

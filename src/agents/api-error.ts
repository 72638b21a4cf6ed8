/** What the errors of model services mean, whichever agent passes them on. */
import type { Outcome } from './agent.ts'

export function kindOfStatus(status: number): Outcome['kind'] | undefined {
  if (status === 401 || status === 402 || status === 403) return 'auth'
  if (status === 404) return 'config'
  if (status === 413) return 'context'
  if (status === 429) return 'rate-limit'
  return status === 408 || status >= 500 ? 'overloaded' : undefined
}

/** The first match wins: a full context often comes with a status that means something else. */
const WORDS: readonly (readonly [Outcome['kind'], RegExp])[] = [
  [
    'context',
    /context (length|window|limit)|maximum context|prompt is too long|too many tokens|input token count|ran out of room/i,
  ],
  ['auth', /credit balance|insufficient.?quota|payment required/i],
  // Gemini names its billing page in everything it says about quotas, even about one that resets in a minute.
  ['rate-limit', /retry in \d|retryDelay|RESOURCE_EXHAUSTED|quota exceeded for metric/i],
  ['auth', /billing/i],
  ['rate-limit', /\b429\b|rate.?limit|too many requests|slow.?down|usage limit|quota/i],
  [
    'auth',
    /\b40[13]\b|unauthori[sz]ed|authenticat|(invalid|incorrect).{0,20}api.?key|api key.{0,20}(invalid|not valid)|not logged in|please log ?in/i,
  ],
  ['overloaded', /\b5\d\d\b|overload|at capacity|high demand|unavailable|internal server error/i],
  ['overloaded', /ECONN\w+|ETIMEDOUT|ENOTFOUND|timed? ?out|connection|disconnected|network|fetch failed|socket/i],
  [
    'config',
    /unknown (option|argument|flag|model)|unrecognized|model.{0,40}(not found|not exist|not supported)|\b404\b/i,
  ],
]

/** Undefined for text that says nothing. */
export function kindOfWords(words: string): Outcome['kind'] | undefined {
  return WORDS.find(([, pattern]) => pattern.test(words))?.[0]
}

/** What an error means that may start with its status. */
export function kindOfMessage(message: string): Outcome['kind'] {
  if (/content_filter|refus|: sensitive/i.test(message)) return 'refused'
  const words = kindOfWords(message)
  if (words === 'context' || words === 'auth') return words
  if (/^stream ended|terminated$/i.test(message)) return 'overloaded'
  const status = /^(\d{3})\b/.exec(message)
  return (status && kindOfStatus(Number(status[1]))) ?? words ?? 'unknown'
}

/** The same error for people: only the message of a body passed on as JSON. */
export function wordsOfError(message: string): string {
  const start = message.indexOf('{')
  const words = start < 0 ? undefined : wordsIn(parsed(message.slice(start)))
  return words === undefined ? message : `${message.slice(0, start)}${words}`
}

function wordsIn(body: unknown): string | undefined {
  const { message, error } = (body ?? {}) as { message?: unknown; error?: unknown }
  if (typeof message === 'string' && message.trim()) return message.trim()
  return typeof error === 'object' ? wordsIn(error) : undefined
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // not a body, or one with text after it
  }
}

import { afterEach, describe, expect, test } from 'vitest'
import type { Exit, Outcome, Request } from './agent.ts'
import { command } from './command.ts'
import { readReset } from './reset.ts'

const NOON = Date.UTC(2026, 0, 5, 12)
const MINUTE = 60_000
const HOUR = 60 * MINUTE

const request: Request = {
  prompt: 'Do it.\n---\n$(touch x)',
  mode: 'headless',
  permissions: 'bypass',
  sandbox: false,
  target: './my-agent --print "two words"',
  extraArgs: ['--model', 'x y'],
  dir: '/work',
  folder: '/tmp',
  self: () => [],
  at: NOON,
}

const zone = process.env.TZ

afterEach(() => {
  if (zone === undefined) delete process.env.TZ
  else process.env.TZ = zone
})

/** The outcome of a program that printed this. */
function outcome(out: string, exit: Partial<Exit> = {}, err = ''): Outcome {
  const parser = command.parser(request)
  for (const line of out.split('\n')) parser.push(line, 'out')
  if (err) for (const line of err.split('\n')) parser.push(line, 'err')
  return parser.end({ code: 0, signal: null, ...exit }, new Map())
}

describe('any program as an agent', () => {
  test('is split into words without a shell, and gets its prompt on stdin', () => {
    expect(command.command(request)).toEqual({
      argv: ['./my-agent', '--print', 'two words', '--model', 'x y'],
      env: {},
      stdin: request.prompt,
    })
  })

  test('gets its prompt as the last argument in a terminal, where stdin is the keyboard', () => {
    expect(command.command({ ...request, mode: 'interactive' })).toMatchObject({
      argv: ['./my-agent', '--print', 'two words', '--model', 'x y', request.prompt],
      stdin: '',
    })
  })

  test('that ends with 0 worked, and what it printed is its final text', () => {
    expect(outcome('I did it.\n\n<promise>COMPLETE</promise>', {}, 'some noise')).toEqual({
      kind: 'ok',
      finalText: 'I did it.\n\n<promise>COMPLETE</promise>',
      tokens: 0,
      denied: [],
      ran: [],
    })
  })

  test('that ends with 0 worked, whatever it says about limits', () => {
    expect(outcome('I added a test for "usage limit reached" (429).').kind).toBe('ok')
  })

  test('shows what it prints while it works, but not its errors', () => {
    const parser = command.parser(request)
    expect(parser.push('reading', 'out').events).toEqual([{ kind: 'text', text: 'reading' }])
    expect(parser.push('  ', 'out').events).toEqual([])
    expect(parser.push('noise', 'err').events).toEqual([])
    expect(parser.push('x'.repeat(10_000), 'out').events).toEqual([{ kind: 'text', text: 'x'.repeat(500) }])
  })

  test.each<[what: string, exit: Partial<Exit>, kind: string, message: RegExp]>([
    ['another code', { code: 3 }, 'crash', /exited with code 3: it broke$/],
    ['a signal', { code: null, signal: 'SIGSEGV' }, 'killed', /SIGSEGV: it broke$/],
    [
      'too much silence',
      { code: null, signal: 'SIGTERM', stopped: 'silent' },
      'killed',
      /printing nothing for too long/,
    ],
    ['the time limit', { code: 0, stopped: 'deadline' }, 'killed', /at the time limit/],
    ['a stop', { code: 0, stopped: 'told' }, 'killed', /was stopped/],
  ])('that ended with %s did not work, and its last words say why', (_, exit, kind, message) => {
    expect(outcome('working', exit, 'first\nit broke\n')).toMatchObject({
      kind,
      message: expect.stringMatching(message),
      finalText: 'working',
    })
  })

  test('that failed without errors is known by its last words', () => {
    expect(outcome('working\nit broke', { code: 1 }).message).toMatch(/it broke$/)
    expect(outcome('', { code: 1 }).message).toBe('it exited with code 1')
  })

  test('that ralph stopped is not rate-limited, whatever it said', () => {
    expect(outcome('usage limit reached', { code: null, signal: 'SIGTERM', stopped: 'silent' }).kind).toBe('killed')
  })

  test('may print endlessly: its last words are kept', () => {
    const parser = command.parser(request)
    for (let line = 0; line < 200_000; line++) parser.push(`line ${line}`, 'out')
    parser.push('<promise>COMPLETE</promise>', 'out')
    const { finalText } = parser.end({ code: 0, signal: null }, new Map())
    expect(finalText.length).toBeLessThanOrEqual(256 * 1024)
    expect(finalText).toMatch(/line 199999\n<promise>COMPLETE<\/promise>$/)
  })

  test('may print one endless line', () => {
    const { finalText } = outcome(`${'x'.repeat(5_000_000)} done`)
    expect(finalText.length).toBeLessThanOrEqual(256 * 1024)
    expect(finalText).toMatch(/x done$/)
  })
})

describe('an agent that could not work', () => {
  test.each([
    "You've hit your limit · resets 3pm",
    "You've hit your usage limit.",
    "You've hit your session limit · resets 10:30pm (Europe/Berlin)",
    'Claude AI usage limit reached|1767625200',
    'usage limit reached',
    'Rate limit reached for requests',
    'rate limit exceeded',
    'The rate limit has been exceeded, try again in 20 minutes',
    '5-hour limit reached ∙ resets 3pm',
    'Rate limit. retry-after: 30',
    'Error: rate limited, please wait 30 seconds',
    'Limit of 30000 tokens per minute exceeded',
    'ThrottlingException: the request was throttled',
    'RateLimitError: slow down',
    'HTTP 429 Too Many Requests',
    'Error: 429 {"type":"error"}',
    'Quota exceeded for this project',
    'You have exhausted your daily quota',
    "You're out of extra usage",
    'Please try again in 20 minutes.',
  ])('is rate-limited: %s', (words) => {
    expect(outcome('', { code: 1 }, words)).toMatchObject({ kind: 'rate-limit', message: words })
    expect(outcome(words, { code: 1 })).toMatchObject({ kind: 'rate-limit', message: words })
  })

  test.each([
    'API Error: 529 {"type":"overloaded_error"}',
    'The model is overloaded.',
    '503 Service Unavailable',
    '502 Bad Gateway',
    'We are at capacity right now.',
    'connect ECONNREFUSED 127.0.0.1:443',
    'read ECONNRESET',
    'getaddrinfo EAI_AGAIN api.example.org',
    'Network is unreachable',
  ])('is overloaded: %s', (words) => {
    expect(outcome('', { code: 1 }, words)).toMatchObject({ kind: 'overloaded', message: words })
  })

  test.each([
    'TypeError: x is not a function',
    'no such file',
    'the limit of the array is reached by index 4290',
    'src/rate-limit.test.ts failed',
    'TypeError: throttle is not a function',
    '',
  ])('for another reason has crashed: %s', (words) => {
    expect(outcome('', { code: 1 }, words).kind).toBe('crash')
  })

  test('long after it mentioned limits has crashed for another reason', () => {
    const spoke = `I handle 429 and 503 now, and print "usage limit reached".\n${'Then I worked on.\n'.repeat(300)}`
    expect(outcome('', { code: 127 }, 'ralph: 12: exec: ./a.sh: not found').kind).toBe('config')
    expect(outcome('', { code: 127 }, './a.sh: 3: foo: not found').kind).toBe('crash')
    expect(outcome(`${spoke}Segmentation fault`, { code: 139 }).kind).toBe('crash')
    expect(outcome(spoke, { code: 1 }, 'TypeError: x is not a function').kind).toBe('crash')
    expect(outcome(spoke, { code: 1 }, 'usage limit reached').kind).toBe('rate-limit')
  })

  test('says when it can continue', () => {
    expect(outcome('Rate limit reached, try again in 20 minutes', { code: 1 }).resetsAt).toBe(NOON + 20 * MINUTE)
    expect(outcome('Rate limit reached', { code: 1 })).not.toHaveProperty('resetsAt')
  })
})

describe('the time of a reset', () => {
  test.each<[words: string, ms: number]>([
    ['try again in 20 minutes', 20 * MINUTE],
    ['Try again in 1 minute.', MINUTE],
    ['retry after 30 seconds', 30_000],
    ['resets in 2 hours', 2 * HOUR],
    ['resets in 45m', 45 * MINUTE],
    ['retry in 10s', 10_000],
    ['Retry-After: 120', 120_000],
    ['retry-after 7', 7_000],
  ])('is that far ahead: %s', (words, ms) => {
    expect(readReset(words, NOON)).toBe(NOON + ms)
  })

  test.each<[zone: string, words: string, iso: string]>([
    ['UTC', 'resets 3pm', '2026-01-05T15:00:00Z'],
    ['UTC', 'resets at 15:30', '2026-01-05T15:30:00Z'],
    ['UTC', 'try again at 3:15 PM.', '2026-01-05T15:15:00Z'],
    ['UTC', 'will reset at 1pm', '2026-01-05T13:00:00Z'],
    ['UTC', 'resets 11am', '2026-01-06T11:00:00Z'],
    ['UTC', 'resets 12pm', '2026-01-06T12:00:00Z'],
    ['UTC', 'resets 12am', '2026-01-06T00:00:00Z'],
    ['UTC', 'resets 12:30am', '2026-01-06T00:30:00Z'],
    ['UTC', 'resets 00:05', '2026-01-06T00:05:00Z'],
    ['America/New_York', 'resets 3pm', '2026-01-05T20:00:00Z'],
    ['America/New_York', 'resets 6am', '2026-01-06T11:00:00Z'],
    ['Asia/Kolkata', 'resets 3pm', '2026-01-06T09:30:00Z'],
    ['Asia/Kolkata', 'resets 6pm', '2026-01-05T12:30:00Z'],
    ['Pacific/Auckland', 'resets 3pm', '2026-01-06T02:00:00Z'],
    ['UTC', 'resets 3pm (America/New_York)', '2026-01-05T20:00:00Z'],
    ['Asia/Kolkata', 'resets 10:30pm (UTC)', '2026-01-05T22:30:00Z'],
  ])('is the next one on the clock of %s: %s', (place, words, iso) => {
    process.env.TZ = place
    expect(new Date(readReset(words, NOON) ?? 0).toISOString()).toBe(new Date(iso).toISOString())
  })

  test('is right on the day the clocks are changed', () => {
    process.env.TZ = 'Europe/Berlin'
    const eveningBefore = Date.UTC(2026, 2, 28, 20)
    expect(readReset('resets 3am', eveningBefore)).toBe(Date.UTC(2026, 2, 29, 1))
  })

  test.each(['', 'resets soon', 'resets Monday', 'resets 20 Nov', 'try again later', 'resets 3', 'in 20 minutes'])(
    'is not known from "%s"',
    (words) => {
      expect(readReset(words, NOON)).toBeUndefined()
    },
  )

  test('is always ahead', () => {
    for (let hour = 0; hour < 24; hour++)
      for (const at of [NOON, NOON + 1, NOON - 1, NOON + 11 * HOUR]) {
        const reset = readReset(`resets at ${hour}:00`, at) ?? 0
        expect(reset - at).toBeGreaterThan(0)
        expect(reset - at).toBeLessThanOrEqual(25 * HOUR)
      }
  })
})

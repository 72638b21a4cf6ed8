import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Outcome } from '../agents/agent.ts'
import { applyReport, isOurs, isSame, type PaneFacts, type Sent } from './pane-facts.ts'

type Report = Parameters<typeof applyReport>[1]

const MARK = { loop: 'a1', iteration: 1, attempt: 1 }
const TEXT = 'Fix the tests.\n\n\tRun `npm test`;  then stop.'
const SENT: Sent = { mark: MARK, text: TEXT, at: 10, times: 1 }
const DONE: Outcome = { kind: 'ok', finalText: 'Done.', tokens: 0, denied: [], ran: [] }

const IDLE: PaneFacts = { up: true, dir: '/p' }
const GIVEN: PaneFacts = { ...IDLE, sent: SENT }
const OURS: PaneFacts = { ...GIVEN, at: { kind: 'ours', mark: MARK } }
const THEIRS: PaneFacts = { ...IDLE, at: { kind: 'theirs' }, typed: 'hello' }

const ours: Report = { kind: 'prompt', words: TEXT }
const stop: Report = { kind: 'stop', outcome: DONE }
const ended: Report = { kind: 'ended', code: 3 }
const closed: Report = { kind: 'ended', code: 129, closed: true }

const hearing = (facts: PaneFacts, ...mails: Report[]) =>
  mails.reduce((known, mail) => applyReport(known, mail, 99), facts)

test.each<[story: string, facts: PaneFacts, mail: Report, known: PaneFacts]>([
  ['an agent that has started is up', { dir: '/p', failed: 2 }, { kind: 'started' }, IDLE],
  ['its session is known', { dir: '/p' }, { kind: 'started', session: 's' }, { ...IDLE, session: 's' }],
  ['one that has restarted has not ended', { dir: '/p', ended: { code: 1 } }, { kind: 'started' }, IDLE],
  ['a new session replaces the previous one', { session: 's' }, { kind: 'session', session: 't' }, { session: 't' }],
  ['our prompt has arrived', GIVEN, ours, OURS],
  ['a prompt names its session', GIVEN, { ...ours, session: 's' }, { ...OURS, session: 's' }],
  ['a prompt that arrived late is not stalled', { ...IDLE, sent: { ...SENT, stalled: true } }, ours, OURS],
  ['a prompt answers what it asked', { ...GIVEN, asks: 'Trust?' }, ours, OURS],
  ['a prompt shows that it is up', { dir: '/p', sent: SENT }, ours, OURS],
  ['a prompt typed by the user is theirs', IDLE, { kind: 'prompt', words: 'hello' }, THEIRS],
  ['… even while ours is on its way', GIVEN, { kind: 'prompt', words: 'hello' }, { ...THEIRS, sent: SENT }],
  [
    'what the user says during our turn leaves it ours',
    OURS,
    { kind: 'prompt', words: 'hello' },
    { ...OURS, typed: 'hello' },
  ],
  ['ours after theirs is ours', { ...THEIRS, sent: SENT }, ours, { ...OURS, typed: 'hello' }],
  ['our turn has ended', OURS, stop, { ...GIVEN, stoppedAt: 99, over: { mark: MARK, outcome: DONE } }],
  [
    'our turn was stopped',
    OURS,
    { kind: 'stop', outcome: 'aborted' },
    { ...GIVEN, stoppedAt: 99, over: { mark: MARK, outcome: 'aborted' } },
  ],
  ['their turn has ended', THEIRS, stop, { ...IDLE, typed: 'hello', stoppedAt: 99 }],
  ['a stop without a turn says nothing', GIVEN, stop, GIVEN],
  ['a stop while something keeps running does not count', OURS, { ...stop, background: true }, OURS],
  ['it asks', OURS, { kind: 'asks', question: 'May I?' }, { ...OURS, asks: 'May I?' }],
  ['it was answered', { ...OURS, asks: 'May I?' }, { kind: 'answered' }, OURS],
  ['an answer to nothing', IDLE, { kind: 'answered' }, IDLE],
  ['it exited while idle', IDLE, ended, { dir: '/p', stoppedAt: 99, ended: { code: 3 } }],
  [
    'it exited before it came up',
    { dir: '/p', failed: 1 },
    ended,
    { dir: '/p', failed: 2, stoppedAt: 99, ended: { code: 3 } },
  ],
  [
    'it was closed before it came up',
    { dir: '/p' },
    closed,
    { dir: '/p', stoppedAt: 99, ended: { code: 129, closed: true } },
  ],
  ['it exited during a question', { ...IDLE, asks: 'May I?' }, ended, { dir: '/p', stoppedAt: 99, ended: { code: 3 } }],
  [
    'it was closed during our turn, which is still open',
    OURS,
    closed,
    { dir: '/p', sent: SENT, at: { kind: 'ours', mark: MARK }, stoppedAt: 99, ended: { code: 129, closed: true } },
  ],
  ['it exited during their turn', THEIRS, ended, { dir: '/p', typed: 'hello', stoppedAt: 99, ended: { code: 3 } }],
])('%s', (_, facts, mail, known) => {
  expect(applyReport(facts, mail, 99)).toEqual(known)
})

test('a program that exits during our turn has crashed', () => {
  const { over, at, up } = hearing(OURS, ended)
  expect({ over, at, up }).toMatchObject({
    over: { mark: MARK, outcome: { kind: 'crash', message: 'it exited with code 3 in the middle of a turn' } },
    at: undefined,
    up: undefined,
  })
})

describe('names of turns', () => {
  const named = hearing(GIVEN, { ...ours, turn: 't2' })

  test.each<[story: string, facts: PaneFacts, turn: string | undefined, over: boolean]>([
    ['the same', named, 't2', true],
    ['that of an earlier turn', named, 't1', false],
    ['none', named, undefined, true],
    ['one whose prompt had none', OURS, 't2', true],
  ])('the stop has %s', (_, facts, turn, over) => {
    const heard = hearing(facts, { ...stop, ...(turn === undefined ? {} : { turn }) })
    expect([heard.over !== undefined, heard.at === undefined]).toEqual([over, over])
  })

  test("are kept for the user's turns too", () => {
    const theirs = hearing(IDLE, { kind: 'prompt', words: 'hello', turn: 't2' })
    expect(hearing(theirs, { ...stop, turn: 't1' }).at).toEqual({ kind: 'theirs', turn: 't2' })
    expect(hearing(theirs, { ...stop, turn: 't2' }).at).toBeUndefined()
  })
})

test('a prompt whose turn has ended does not start it again', () => {
  const { at, over } = hearing(OURS, stop, ours)
  expect(at).toEqual({ kind: 'theirs' })
  expect(over?.mark).toEqual(MARK)
})

describe('after the end', () => {
  test.each<[mail: Report]>([[ours], [{ kind: 'prompt', words: 'hello' }], [{ kind: 'asks', question: 'May I?' }]])(
    'late mail of the program changes nothing: %j',
    (mail) => {
      const gone = hearing(IDLE, ended)
      expect(hearing(gone, mail)).toEqual(gone)
    },
  )

  test('a stop that comes late still ends the turn in which the pane was closed', () => {
    expect(hearing(OURS, closed, stop)).toEqual({
      ...{ dir: '/p', sent: SENT, stoppedAt: 99, over: { mark: MARK, outcome: DONE } },
      ended: { code: 129, closed: true },
    })
  })

  test('two reports count once, with the last exit code', () => {
    expect(hearing(IDLE, { kind: 'ended', code: 1 }, { kind: 'ended', code: 0 })).toEqual({
      ...{ dir: '/p', stoppedAt: 99 },
      ended: { code: 0 },
    })
    expect(hearing({ dir: '/p' }, ended, ended).failed).toBe(1)
    expect(hearing(IDLE, closed, ended).ended).toEqual({ code: 3, closed: true })
  })
})

test.each<[what: string, words: string, is: boolean]>([
  ['as it was sent', TEXT, true],
  ['tabs as blanks', TEXT.replaceAll('\t', '    '), true],
  ['Windows line breaks', TEXT.replaceAll('\n', '\r\n'), true],
  ['carriage returns', TEXT.replaceAll('\n', '\r'), true],
  ['blanks around it', ` \n${TEXT}  \n\n`, true],
  ['blanks at the ends of lines', TEXT.replaceAll('\n', '  \n'), true],
  ['one blank for two', TEXT.replaceAll('  ', ' '), true],
  ['words that were already in the input line', `oh and ${TEXT}`, true],
  ['half of it', TEXT.slice(0, 20), false],
  ['something else', 'Fix the docs.', false],
  ['nothing', '', false],
])('recognizes its own prompt: %s', (_, words, is) => {
  expect(isOurs(words, TEXT)).toBe(is)
})

test('recognizes it without invisible characters, and in another Unicode form', () => {
  const text = '\ufeffe\u0301 👨\u200d👩 \u202eabc\u202c'
  expect(isOurs('\u00e9 👨👩 abc', text)).toBe(true)
  expect(isOurs(text, '\u00e9 👨👩 abc')).toBe(true)
  expect(isOurs('e 👨👩 abc', text)).toBe(false)
})

test('events in any order leave a consistent state', () => {
  const turn = fc.constantFrom({}, { turn: 't1' }, { turn: 't2' })
  const mail = fc.oneof(
    fc.constantFrom<Report>({ kind: 'started' }, { kind: 'session', session: 's' }, { kind: 'answered' }),
    fc.constantFrom<Report>(ended, closed, { kind: 'asks', question: 'May I?' }, { ...stop, background: true }),
    fc
      .record({ words: fc.constantFrom(TEXT, `oh ${TEXT}`, 'hello'), named: turn })
      .map(({ words, named }): Report => ({ kind: 'prompt', words, ...named })),
    turn.map((named): Report => ({ ...stop, ...named })),
  )
  const send = fc.integer({ min: 1, max: 3 }).map((iteration) => ({ iteration }))
  fc.assert(
    fc.property(fc.array(fc.oneof(mail, send), { maxLength: 30 }), (story) => {
      const sent: Sent['mark'][] = []
      let facts: PaneFacts = { dir: '/p' }
      for (const [at, happening] of story.entries()) {
        if ('iteration' in happening) {
          const mark = { ...MARK, iteration: happening.iteration }
          sent.push(mark)
          facts = { ...facts, sent: { mark, text: TEXT, at, times: 1 } }
          continue
        }
        const before = facts
        facts = applyReport(before, happening, at)
        expect(facts.ended && facts.up).toBeFalsy()
        expect(facts.ended && facts.asks).toBeFalsy()
        for (const { mark } of [facts.over, facts.at?.kind === 'ours' ? facts.at : undefined].filter((one) => !!one))
          expect(sent.some((one) => isSame(one, mark))).toBe(true)
        if (happening.kind === 'stop' && !happening.background && happening.turn === undefined)
          expect(facts.at).toBeUndefined()
        if (happening.kind === 'ended' && !happening.closed && !before.ended) expect(facts.at).toBeUndefined()
        if (happening.kind !== 'stop' && happening.kind !== 'ended') expect(facts.over).toEqual(before.over)
        expect(facts.sent?.mark).toEqual(before.sent?.mark)
      }
    }),
  )
})

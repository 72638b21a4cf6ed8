/**
 * No text from agents, checks, files or people can control the terminal.
 * `RALPH_TEST_RUNS=20 npx vitest run src/fronts/cli/foreign-text.test.ts` tries more text.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Fact, Loop } from '../../engine/loop.ts'
import { claims, type Happening, START, specOf, works } from '../../engine/stories.test-support.ts'
import { temporaryFolder } from '../../host/place.test-support.ts'
import { openStore } from '../../host/sqlite.ts'
import { storyIn } from '../../host/store-contract/scene.ts'
import { main } from './main.ts'
import { openRecorder } from './screen.test-support.ts'

const RUNS = Number(process.env.RALPH_TEST_RUNS ?? 1)

const hostile = fc.array(
  fc.oneof(
    fc.constantFrom(
      '\u001b]0;owned\u0007',
      '\u001b]52;c;cm0=\u0007',
      '\u001b[2J',
      '\u009b2J',
      '\u009d0;x\u009c',
      '\u001b[8m',
      '\u001b[31m',
    ),
    fc.constantFrom(
      '\u001b',
      '\u001b]0;',
      '\u001bP',
      '\u202e',
      '\u2066',
      '\u200f',
      '\u061c',
      '\u2028',
      '\r',
      '\b',
      '\u0007',
      '\u0085',
    ),
    fc.constantFrom('\u200b', '\ufeff', '\u{e0041}', '\ud83d', '\udc00', 'a', ' ', '\n', '任', '👩‍💻', '🦉'),
    fc.string({ unit: 'binary', maxLength: 5 }),
  ),
  { maxLength: 12 },
)

/** What may reach a screen: visible characters, line breaks and tabs, and ralph's own colors. */
const SEEN =
  /^(?:[\n\t]|(?:\u200d(?=\p{Extended_Pictographic}))|(?![\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e0fff}]).)*$/su
// biome-ignore lint/suspicious/noControlCharactersInRegex: the only ones allowed
const OWN = /\u001b\[(?:1|2|22|31|32|33|36|39)m/g

/** A loop in which every foreign string contains this text. */
async function homeWith(text: string): Promise<{ folder: string; home: string }> {
  const folder = temporaryFolder()
  const home = join(folder, 'home')
  const dir = join(folder, 'work')
  mkdirSync(dir)
  const store = openStore(home, () => START)
  const check = `npm test ${text}`
  const told = (order: object): Fact => ({ kind: 'told', at: START, by: text || 'x', order }) as Fact
  const checked: Fact = {
    kind: 'checked',
    at: START,
    verdicts: [{ check, result: 'fail', tail: text }],
    findings: [{ kind: 'tests-changed', path: text, words: text }],
  }
  const says = (happening: Happening) => (loop: Loop) => {
    const fact = typeof happening === 'function' ? happening(loop) : happening
    return fact.kind === 'turned' ? { ...fact, turn: { ...fact.turn, words: text } } : fact
  }
  const spec = {
    prompt: text,
    checks: [check],
    stages: [{ name: text, check }],
    work: { ...specOf().work, dir, agent: `command:${text}`, agentArgs: [text] },
  }
  await storyIn(
    store,
    'a1',
    spec,
    checked,
    says(works),
    says(claims('clear')),
    checked,
    told({ kind: 'say', words: text }),
  )
  await storyIn(store, 'b2', spec, checked, told({ kind: 'pause', why: text }))
  await storyIn(
    store,
    'c3',
    spec,
    checked,
    told({ kind: 'cancel', rejected: { why: text } }),
    told({ kind: 'dropped', why: text }),
  )
  const log = store.transcripts.openTurn('a1', 1)
  log.write([
    { at: START, attempt: 1, prompt: text, command: [text] },
    { out: text },
    { err: text },
    { at: START, exit: null, signal: text },
  ])
  log.close()
  await store.close()
  return { folder, home }
}

type Printed = { code: number; out: string; err: string }

async function ralph(
  { folder, home }: { folder: string; home: string },
  tty: boolean,
  ...argv: string[]
): Promise<Printed> {
  const [out, err] = [openRecorder(), openRecorder()]
  const machine = {
    env: { RALPH_HOME: home, HOME: folder, PATH: '/nowhere' },
    cwd: () => join(folder, 'work'),
    stdin: Readable.from([]),
    stdout: tty ? Object.assign(out.stream, { isTTY: true, columns: 100 }) : out.stream,
    stderr: err.stream,
  }
  const code = await main(argv, { root: '/ralph', version: '0.0.0' }, machine)
  return { code, out: out.text(), err: err.text() }
}

test('foreign text prints only visible characters, in a terminal and in a pipe', async () => {
  await fc.assert(
    fc.asyncProperty(hostile, async (parts) => {
      const text = parts.join('')
      const place = await homeWith(text)
      const ones = ['a1', 'b2', 'c3'].flatMap((id) => [
        ['show', id],
        ['status', id],
        ['proof', id],
      ])
      const all = [
        ['status'],
        ['stats'],
        ['show', 'a1', '1'],
        ['show', 'a1', '2'],
        ['show', text || 'x'],
        ['cancel', text || 'x'],
        ...ones,
      ]
      for (const argv of all)
        for (const tty of [true, false]) {
          const { out, err } = await ralph(place, tty, ...argv)
          expect(tty ? out.replace(OWN, '') : out, `ralph ${argv.join(' ')}`).toMatch(SEEN)
          expect(err, `ralph ${argv.join(' ')}`).toMatch(SEEN)
          expect(err).not.toContain('this is a bug')
        }
    }),
    { numRuns: 8 * RUNS },
  )
})

test('as JSON, foreign text is unchanged and hides nothing', async () => {
  await fc.assert(
    fc.asyncProperty(hostile, async (parts) => {
      const text = parts.join('')
      const place = await homeWith(text)
      const { out } = await ralph(place, false, 'show', 'a1', '1', '--json')
      expect(out).toMatch(SEEN)
      const lines = out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { out?: string })
      expect(lines.find((line) => line.out !== undefined)?.out).toBe(text)
      for (const argv of [['status'], ['status', 'a1'], ['show', 'a1'], ['stats']])
        expect((await ralph(place, false, ...argv, '--json')).out).toMatch(SEEN)
    }),
    { numRuns: 5 * RUNS },
  )
})

test('foreign text cannot change the window title or the clipboard', async () => {
  const place = await homeWith('\u001b]0;owned\u0007\u001b]52;c;cm0=\u0007seen\u001b[2K\r\u202ereversed')
  writeFileSync(join(place.folder, 'work', 'x'), '')
  for (const tty of [true, false]) {
    const { out } = await ralph(place, tty, 'show', 'a1', '2')
    expect(out.replace(OWN, '')).toContain('seen\nreversed')
    expect(out).not.toContain('owned')
  }
})

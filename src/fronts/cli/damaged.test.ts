/**
 * Simulates a disk that changes stored bytes: the damaged loop is named, and all others are shown.
 * `RALPH_TEST_RUNS=30 npx vitest run src/fronts/cli/damaged.test.ts` damages more bytes, `RALPH_TEST_SEED=7` others.
 */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Readable } from 'node:stream'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Fact } from '../../engine/loop.ts'
import { checks, claims, START, specOf, turn, works } from '../../engine/stories.test-support.ts'
import { drawChance } from '../../host/chance.test-support.ts'
import { temporaryFolder } from '../../host/place.test-support.ts'
import { openStore } from '../../host/sqlite.ts'
import { loopOf, storyIn } from '../../host/store-contract/scene.ts'
import { main } from './main.ts'
import { openRecorder } from './screen.test-support.ts'

const { runs, seed } = drawChance({ runs: 1 })

let sound: string

beforeAll(async () => {
  sound = temporaryFolder()
  const store = openStore(sound, () => START)
  const work = { ...specOf().work, dir: '/home/shop' }
  const told: Fact = { kind: 'told', at: START, by: 'Ada', order: { kind: 'say', words: 'Use blue.' } }
  const found: Fact = {
    kind: 'checked',
    at: START,
    verdicts: [{ check: 'npm test', result: 'fail', failures: 2, tail: 'red' }],
    findings: [{ kind: 'tests-changed', path: 'a.test.ts', words: 'was changed' }],
  }
  for (const id of ['aaaa1111', 'bbbb2222'])
    await storyIn(
      store,
      id,
      { checks: ['npm test'], work },
      checks('fail'),
      works,
      told,
      turn({ reports: [{ at: 1, kind: 'question', question: 'Why?' }] }),
      claims('clear'),
      found,
    )
  await store.create(loopOf('cccc3333', { work }))
  await store.tell('aaaa1111', 'Ada', { kind: 'say', words: 'Go on.' })
  await store.comments.add('aaaa1111', [
    { iteration: 1, against: 'start', path: 'a', line: 1, side: 'new', quote: 'x', text: 'y' },
  ])
  const log = store.transcripts.openTurn('aaaa1111', 1)
  log.write([
    { at: START, attempt: 1, prompt: 'Do it.', command: ['agent'] },
    { out: 'Done.' },
    { at: START, exit: 0, signal: null },
  ])
  log.close()
  await store.close()
})

/** A copy of the intact home with changes to the database. */
function damagedHome(damage: (database: DatabaseSync) => void): string {
  const home = temporaryFolder()
  copy(sound, home)
  const database = new DatabaseSync(join(home, 'ralph.db'))
  damage(database)
  database.close()
  return home
}

function copy(from: string, to: string): void {
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) mkdirSync(target)
    if (entry.isDirectory()) copy(source, target)
    else copyFileSync(source, target)
  }
}

/** Writes past all constraints, as a bad disk would. */
function letEverythingIn(database: DatabaseSync): void {
  for (const name of ['older_ralph_0', 'older_ralph_1', 'older_proof_0', 'older_proof_1'])
    database.exec(`DROP TRIGGER ${name}`)
}

type Printed = { code: number; out: string; err: string }

async function ralph(home: string, ...argv: string[]): Promise<Printed> {
  const [out, err] = [openRecorder(), openRecorder()]
  const machine = {
    env: { RALPH_HOME: home, HOME: home, PATH: '/nowhere' },
    cwd: () => home,
    stdin: Readable.from([]),
    stdout: out.stream,
    stderr: err.stream,
  }
  const code = await main(argv, { root: '/ralph', version: '0.0.0' }, machine)
  return { code, out: out.text(), err: err.text() }
}

const COLUMNS = [
  ...(['spec', 'tally', 'next'] as const).map((column) => ({ table: 'loop', column, where: "id = 'aaaa1111'" })),
  ...(['fact', 'next'] as const).map((column) => ({ table: 'event', column, where: "loop = 'aaaa1111'" })),
  { table: 'told', column: 'order', where: "loop = 'aaaa1111'" },
  { table: 'comment', column: 'comment', where: "loop = 'aaaa1111'" },
]

const COMMANDS = [
  ['status'],
  ['status', '--json'],
  ['status', 'aaaa1111'],
  ['show', 'aaaa1111'],
  ['show', 'aaaa1111', '--json'],
  ['show', 'aaaa1111', '1'],
  ['proof', 'aaaa1111'],
  ['stats'],
  ['stats', '--json'],
  ['steer', 'aaaa1111', 'Go.'],
  ['pause', 'aaaa1111'],
  ['allow', 'aaaa1111'],
  ['retry', 'aaaa1111'],
  ['resume', 'aaaa1111'],
  ['cancel', 'aaaa1111'],
]

/** Every command on a damaged home prints a helpful message, and the other loops are listed. */
async function expectSentences(home: string, what: string): Promise<void> {
  for (const argv of COMMANDS) {
    const { code, err } = await ralph(home, ...argv)
    const said = `ralph ${argv.join(' ')} with ${what}: ${err}`
    expect(said).not.toContain('this is a bug')
    expect([0, 1, 2, 3, 4], said).toContain(code)
    if (code !== 0) expect(err, said).toMatch(/^ralph: [^\n]+\n$/)
  }
  const listed = await ralph(home, 'status')
  for (const id of ['aaaa1111', 'bbbb2222', 'cccc3333']) expect(listed.out, what).toContain(id)
  expect((await ralph(home, 'show', 'bbbb2222')).code).toBe(0)
  expect(['✓', '✗']).toContain(
    (await ralph(home, 'doctor')).out.split('\n').find((line) => line.includes('database'))?.[0],
  )
}

describe.each(COLUMNS)('$table $column', ({ table, column, where }) => {
  const set = (text: (before: string) => string) =>
    damagedHome((database) => {
      const rows = database.prepare(`SELECT rowid, "${column}" AS value FROM ${table} WHERE ${where}`).all()
      const change = database.prepare(`UPDATE ${table} SET "${column}" = ? WHERE rowid = ?`)
      letEverythingIn(database)
      for (const { rowid, value } of rows) change.run(text(String(value)), Number(rowid))
    })

  test.each(['{', 'null', '{"kind":"constructor"}'])('that contains %s is reported', async (text) => {
    await expectSentences(
      set(() => text),
      `${table}.${column} = ${text}`,
    )
  })

  test('with any single byte changed is reported', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.nat(6), async (at, bit) => {
        const home = set((before) => {
          const bytes = Buffer.from(before)
          const place = at % bytes.length
          bytes[place] = (bytes[place] ?? 0) ^ (1 << bit)
          return bytes.toString('utf8')
        })
        await expectSentences(home, `byte ${at}, bit ${bit} of ${table}.${column}`)
      }),
      { numRuns: 2 * runs, seed },
    )
  })
})

test('a tally field that has lost its name is reported', async () => {
  const database = new DatabaseSync(join(sound, 'ralph.db'))
  const [row] = database.prepare("SELECT tally FROM loop WHERE id = 'aaaa1111'").all()
  database.close() // otherwise its side files would be deleted whenever it is garbage-collected
  for (const key of Object.keys(JSON.parse(String(row?.tally)))) {
    const tally = String(row?.tally).replace(`"${key}":`, `"${key}_":`)
    const home = damagedHome((database) => {
      letEverythingIn(database)
      database.prepare("UPDATE loop SET tally = ? WHERE id = 'aaaa1111'").run(tally)
    })
    expect((await ralph(home, 'status', 'aaaa1111')).err, key).not.toContain('this is a bug')
  }
})

test('an unreadable loop is named, with what to do, by `ralph doctor` as well', async () => {
  const home = damagedHome((database) => {
    letEverythingIn(database)
    database.exec(`UPDATE loop SET spec = '{' WHERE id = 'aaaa1111'`)
  })
  const sentence =
    'ralph: The stored data of loop aaaa1111 is damaged (it is not JSON). `ralph doctor --rebuild` rebuilds the database from the transcripts.\n'
  for (const argv of [
    ['show', 'aaaa1111'],
    ['status', 'aaaa1111'],
    ['resume', 'aaaa1111'],
  ])
    expect(await ralph(home, ...argv)).toMatchObject({ code: 1, err: sentence })
  const { code, out } = await ralph(home, 'doctor')
  expect(code).toBe(1)
  expect(out).toContain('✗ database   The stored data of loop aaaa1111 is damaged')
  expect((await ralph(home, 'doctor', '--rebuild')).out).toContain('Rebuilt the database: 3 loops')
  expect((await ralph(home, 'show', 'aaaa1111')).code).toBe(0)
})

test('a transcript with any single byte changed is shown as far as possible', async () => {
  for (const name of ['loop.jsonl', '1.jsonl'])
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.nat(7), async (at, bit) => {
        const home = temporaryFolder()
        copy(sound, home)
        const path = join(home, 'transcripts', 'aaaa1111', name)
        const bytes = readFileSync(path)
        bytes[at % bytes.length] = (bytes[at % bytes.length] ?? 0) ^ (1 << bit)
        writeFileSync(path, bytes)
        await expectSentences(home, `byte ${at}, bit ${bit} of ${name}`)
        const rebuilt = await ralph(home, 'doctor', '--rebuild')
        expect(rebuilt.err).toBe('')
        await expectSentences(home, `${name} rebuilt`)
      }),
      { numRuns: 2 * runs, seed },
    )
})

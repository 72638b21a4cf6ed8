/** Loops stored by an older ralph: what it changed without a fact is a fact from then on. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { type Fact, type Loop, type Next, startLoop, turnOf } from '../src/engine/loop.ts'
import { step } from '../src/engine/step.ts'
import {
  checks,
  claims,
  type loopAfter,
  MINUTE,
  pause,
  START,
  say,
  specOf,
  wantsPerson,
  works,
} from '../src/engine/stories.test-support.ts'
import { toNewColumns } from '../src/host/rows.ts'
import { MIGRATIONS } from '../src/host/schema.ts'
import { openStore } from '../src/host/sqlite.ts'
import { openRecords } from '../src/host/transcript.ts'
import { placeOf, type VaultTask } from '../src/vault/vault-task.ts'
import { expectSame, kindsOf, knownIn, rebuildIn } from './replayed.ts'

type Happening = Parameters<typeof loopAfter>[1]

/** A home as a ralph with four migrations left it. */
function oldHome(): string {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-old-')))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const database = new DatabaseSync(join(home, 'ralph.db'))
  for (const migration of MIGRATIONS.slice(0, 4)) database.exec(migration)
  database.exec('PRAGMA user_version = 4; PRAGMA journal_mode = WAL')
  for (const { id, spec, story, raised } of STORIES) writeOld(database, home, { id, spec, story, raised })
  database
    .prepare('INSERT INTO task VALUES (?, ?, ?, ?)')
    .run(
      '/vaults/one',
      'letter',
      'task',
      JSON.stringify({ progress: { total: 4, completed: 1, step: 'Begin', at: 5 } }),
    )
  database.prepare('INSERT INTO project VALUES (?, ?, ?)').run('/home/shop/.artefacts/shop', '{"iteration":3}', 7)
  database.prepare('INSERT INTO told VALUES (?, ?, ?, ?, ?)').run(9, 'paused', START, 'you', '{"kind":"resume"}')
  database.close()
  return home
}

const TASK: VaultTask = {
  kind: 'vault',
  path: '/vaults/one',
  id: 'letter',
  file: 'letter.md',
  from: 'Needs_Action/letter.md',
  by: 'caller',
  done: 'Done',
  state: 'Ralph_State',
}
const plain = specOf({ checks: ['npm test'] })
const three = { ...plain, limits: { ...plain.limits, iterations: 3 } }
const PROJECT = { kind: 'project' as const, name: 'shop', task: 'T1', folder: '/home/shop/.artefacts/shop' }

type Given = { id: string; spec: Loop['spec']; story: Happening[]; raised?: number | undefined }

const STORIES: Given[] = [
  {
    id: 'paused',
    spec: plain,
    story: [works, say('Use blue.'), works, claims('clear'), checks('fail', 2), say('And green.'), pause],
  },
  {
    id: 'raised',
    spec: { ...three, work: { ...plain.work, owner: PROJECT, faces: ['/home/shop/.artefacts'] } },
    story: [works, works, works, works, claims('clear'), checks('pass')],
    raised: 3,
  },
  { id: 'task', spec: { ...plain, work: { ...plain.work, ...placeOf(TASK) } }, story: [works, wantsPerson()] },
  { id: 'new', spec: plain, story: [] },
]

/** `raised`: after this many facts the limit was raised in the row, without a fact or any other trace. */
function writeOld(database: DatabaseSync, home: string, { id, spec, story, raised }: Given): void {
  const records = openRecords(home)
  const begun = startLoop(id, spec, { at: START, tree: 'tree 0' })
  let loop: Loop = { ...begun, next: turnOf(spec, begun.tally, START) } // it did not check before the first turn
  records.begin({ id, spec: oldLoop(loop).spec, at: START, tree: 'tree 0' })
  const rows: { table: string; row: Record<string, unknown> }[] = []
  let updated = START
  for (const [index, happening] of story.entries()) {
    if (index === raised) loop = raise(loop, index)
    const fact: Fact = {
      ...(typeof happening === 'function' ? happening(loop) : happening),
      at: START + index * MINUTE,
    }
    const moved = step(loop, fact)
    const n = index + 1
    rows.push({
      table: 'event',
      row: { loop: id, n, at: fact.at, fact: JSON.stringify(fact), next: JSON.stringify(oldNext(moved.next)) },
    })
    if (fact.kind === 'turned' && moved.tally.iteration > loop.tally.iteration)
      rows.push({ table: 'iteration', row: iterationOf(loop, moved, fact, updated) })
    if (fact.kind === 'checked')
      for (const [position, { check, result, failures = null, tail }] of fact.verdicts.entries())
        rows.push({
          table: 'check_result',
          row: { loop: id, iteration: moved.tally.iteration, position, check, result, failures, tail },
        })
    records.addFact(id, n, fact)
    loop = moved
    updated = fact.at
  }
  const { owner: _, ...columns } = toNewColumns(loop)
  const old = oldLoop(loop)
  insert(database, 'loop', {
    ...columns,
    spec: JSON.stringify(old.spec),
    tally: JSON.stringify(old.tally),
    next: JSON.stringify(old.next),
    started_at: START,
    events: story.length,
    updated_at: updated,
  })
  for (const { table, row } of rows) insert(database, table, row)
}

/** It would have halted; with the raised limit it continues. */
function raise(loop: Loop, at: number): Loop {
  const limits = { ...loop.spec.limits, iterations: 20 }
  const tally = { ...loop.tally, startedAt: START + at * MINUTE }
  return {
    ...loop,
    spec: { ...loop.spec, limits },
    tally,
    next: { kind: 'turn', iteration: at + 1, attempt: 1, fresh: true, feedback: [] },
  }
}

function iterationOf(before: Loop, { tally, spec }: Loop, { turn, at }: Fact & { kind: 'turned' }, startedAt: number) {
  const { files = null, added = null, removed = null } = turn.diff ?? {}
  const changed =
    turn.tree === undefined || before.tally.tree === undefined ? null : Number(turn.tree !== before.tally.tree)
  const words = { end: turn.end, claim: turn.claim.kind, words: turn.words }
  const spent = { tokens: turn.tokens, cost_usd: turn.costUsd ?? null }
  const when = { attempts: 1, started_at: startedAt, ended_at: at, agent: spec.work.agent }
  return { loop: before.id, n: tally.iteration, ...when, ...words, ...spent, changed, files, added, removed }
}

function insert(database: DatabaseSync, table: string, row: Record<string, unknown>): void {
  const names = Object.keys(row)
  database
    .prepare(`INSERT INTO ${table} (${names.map((name) => `"${name}"`)}) VALUES (${names.map(() => '?')})`)
    .run(...(Object.values(row) as (string | number | null)[]))
}

/** In the old format: owners had their own fields, and reports were sentences. */
function oldLoop({ spec, tally, next }: Loop): { spec: Loop['spec']; tally: object; next: object } {
  const { owner, faces: _, ...work } = spec.work
  const { kind: __, ...known } = owner ?? { kind: 'person' }
  const own = owner ? { [owner.kind]: known } : {}
  const said = tally.said.map(({ by, words }) => (by === 'person' ? `A person says: ${words}` : words))
  const held = tally.held ? { held: oldNext(tally.held) } : {}
  const { heard: ___, ...counts } = tally
  return { spec: { ...spec, work: { ...work, ...own } }, tally: { ...counts, said, ...held }, next: oldNext(next) }
}

function oldNext(next: Next): object {
  const { heard: _, about: __, ...rest } = next as Next & { heard?: unknown; about?: unknown }
  return rest
}

async function open(home: string): Promise<void> {
  await openStore(home, () => START).close()
}

test("an older ralph's database is the same after it is rebuilt, including what changed without a fact", async () => {
  const home = oldHome()
  await open(home)
  const known = await expectSame(home, () => rebuildIn(home))
  expect(kindsOf(known)).toContain('adopted')
  expect(known.iteration.filter(({ loop }) => loop === 'raised')).toHaveLength(5)
  expect(known.loop.map(({ id, owner }) => `${id} ${owner}`)).toEqual([
    'new person',
    'paused person',
    'raised project',
    'task vault',
  ])
  await expectSame(home, () => rebuildIn(home))
})

test('rebuilding it before any other command gives the same', async () => {
  const [home, opened] = [oldHome(), oldHome()]
  await open(opened)
  await rebuildIn(home)
  expect(knownIn(home)).toEqual(knownIn(opened))
})

test('its loops survive if only the transcripts are left', async () => {
  const home = oldHome()
  await open(home)
  const { loop: before, iteration } = knownIn(home)
  const ofPaused = (rows: typeof iteration) => rows.filter(({ loop }) => loop === 'paused')
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(home, `ralph.db${suffix}`), { force: true })
  await rebuildIn(home)
  expect(knownIn(home).loop).toEqual(before)
  expect(ofPaused(iteration)).toHaveLength(3)
  expect(ofPaused(knownIn(home).iteration)).toEqual(ofPaused(iteration))
})

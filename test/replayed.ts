/** What a home knows, and whether its facts agree: replayed one by one, and rebuilt from the transcripts. */
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'vitest'
import { rebuild } from '../src/drive/rebuild.ts'
import { type Loop, startLoop } from '../src/engine/loop.ts'
import { step } from '../src/engine/step.ts'
import { upgradeSpec } from '../src/engine/upgrade.ts'
import { openTranscripts } from '../src/host/transcript.ts'
import { remakeTask } from '../src/vault/remake.ts'

type Row = Record<string, unknown>
export type Known = Record<
  'loop' | 'iteration' | 'check_result' | 'event' | 'told' | 'project' | 'task' | 'pane' | 'mail' | 'comment',
  Row[]
>

/**
 * The whole database, except how often a loop was held and by whom, and numbers that only give the order of writing.
 */
export function knownIn(home: string): Known {
  const database = new DatabaseSync(join(home, 'ralph.db'), { readOnly: true, timeout: 5_000 })
  const all = (sql: string) => (database.prepare(sql).all() as Row[]).map(parsed)
  try {
    return {
      loop: all('SELECT * FROM loop ORDER BY id').map(({ epoch: _, holder: __, ...row }) => row),
      iteration: all('SELECT * FROM iteration ORDER BY loop, n'),
      check_result: all('SELECT * FROM check_result ORDER BY loop, iteration, position'),
      event: all('SELECT loop, n, at, fact, next FROM event ORDER BY loop, n'),
      told: all('SELECT * FROM told ORDER BY id'),
      project: all('SELECT * FROM project ORDER BY folder'),
      task: all('SELECT * FROM task ORDER BY vault, id'),
      pane: all('SELECT * FROM pane ORDER BY crew, name'),
      mail: all('SELECT * FROM pane_mail ORDER BY id'),
      comment: all('SELECT * FROM comment ORDER BY id'),
    }
  } finally {
    database.close()
  }
}

const JSON_COLUMNS = new Set(['spec', 'tally', 'next', 'fact', 'order', 'record', 'mail', 'comment'])

/** The order of an object's keys means nothing. */
function parsed(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, JSON_COLUMNS.has(name) ? JSON.parse(String(value)) : value]),
  )
}

/** Every loop from its transcript, fact by fact. */
export function replayedIn(home: string): Loop[] {
  const transcripts = openTranscripts(home)
  return transcripts
    .loops()
    .sort()
    .flatMap((id) => {
      const story = transcripts.story(id)
      if (!story) return []
      const { spec, at, tree, queued } = story.beginning
      const begun = startLoop(id, upgradeSpec(spec), {
        at,
        ...(tree === undefined ? {} : { tree }),
        ...(queued ? { queued } : {}),
      })
      return [JSON.parse(JSON.stringify(story.facts.reduce(step, begun))) as Loop]
    })
}

/**
 * Replaying every loop gives that loop, and rebuilding the database gives that database, with or without the old one.
 */
export async function expectReplayed(home: string): Promise<Known> {
  const before = await expectSame(home, () => rebuildIn(home))
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(home, `ralph.db${suffix}`), { force: true })
  await rebuildIn(home)
  const { told: _, project: __, task: ___, pane: ____, mail: _____, comment: ______, ...moved } = before
  expect(knownIn(home)).toMatchObject(moved)
  return before
}

/** The same with a readable old database, rebuilt by the given function. */
export async function expectSame(home: string, rebuilds: () => Promise<unknown>): Promise<Known> {
  const before = knownIn(home)
  expect(replayedIn(home)).toEqual(before.loop.map(({ id, spec, tally, next }) => ({ id, spec, tally, next })))
  await rebuilds()
  expect(knownIn(home)).toEqual(before)
  return before
}

export function rebuildIn(home: string): Promise<unknown> {
  if (!existsSync(home)) throw new Error(`There is no home ${home}.`)
  return rebuild(home, Date.now, remakeTask)
}

/** "completed", "halted max-iterations" and so on, oldest loop first. */
export function endsOf({ loop }: Known): string[] {
  return loop
    .toSorted((one, other) => Number(one.started_at) - Number(other.started_at))
    .map(({ status, reason }) => (reason === null || reason === status ? String(status) : `${status} ${reason}`))
}

/** The kinds of facts that moved these loops. */
export function kindsOf({ event }: Known): Set<string> {
  return new Set(event.map(({ fact }) => (fact as { kind: string }).kind))
}

/**
 * `kill -9` at many points of `ralph watch --once`, which works on two files of a vault at a time; then `ralph watch`
 * again: every task ends once and in the right folder, no file is lost or duplicated, no iteration counts twice.
 * `RALPH_CRASH_POINTS=50 npx vitest run test/vault-crash.test.ts` tries fifty points, `RALPH_CRASH_SEED=7` draws
 * others; see `crash-points.ts`.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { ended, type Fact, type Loop, startLoop } from '../src/engine/loop.ts'
import { step } from '../src/engine/step.ts'
import { printTaskState } from '../src/formats/task-state.ts'
import { type LocalStore, openStore } from '../src/host/sqlite.ts'
import { resolveSettings } from '../src/vault/settings.ts'
import { historyOf, stateOf } from '../src/vault/telling.ts'
import { askEarly, crashChance, drawPoints, expectSilence, killAt } from './crash-points.ts'
import { carriers, type Line, makePlace, type Place, query } from './ralph.ts'

type Sight = 'event' | 'agent' | 'file'

const points = drawPoints<Sight>(
  crashChance({ runs: 2, seed: 1 }),
  ['time', 'event', 'file', 'agent', 'time', 'event'],
  { event: 20, agent: 14, file: 11 },
)

let undisturbed: object
let undisturbedMs: number

beforeAll(async () => {
  const place = makeVault()
  const begun = performance.now()
  const ran = await place.start(WATCH(place)).ended
  undisturbedMs = performance.now() - begun
  expect(ran).toMatchObject({ code: 1, stderr: '' })
  expect(endsIn(ran.lines).sort()).toEqual(idsThat('completed', 'failed').sort())
  await expectWhole(place)
  undisturbed = resultOf(place)
  expect(callsOf(place).filter((call) => !call.endsWith(' 1'))).toEqual([])
})

describe.concurrent('a vault whose ralph is killed', () => {
  test.for(points)('$name ends as if nothing had happened', { timeout: 120_000 }, async ({ moments }) => {
    const place = makeVault()
    const told: string[] = []
    for (const moment of moments) {
      const going = place.start(WATCH(place))
      await killAt(moment, going, { ms: undisturbedMs, countSeen: (kind) => countSeen(kind, place) })
      told.push(...endsIn(going.lines()))
      await expectSilence(place)
    }
    const ran = await place.start(WATCH(place)).ended
    expect(ran, `${ran.stdout.slice(-3_000)}\n${ran.stderr}`).toMatchObject({ signal: null, stderr: '' })
    expect(ran.end).toMatchObject({ type: 'watch-end' })
    told.push(...endsIn(ran.lines))

    await expectWhole(place)
    expect(resultOf(place)).toEqual(undisturbed)
    expectOnce(told)
    expectOnce(callsOf(place)) // a lost attempt is repeated under the next number
  })
})

/** A step that a shell runs in the vault. */
const sh = (line: string) => ({ shell: ['sh', '-c', line] })
const note = sh('echo "$RALPH_TASK_ID $RALPH_ITERATION $RALPH_ATTEMPT" >> "$LOG"')
// A repeated turn may find its file already there.
const moveTo = (folder: string) =>
  sh(`cd "$RALPH_VAULT"; [ -e ${folder}/"$RALPH_TASK_ID.md" ] || mv "$RALPH_TASK_FILE" ${folder}/`)
const works = sh('echo "$RALPH_ITERATION" > "work-$RALPH_TASK_ID.txt"; sleep 0.03')

type TaskGiven = { head?: string; turns?: object[][]; end: 'completed' | 'waiting_approval' | 'failed' | 'refused' }

const TASKS: Readonly<Record<string, TaskGiven>> = {
  plain: { turns: [[works], [works, moveTo('Done')]], end: 'completed' },
  quick: { turns: [[works, moveTo('Done')]], end: 'completed' },
  checked: {
    head: 'verify: test -e work-checked.txt',
    turns: [[works], [works, moveTo('Done')]],
    end: 'completed',
  },
  // Its file is in Done while its check still fails.
  early: {
    head: 'verify: test -e early.txt',
    turns: [[moveTo('Done')], [works], [sh('touch early.txt')]],
    end: 'completed',
  },
  pay: { turns: [[works], [works, moveTo('Pending_Approval')]], end: 'waiting_approval' },
  hard: { head: 'max_iterations: 2', turns: [[works]], end: 'failed' },
  never: {
    head: 'max_iterations: 2\nverify: test -e never.txt',
    turns: [[works, moveTo('Done')], [works]],
    end: 'failed',
  },
  odd: { head: 'max_iterations: many', end: 'refused' },
}

const idsThat = (...ends: TaskGiven['end'][]) =>
  Object.keys(TASKS).filter((id) => ends.includes(TASKS[id]?.end ?? 'failed'))

const WATCH = ({ root, dir }: Place) => [
  ...['watch', dir, '--agent', `scripted:${root}/script.json`, '--concurrency', '2', '--once', '--json'],
]

function makeVault(): Place {
  const place = makePlace({ git: false })
  place.env.LOG = join(place.root, 'log')
  place.env.RALPH_QUIET_SECONDS = '0.1'
  const tasks = Object.entries(TASKS).map(([id, { turns = [[]] }]) => [id, turns.map((steps) => [note, ...steps])])
  writeFileSync(join(place.root, 'script.json'), JSON.stringify({ tasks: Object.fromEntries(tasks) }))
  mkdirSync(join(place.dir, 'Needs_Action'))
  // Oldest first, and none of them just written.
  for (const [n, [id, { head }]] of Object.entries(TASKS).entries()) {
    const file = join(place.dir, 'Needs_Action', `${id}.md`)
    writeFileSync(file, textOf(id, head))
    utimesSync(file, 1_700_000_000 + n, 1_700_000_000 + n)
  }
  return place
}

function textOf(id: string, head: string | undefined): string {
  return `${head === undefined ? '' : `---\n${head}\n---\n`}Do ${id}.\n`
}

function countSeen(kind: Sight, place: Place): number {
  if (kind === 'agent') return callsOf(place).length
  if (kind === 'event') return askEarly(place, 'SELECT n FROM event').length
  return ['Done', 'Failed', 'Pending_Approval'].flatMap((folder) => namesIn(place, folder)).length
}

/** The turns that an agent has started, as "task iteration attempt". */
function callsOf({ root }: Place): string[] {
  return existsSync(join(root, 'log')) ? readFileSync(join(root, 'log'), 'utf8').trim().split('\n') : []
}

function namesIn({ dir }: Place, folder: string): string[] {
  return existsSync(join(dir, folder)) ? readdirSync(join(dir, folder)).sort() : []
}

function endsIn(lines: readonly Line[]): string[] {
  return lines.flatMap(({ type, task_id }) => (type === 'task-end' ? [String(task_id)] : []))
}

function expectOnce(texts: readonly string[]): void {
  expect(texts.filter((text, index) => texts.indexOf(text) < index)).toEqual([])
}

/** What must be the same however often ralph was killed. */
function resultOf(place: Place): object {
  const loops = query(
    place,
    'SELECT task.id, loop, status, reason, proof, iteration FROM loop JOIN task ON task.loop = loop.id ORDER BY task.id',
  )
  return {
    begun: [...new Set(callsOf(place).map((call) => call.replace(/ \d+$/, '')))].sort(),
    loops: loops.map(({ loop, iteration, ...rest }) => ({
      ...rest,
      turns: Number(iteration) + (endedByItsFile(place, String(loop)) ? 1 : 0),
    })),
  }
}

/** Whether the last turn was lost after it had moved the file to Done: then it is not repeated, and is no iteration. */
function endedByItsFile(place: Place, loop: string): boolean {
  const facts = query(place, 'SELECT fact FROM event WHERE loop = ? ORDER BY n', loop).map(
    ({ fact }) => JSON.parse(String(fact)) as Fact,
  )
  const afterTurns = facts.slice(facts.findLastIndex(({ kind }) => kind === 'turned') + 1)
  return afterTurns.some((fact) => fact.kind === 'told' && fact.order.kind === 'done')
}

/** Every file where it belongs, and every record complete. */
async function expectWhole(place: Place): Promise<void> {
  expectFiles(place)
  const store = openStore(place.home, Date.now)
  try {
    const rows = await store.tasks.list(place.dir)
    expect(rows.map(({ id }) => id).sort()).toEqual(idsThat('completed', 'failed', 'waiting_approval').sort())
    expect((await store.list({ limit: 100 })).rows.map(({ id }) => id).sort()).toEqual(
      rows.map(({ loop }) => loop).sort(),
    )
    for (const { id, loop } of rows) {
      await expectRecord(store, await store.load(loop))
      await expectStateFile(place, store, id)
      expect(carriers(`RALPH_LOOP_ID=${loop}`)).toEqual([])
    }
  } finally {
    await store.close()
  }
}

function expectFiles(place: Place): void {
  const withNotes = (ids: string[]) => ids.flatMap((id) => [`${id}.md`, `${id}.md.why.md`])
  const folders = {
    Needs_Action: [],
    Done: idsThat('completed').map((id) => `${id}.md`),
    Pending_Approval: idsThat('waiting_approval').map((id) => `${id}.md`),
    Failed: withNotes(idsThat('failed', 'refused')),
  }
  for (const [folder, names] of Object.entries(folders)) {
    expect(namesIn(place, folder)).toEqual(names.sort())
    for (const name of names.filter((each) => !each.endsWith('.why.md'))) {
      const id = name.slice(0, -'.md'.length)
      expect(place.read(`${folder}/${name}`)).toBe(textOf(id, TASKS[id]?.head))
    }
  }
  expect(place.read('Failed/hard.md.why.md')).toContain('Reached the limit of 2 iterations.')
  expect(place.read('Failed/odd.md.why.md')).toContain('max_iterations must be')
  // What a killed process left half-written is removed when its task ends.
  const isOpen = (name: string) => idsThat('waiting_approval').some((id) => name.startsWith(`.${id}.`))
  const halves = namesIn(place, 'Ralph_State').filter((name) => name.endsWith('.tmp'))
  expect(halves.filter((name) => !isOpen(name))).toEqual([])
  expect(namesIn(place, 'Ralph_State/.hook').filter((name) => !isOpen(name))).toEqual(idsThat('waiting_approval'))
}

/** The facts of a loop give the stored loop, and its transcript has them as well. */
async function expectRecord(store: LocalStore, loop: Loop): Promise<void> {
  const events = await store.events(0, loop.id)
  expect(events.map(({ n }) => n)).toEqual(events.map((_, index) => index + 1))
  const story = store.transcripts.story(loop.id)
  if (!story) throw new Error(`Loop ${loop.id} has no transcript.`)
  const { spec, at, tree } = story.beginning
  const begun = startLoop(loop.id, spec, { at, ...(tree === undefined ? {} : { tree }) })
  const facts = events.map(({ fact }) => fact)
  expect(facts.reduce(step, begun)).toEqual(loop)
  expect(facts.slice(0, story.facts.length)).toEqual(story.facts)
  // The fact that ends a loop may be missing there until the database is rebuilt: nothing resumes an ended loop.
  expect(facts.length - story.facts.length).toBeLessThanOrEqual(ended(loop) ? 1 : 0)
  const iterations = await store.iterations(loop.id)
  expect(iterations.map(({ n }) => n)).toEqual(iterations.map((_, index) => index + 1))
  expect(iterations).toHaveLength(loop.tally.iteration)
}

async function expectStateFile({ dir: vault, home, env }: Place, store: LocalStore, id: string): Promise<void> {
  const settings = resolveSettings({}, { env, home, vault })
  const desk = { vault, home, env, settings, store, now: Date.now, note: () => {}, histories: new Map() }
  const row = await store.tasks.load(vault, id)
  if (!row) throw new Error(`The store does not know ${id}.`)
  const loop = await store.load(row.loop)
  const told = printTaskState(stateOf(loop, row, await historyOf(desk, loop)))
  expect(readFileSync(join(vault, settings.stateDir, `${id}.json`), 'utf8')).toBe(told)
}

import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as breathe } from 'node:timers/promises'
import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { iterationsOver, TASK_STATUSES, type TaskState, type VaultStatus } from '../formats/task-state.ts'
import { drawChance } from '../host/chance.test-support.ts'
import { eventually } from '../host/place.test-support.ts'
import { type LocalStore, openStore } from '../host/sqlite.ts'
import { type Answer, type Caller, type Method, startCaller } from './callers.test-support.ts'
import { statusOfTask, TRANSITIONS } from './lifecycle.ts'
import { MINUTE, openVault, START, type Vault, work } from './vault.test-support.ts'

const { runs, seed } = drawChance({ runs: 20 })
const TIME_LIMIT = 60_000 + runs * 10_000

type Folder = 'Needs_Action' | 'Done' | 'Pending_Approval' | 'In_Progress' | 'nowhere'

/** What one of the callers does, or what happens around them. */
type Deed =
  | { by: number; method: Method }
  | { kind: 'file'; to: Folder }
  | { kind: 'clock'; minutes: number }
  /** Nothing more happens until all callers have finished their calls. */
  | { kind: 'calm' }

const METHODS: readonly (readonly [weight: number, Method])[] = [
  [24, 'incrementIteration'],
  [3, 'updateProgress'],
  [3, 'completeTask'],
  [5, 'approveTask'],
  [2, 'getTaskState'],
  [1, 'checkTaskComplete'],
  [2, 'rejectTask'],
  [1, 'handleTimeout'],
  [1, 'handleMaxIterations'],
  [2, 'startTask'],
  [1, 'listTasks'],
]

const anyFolder = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom<Folder>('Needs_Action', 'Pending_Approval') },
  { weight: 2, arbitrary: fc.constantFrom<Folder>('Done', 'In_Progress') },
  { weight: 1, arbitrary: fc.constant<Folder>('nowhere') },
)

const anyDeed: fc.Arbitrary<Deed> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      by: fc.nat({ max: 3 }),
      method: fc.oneof(...METHODS.map(([weight, name]) => ({ weight, arbitrary: fc.constant(name) }))),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('file'), to: anyFolder }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('clock'), minutes: fc.constantFrom(1, 2, 5, -3, 40) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('calm') }) },
)

const anyStory = fc.array(anyDeed, { minLength: 30, maxLength: 90 })

let callers: Caller[] = []

beforeAll(() => {
  callers = Array.from({ length: 4 }, startCaller)
})

test(
  `whatever four processes do with one task, it takes legal steps and every iteration counts once (RALPH_TEST_SEED=${seed})`,
  async () => {
    await fc.assert(
      // A watcher also repairs the state file, so some stories have none.
      fc.asyncProperty(anyStory, fc.boolean(), async (story, isWatched) => {
        const scene = await openScene(callers)
        const watching = isWatched ? watch(scene) : undefined
        for (const deed of story) await perform(scene, deed)
        const answers = (await Promise.all(callers.map((caller) => caller.done()))).flat()
        const seen = (await watching?.stop()) ?? []

        expect(answers.filter(({ code }) => code !== undefined && !EXPECTED.includes(code))).toEqual([])
        mustBeLegal(seen)
        expect(counted(answers)).toEqual(await inDatabase(scene))
        await mustAgree(scene)
        await scene.store.close()
      }),
      { numRuns: runs, seed, endOnFailure: true },
    )
  },
  TIME_LIMIT,
)

test(
  'a process that is killed in the middle loses nothing, and holds nobody up',
  async () => {
    const victim = startCaller()
    const all = [victim, ...callers.slice(1)]
    const scene = await openScene(all, 400)
    const watching = watch(scene)
    for (let n = 0; n < 60; n++) for (const caller of all) caller.call('incrementIteration', work('a'))
    await eventually(() => victim.answers().length >= 5, 60_000)
    process.kill(victim.pid, 'SIGKILL')
    await victim.ended
    const answers = (await Promise.all(all.slice(1).map((caller) => caller.done()))).flat()
    const seen = await watching.stop()

    expect(answers.filter(({ method, code }) => code !== undefined && method !== 'startTask')).toEqual([])
    mustBeLegal(seen)
    const known = counted([...answers, ...victim.answers()])
    const kept = await inDatabase(scene)
    // One may have been saved although its answer never got out.
    expect(kept.length - known.length).toBeLessThanOrEqual(1)
    expect(kept).toEqual(expect.arrayContaining(known))
    expect(kept).toEqual(kept.map((_, index) => index + 1))
    await mustAgree(scene, `.${victim.pid}.`)
    await scene.store.close()
  },
  TIME_LIMIT,
)

/** A bug, or a lease that nobody got, is none of them. */
const EXPECTED = ['task-state', 'task-limit', 'task-timeout', 'task-unknown', 'input-invalid', 'file-unusable']

type Scene = { vault: Vault; store: LocalStore; callers: Caller[]; clock: string }

/** A vault whose task all callers start at once. */
async function openScene(who: Caller[], most = 15): Promise<Scene> {
  const vault = openVault([])
  vault.put('Needs_Action/a.md', `---\nmax_iterations: ${most}\n---\nDo it.\n`)
  const clock = join(vault.home, 'clock')
  writeFileSync(clock, String(START))
  for (const caller of who) {
    caller.open({ path: vault.path, home: vault.home, clock })
    caller.call('startTask', inputOf('startTask'))
  }
  await Promise.all(who.map((caller) => caller.done()))
  return { vault, store: openStore(vault.home, () => vault.clock.now), callers: who, clock }
}

async function perform({ vault, callers: who, clock }: Scene, deed: Deed): Promise<void> {
  if ('by' in deed) return who[deed.by]?.call(deed.method, inputOf(deed.method))
  switch (deed.kind) {
    case 'file':
      return moveFile(vault, deed.to)
    case 'clock':
      vault.clock.now += deed.minutes * MINUTE
      writeFileSync(`${clock}.new`, String(vault.clock.now))
      return renameSync(`${clock}.new`, clock)
    case 'calm':
      await Promise.all(who.map((caller) => caller.done()))
  }
}

function inputOf(method: Method): unknown {
  switch (method) {
    case 'startTask':
      return { task_file: 'Needs_Action/a.md' }
    case 'incrementIteration':
      return work('a')
    case 'updateProgress':
      return { task_id: 'a', steps_total: 4, steps_completed: 2, current_step: 'x' }
    default:
      return 'a'
  }
}

/** From wherever it is. If it is nowhere, it is written again. */
function moveFile(vault: Vault, to: Folder): void {
  const from = readdirSync(vault.path).find((folder) => vault.has(`${folder}/a.md`))
  try {
    if (to === 'nowhere') rmSync(join(vault.path, `${from}/a.md`), { force: true })
    else if (from === undefined) vault.put(`${to}/a.md`)
    else vault.move(`${from}/a.md`, `${to}/a.md`)
  } catch (cause) {
    if (existsSync(join(vault.path, `${from}/a.md`))) throw cause // otherwise ralph has moved it meanwhile
  }
}

type Seen = { loop: string; state: TaskState }

/** Looks at the task without a break, as another program would. */
function watch({ vault, store }: Scene): { stop(): Promise<Seen[]> } {
  const seen: Seen[] = []
  let on = true
  const loopNow = async () => (await store.tasks.load(vault.path, 'a'))?.loop
  const looking = (async () => {
    while (on) {
      const loop = await loopNow()
      if (loop !== undefined) {
        const state = await vault.ralph.getTaskState('a')
        if (loop === (await loopNow())) seen.push({ loop, state })
      }
      await breathe()
    }
  })()
  return {
    async stop() {
      on = false
      await looking
      return seen
    },
  }
}

/** Each step is one of the table, or several of them at once. */
function mustBeLegal(seen: readonly Seen[]): void {
  for (const [index, { loop, state }] of seen.entries()) {
    const numbers = state.iterations_history.map(({ iteration }) => iteration)
    expect(numbers).toEqual(Array.from({ length: iterationsOver(state) }, (_, n) => n + 1))
    const before = seen[index - 1]
    if (before?.loop !== loop) continue
    expect(`${before.state.status} to ${state.status}: ${canBecome(before.state.status, state.status)}`).toMatch(
      /true$/,
    )
    expect(iterationsOver(state)).toBeGreaterThanOrEqual(iterationsOver(before.state))
    if (TRANSITIONS[state.status].length === 0 && state.status === before.state.status)
      expect(state.iteration).toBe(before.state.iteration)
  }
}

function canBecome(from: VaultStatus, to: VaultStatus, seen: readonly VaultStatus[] = []): boolean {
  return from === to || TRANSITIONS[from].some((next) => !seen.includes(next) && canBecome(next, to, [...seen, next]))
}

test('the watcher knows which steps are legal', () => {
  const legal = TASK_STATUSES.filter((to) => canBecome('waiting_approval', to))
  expect(legal).toEqual(TASK_STATUSES.filter((status) => status !== 'initializing'))
  expect(TASK_STATUSES.filter((to) => canBecome('completed', to))).toEqual(['completed'])
})

/** The numbers returned to the callers that counted. */
function counted(answers: readonly Answer[]): number[] {
  return answers
    .filter(({ method, code }) => method === 'incrementIteration' && code === undefined)
    .map(({ value }) => Number(value?.iteration))
    .toSorted((a, b) => a - b)
}

/** The numbers of the iterations of all its loops. */
async function inDatabase({ vault, store }: Scene): Promise<number[]> {
  const { rows: loops } = await store.list({ dir: vault.path })
  const numbers = await Promise.all(loops.map(async ({ id }) => (await store.iterations(id)).map(({ n }) => n)))
  return numbers.flat().toSorted((a, b) => a - b)
}

/** The state file matches the database. Only a process that was killed may have left something half written. */
async function mustAgree({ vault, store }: Scene, killed?: string): Promise<void> {
  const row = await store.tasks.load(vault.path, 'a')
  if (!row) return
  const loop = await store.load(row.loop)
  const state = vault.written('a')
  const { status, progress, iterations_history: history } = state
  expect([status, iterationsOver(state)]).toEqual([statusOfTask(loop, row.record), loop.tally.iteration])
  expect(progress.steps_total).toBe(row.record.progress?.total ?? 0)
  expect(history.length).toBe(iterationsOver(state))
  const left = vault.names('Ralph_State').filter((name) => name.endsWith('.tmp'))
  expect(left.filter((name) => killed === undefined || !name.includes(killed))).toEqual([])
}

import { mkdirSync, readFileSync, renameSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { Fact, Loop, Turn } from '../engine/loop.ts'
import { printBriefing } from '../formats/briefing.ts'
import { parseTaskState } from '../formats/task-state.ts'
import { temporaryFolder } from '../host/place.test-support.ts'
import { openStore } from '../host/sqlite.ts'
import { putAway } from './approval.ts'
import { gatherBriefing } from './briefing.ts'
import type { VaultDesk } from './desk.ts'
import { moveTask } from './moving.ts'
import { RalphWiggum } from './ralph-wiggum.ts'
import { resolveSettings } from './settings.ts'
import { startTask } from './tasks.ts'
import { vaultOf } from './vault-task.ts'
import { judgeByPlace } from './where.ts'

const MINUTE = 60_000
/** In the future, so that files existed before what their tasks report. */
const START = Date.UTC(2036, 0, 15, 10)

let vault: string
let home: string
let now: number
let desk: VaultDesk
let ralph: RalphWiggum

beforeEach(() => {
  vault = temporaryFolder()
  home = temporaryFolder()
  now = START
  for (const folder of ['Needs_Action', 'Done', 'Pending_Approval']) mkdirSync(join(vault, folder))
  const settings = resolveSettings({}, { env: {}, home, vault })
  const store = openStore(home, () => now)
  desk = { vault, settings, store, home, env: {}, now: () => now, note: () => {}, histories: new Map() }
  ralph = new RalphWiggum({ vaultPath: vault, home, env: {}, now: () => now })
  onTestFinished(async () => {
    await ralph.close()
    await store.close()
  })
})

function put(name: string): string {
  const path = join(vault, 'Needs_Action', name)
  writeFileSync(path, 'Do it.\n')
  utimesSync(path, START / 1_000, START / 1_000)
  return path
}

function move(file: string, folder: string, from = 'Needs_Action'): void {
  renameSync(join(vault, from, file), join(vault, folder, file))
}

async function begin(name: string, options: { max_iterations?: number } = {}, by = ralph): Promise<string> {
  return (await by.startTask({ task_file: put(`${name}.md`), ...options })).task_id
}

async function iterate(task_id: string, seconds = 60, by = ralph): Promise<void> {
  await by.incrementIteration({ task_id, action: 'Work', result: 'success', duration_seconds: seconds })
}

/** A task that ralph's own agent works on. */
async function watched(name: string): Promise<Loop> {
  const crew = () => ({ work: { agent: 'claude' }, limits: { noProgress: 3, sameError: 5 } })
  return startTask(desk, { file: put(`${name}.md`), by: 'watch', crew })
}

async function turn(loop: Loop, change: Partial<Turn> = {}): Promise<void> {
  const told: Turn = { end: 'ok', claim: { kind: 'none' }, words: 'x', ranTests: false, tokens: 0, ...change }
  const fact: Fact = { kind: 'turned', at: now, turn: judgeByPlace(vaultOf(loop), told) }
  await moveTask(desk, { loop: loop.id }, (step) => step(fact))
}

test('a vault without tasks has nothing to report', async () => {
  const { completed, stuck, waiting, in_progress, next_actions, spent } = await gatherBriefing(desk, now - MINUTE)
  expect({ completed, stuck, waiting, in_progress, next_actions }).toEqual({
    completed: [],
    stuck: [],
    waiting: [],
    in_progress: [],
    next_actions: [],
  })
  expect(spent).toEqual({ iterations: 0, working_seconds: 0, tokens: null, cost_usd: null, tasks_without_cost: 0 })
})

test('shows the state of each task, and what to do first', async () => {
  const done = await begin('done')
  await iterate(done, 90)
  move('done.md', 'Done')
  await iterate(done, 30)
  const stuck = await begin('stuck', { max_iterations: 1 })
  await iterate(stuck)
  const asks = await begin('asks')
  move('asks.md', 'Pending_Approval')
  await iterate(asks)
  await begin('working')
  await ralph.updateProgress({ task_id: 'working', steps_total: 4, steps_completed: 1, current_step: 'Begin' })
  put('later.md')
  writeFileSync(join(vault, 'Needs_Action', '.hidden'), 'x')
  mkdirSync(join(vault, 'Needs_Action', 'folder'))

  now += MINUTE
  const briefing = await gatherBriefing(desk, START)
  const loops = new Map((await desk.store.tasks.list(vault)).map(({ id, loop }) => [id, loop]))
  expect(briefing).toEqual({
    vault,
    since: '2036-01-15T10:00:00Z',
    until: '2036-01-15T10:01:00Z',
    completed: [
      {
        task_id: 'done',
        loop_id: loops.get('done'),
        completed_at: '2036-01-15T10:00:00Z',
        iterations: 2,
        working_seconds: 120,
        proof: 'claimed',
        proof_sentence: 'There is no check, so the agent is taken at its word.',
        findings: [],
        cost_usd: null,
      },
    ],
    stuck: [
      {
        task_id: 'stuck',
        loop_id: loops.get('stuck'),
        status: 'max_iterations_reached',
        stopped_at: '2036-01-15T10:00:00Z',
        why: 'Reached the limit of 1 iteration.',
        file: 'Needs_Action/stuck.md',
        advice: 'To try it again:',
        command: `ralph task start --vault ${vault} Needs_Action/stuck.md`,
      },
    ],
    stuck_before: 0,
    waiting: [
      {
        task_id: 'asks',
        loop_id: loops.get('asks'),
        since: '2036-01-15T10:00:00Z',
        question: 'asks.md is waiting in Pending_Approval for your approval.',
        approve: `ralph task approve --vault ${vault} asks`,
        reject: `ralph task reject --vault ${vault} asks`,
      },
    ],
    in_progress: [
      {
        task_id: 'working',
        loop_id: loops.get('working'),
        iteration: 1,
        max_iterations: 10,
        timeout_at: '2036-01-15T10:30:00Z',
        percentage: 25,
        current_step: 'Begin',
      },
    ],
    new: [{ file: 'later.md', since: '2036-01-15T10:00:00Z' }],
    spent: { iterations: 4, working_seconds: 240, tokens: null, cost_usd: null, tasks_without_cost: 3 },
    next_actions: [
      { text: 'Approve or reject asks:', command: `ralph task approve --vault ${vault} asks` },
      { text: 'See why stuck stopped:', command: `ralph show ${loops.get('stuck')}` },
      { text: 'Start 1 new task:', command: `ralph watch ${vault}` },
    ],
  })
  expect(printBriefing(briefing)).toContain('- **asks**, since 2036-01-15 10:00 UTC')
})

test('the loops of a task that was started again count, but only the newest can be stuck', async () => {
  await begin('again', { max_iterations: 1 })
  await iterate('again', 10)
  now += MINUTE
  await begin('again', { max_iterations: 1 })
  await iterate('again', 20)
  now += MINUTE
  await begin('again')
  move('again.md', 'Done')
  await iterate('again', 30)
  const { completed, stuck, spent } = await gatherBriefing(desk, START)
  expect(completed.map(({ task_id, iterations }) => [task_id, iterations])).toEqual([['again', 1]])
  expect(stuck).toEqual([])
  expect(spent).toMatchObject({ iterations: 3, working_seconds: 60 })
})

test("shows what ralph's own agents used, and what nobody works on", async () => {
  const loop = await watched('report')
  now += 2 * MINUTE
  await turn(loop, { tokens: 1_000, costUsd: 0.25 })
  await begin('other')
  await iterate('other', 5)
  const { spent, in_progress, next_actions } = await gatherBriefing(desk, START)
  expect(spent).toEqual({
    iterations: 2,
    working_seconds: 125,
    tokens: 1_000,
    cost_usd: 0.25,
    tasks_without_cost: 1,
  })
  expect(in_progress.map(({ task_id }) => task_id)).toEqual(['report', 'other'])
  expect(next_actions).toEqual([{ text: 'Resume 1 task that nobody is working on:', command: `ralph watch ${vault}` }])
})

test('only what happened in the span counts, but what waits or is stuck is not forgotten', async () => {
  const old = await begin('old', { max_iterations: 1 })
  await iterate(old)
  const asks = await begin('asks')
  move('asks.md', 'Pending_Approval')
  await iterate(asks)
  now += 60 * MINUTE
  const { stuck, stuck_before, waiting, spent, next_actions } = await gatherBriefing(desk, now - MINUTE)
  expect({ stuck, stuck_before, asking: waiting.length, iterations: spent.iterations }).toEqual({
    stuck: [],
    stuck_before: 1,
    asking: 1,
    iterations: 0,
  })
  expect(next_actions.at(-1)).toEqual({
    text: 'Review 1 older task that stopped:',
    command: `ralph task list --vault ${vault}`,
  })
})

test('a timed-out task is shown as such, and its file says so too', async () => {
  await begin('slow')
  now += 31 * MINUTE
  const { stuck } = await gatherBriefing(desk, START)
  expect(stuck).toMatchObject([{ task_id: 'slow', status: 'timeout', why: 'Reached the time limit of 30 minutes.' }])
  expect(parseTaskState(readFileSync(join(vault, 'Ralph_State/slow.json'), 'utf8'))?.status).toBe('timeout')
})

test.each<[where: string, settle: () => void, expected: object]>([
  [
    'in Failed',
    () => {
      mkdirSync(join(vault, 'Failed'))
      move('x.md', 'Failed')
    },
    { file: 'Failed/x.md', advice: 'To try it again, move it back:', command: expect.stringMatching(/^mv /) },
  ],
  ['in Done', () => move('x.md', 'Done'), { file: 'Done/x.md', advice: 'Nothing is left to do.', command: null }],
  [
    'nowhere',
    () => renameSync(join(vault, 'Needs_Action/x.md'), join(home, 'x.md')),
    { file: null, advice: expect.stringContaining('put it in Needs_Action'), command: null },
  ],
])('a stuck task whose file is %s can be resumed', async (_, settle, expected) => {
  await begin('x', { max_iterations: 1 })
  await iterate('x')
  settle()
  expect((await gatherBriefing(desk, START)).stuck).toMatchObject([expected])
})

test.each<[what: string, head: string, expected: object, actions: string[]]>([
  ['without checks is left', '', { advice: 'Nothing is left to do.', command: null }, []],
  [
    'with checks that never passed is not',
    '---\nverify: false\n---\n',
    { advice: 'Its checks never passed:', command: expect.stringMatching(/^ralph show \w+$/) },
    ['See why x stopped:'],
  ],
])('nothing to do for a stopped task in Done: one %s', async (_, head, expected, actions) => {
  writeFileSync(put('x.md'), `${head}Do it.\n`)
  await ralph.startTask({ task_file: 'Needs_Action/x.md', max_iterations: 1 })
  if (head) move('x.md', 'Done')
  await iterate('x')
  if (!head) move('x.md', 'Done')
  const { stuck, next_actions } = await gatherBriefing(desk, START)
  expect(stuck).toMatchObject([{ file: 'Done/x.md', status: 'max_iterations_reached', ...expected }])
  expect(next_actions.map(({ text }) => text)).toEqual(actions)
})

test('a task whose name looks like an option can be answered as it is printed', async () => {
  const loop = await watched('-x')
  await turn(loop, { ask: { kind: 'person', words: 'Red or blue?' } })
  const { waiting } = await gatherBriefing(desk, START)
  expect(waiting).toMatchObject([
    {
      approve: `ralph task approve --vault ${vault} --note '…' -- -x`,
      reject: `ralph task reject --vault ${vault} -- -x`,
    },
  ])
})

test('a task whose file is missing needs no answer in words', async () => {
  const loop = await watched('x')
  renameSync(join(vault, 'Needs_Action/x.md'), join(home, 'x.md'))
  await turn(loop)
  const { waiting } = await gatherBriefing(desk, START)
  expect(waiting).toMatchObject([{ approve: `ralph task approve --vault ${vault} x` }])
})

describe('a file in Needs_Action', () => {
  const fresh = async () => (await gatherBriefing(desk, START)).new.map(({ file }) => file)

  test('that is empty is not a new task', async () => {
    writeFileSync(join(vault, 'Needs_Action', 'empty.md'), '')
    expect(await fresh()).toEqual([])
  })

  test('that was only copied to Done is not a new task', async () => {
    await begin('x')
    writeFileSync(join(vault, 'Done', 'x.md'), 'Do it.\n')
    await iterate('x')
    expect(await fresh()).toEqual([])
  })

  test('that arrived after its task ended is one', async () => {
    now = Date.UTC(2026, 0, 15)
    await begin('x', { max_iterations: 1 })
    await iterate('x')
    expect(await fresh()).toEqual(['x.md'])
  })

  test('with the name of another task is not one', async () => {
    await begin('x')
    put('x.txt')
    expect(await fresh()).toEqual([])
  })
})

describe('a file that was refused', () => {
  const refuse = (file: string, at: number) => {
    put(file)
    const from = `Needs_Action/${file}`
    const place = putAway(vault, {
      file,
      from,
      place: from,
      kind: 'refused',
      title: `${file} was not started`,
      why: `${file}: priority is wrong.`,
      facts: [],
    })
    utimesSync(join(vault, `${place}.why.md`), at / 1_000, at / 1_000)
  }

  test('is shown with its reason and what to do', async () => {
    refuse('old.md', START - MINUTE)
    refuse('bad.md', START + MINUTE)
    refuse('bad.md', START + MINUTE)
    const { stuck, next_actions } = await gatherBriefing(desk, START)
    const command = (name: string) => `mv ${vault}/Failed/${name} ${vault}/Needs_Action/bad.md`
    const told = { task_id: 'bad', loop_id: null, status: 'refused', stopped_at: '2036-01-15T10:01:00Z' }
    const advice = 'To try it again, fix that and move it back:'
    expect(stuck).toEqual(
      ['bad-2.md', 'bad.md'].map((name) => ({
        ...told,
        why: 'bad.md: priority is wrong.',
        file: `Failed/${name}`,
        advice,
        command: command(name),
      })),
    )
    expect(next_actions).toEqual(
      ['bad-2.md', 'bad.md'].map((name) => ({
        text: `Fix Failed/${name}, then move it back:`,
        command: command(name),
      })),
    )
    expect(printBriefing(await gatherBriefing(desk, START))).toContain('- **bad** (refused): bad.md: priority')
  })

  test('is no longer shown after it was moved back', async () => {
    refuse('bad.md', START)
    move('bad.md', 'Needs_Action', 'Failed')
    const { stuck, new: fresh } = await gatherBriefing(desk, START)
    expect([stuck, fresh.map(({ file }) => file)]).toEqual([[], ['bad.md']])
  })

  test('is known by the head of its note alone', async () => {
    refuse('bad.md', START)
    const note = join(vault, 'Failed', 'bad.md.why.md')
    writeFileSync(note, readFileSync(note, 'utf8').replace('# bad.md was not started', '# Mine'))
    put('mine.md')
    move('mine.md', 'Failed')
    writeFileSync(join(vault, 'Failed', 'mine.md.why.md'), '# mine.md was not started\n\nI said so.\n')
    expect((await gatherBriefing(desk, 0)).stuck).toMatchObject([
      { task_id: 'bad', status: 'refused', why: 'bad.md: priority is wrong.' },
    ])
  })

  test('is different from a task that failed', async () => {
    await begin('x')
    move('x.md', 'Pending_Approval')
    await iterate('x')
    await ralph.rejectTask('x')
    expect((await gatherBriefing(desk, 0)).stuck).toMatchObject([{ task_id: 'x', status: 'failed' }])
  })
})

describe('tasks that another ralph keeps in its own home', () => {
  let otherHome: string
  let other: RalphWiggum

  beforeEach(() => {
    otherHome = temporaryFolder()
    other = new RalphWiggum({ vaultPath: vault, home: otherHome, env: {}, now: () => now })
    onTestFinished(() => other.close())
  })

  test('are shown as far as their state files know them', async () => {
    await begin('done', {}, other)
    await begin('stuck', { max_iterations: 1 }, other)
    await begin('asks', {}, other)
    await begin('working', {}, other)
    now += MINUTE
    move('done.md', 'Done')
    await iterate('done', 5, other)
    await iterate('stuck', 5, other)
    move('asks.md', 'Pending_Approval')
    await iterate('asks', 5, other)
    const briefing = await gatherBriefing(desk, START)
    const at = '2036-01-15T10:01:00Z'
    const there = `RALPH_HOME=${otherHome} ralph task`
    const command = `ralph task start --vault ${vault} Needs_Action/stuck.md`
    expect(briefing).toMatchObject({
      completed: [
        {
          task_id: 'done',
          loop_id: null,
          completed_at: at,
          iterations: 1,
          working_seconds: 60,
          proof: null,
          cost_usd: null,
        },
      ],
      stuck: [
        {
          task_id: 'stuck',
          loop_id: null,
          status: 'max_iterations_reached',
          stopped_at: at,
          why: 'Another ralph worked on it.',
          file: 'Needs_Action/stuck.md',
          command,
        },
      ],
      waiting: [
        {
          task_id: 'asks',
          loop_id: null,
          question: 'asks.md is waiting in Pending_Approval for your approval.',
          since: at,
          approve: `${there} approve --vault ${vault} asks`,
          reject: `${there} reject --vault ${vault} asks`,
        },
      ],
      in_progress: [{ task_id: 'working', loop_id: null, iteration: 0, max_iterations: 10, percentage: null }],
      new: [],
      spent: { iterations: 3, working_seconds: 180, tokens: null, cost_usd: null, tasks_without_cost: 3 },
      next_actions: [
        { text: 'Approve or reject asks:', command: `${there} approve --vault ${vault} asks` },
        { text: 'Retry stuck, which stopped under another ralph:', command },
      ],
    })
    expect(printBriefing(briefing)).toContain('| done | 1 | 1 min 0 s | unknown | unknown |')
  })

  test('that ended before the span are counted or left out', async () => {
    await begin('done', {}, other)
    await begin('stuck', { max_iterations: 1 }, other)
    move('done.md', 'Done')
    await iterate('done', 5, other)
    await iterate('stuck', 5, other)
    now += 60 * MINUTE
    const { completed, stuck, stuck_before, spent } = await gatherBriefing(desk, now - MINUTE)
    expect({ completed, stuck, stuck_before }).toEqual({ completed: [], stuck: [], stuck_before: 1 })
    expect(spent).toMatchObject({ iterations: 0, working_seconds: 0, tasks_without_cost: 0 })
  })

  test('say why they failed through the note next to the file', async () => {
    await begin('x', {}, other)
    move('x.md', 'Pending_Approval')
    await iterate('x', 5, other)
    await other.rejectTask({ task_id: 'x', reason: 'too dear' })
    const { stuck } = await gatherBriefing(desk, START)
    expect(stuck).toMatchObject([
      {
        why: 'You rejected it: too dear.',
        file: 'Failed/x.md',
        command: expect.stringMatching(/^mv /),
      },
    ])
  })

  test('count even if this ralph knows an earlier one of the same name', async () => {
    await begin('x', { max_iterations: 1 })
    await iterate('x')
    now += MINUTE
    await begin('x', {}, other)
    const { stuck, in_progress, new: fresh } = await gatherBriefing(desk, START)
    expect({ stuck, fresh, working: in_progress.map(({ loop_id }) => loop_id) }).toEqual({
      stuck: [],
      fresh: [],
      working: [null],
    })
  })

  test('are no longer theirs once this ralph has restarted them', async () => {
    await begin('x', { max_iterations: 1 }, other)
    await iterate('x', 5, other)
    now += MINUTE
    await begin('x')
    const { stuck, in_progress } = await gatherBriefing(desk, START)
    expect({ stuck, working: in_progress.length }).toEqual({ stuck: [], working: 1 })
    expect(in_progress[0]?.loop_id).not.toBeNull()
  })
})

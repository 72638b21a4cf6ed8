/**
 * `kill -9` at many points of a project with three agents in parallel and a merge conflict among its tasks; then `ralph
 * execute` again: every task is completed once, every commit is on the branch, nothing is left behind.
 * `RALPH_CRASH_POINTS=50 npx vitest run test/project-crash.test.ts` tries fifty points, `RALPH_CRASH_SEED=7` draws
 * others; see `crash-points.ts`.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { crashChance, generator } from './crash-points.ts'
import {
  commit,
  done,
  edit,
  entriesOf,
  execute,
  makeProject as makeShop,
  startExecute,
  statuses,
} from './project-place.ts'
import { carriers, makePlace, type Place, query, until } from './ralph.ts'

const { runs, seed } = crashChance({ runs: 2, seed: 1 })

/** Killed when this much of an undisturbed execution's output has been printed, and a moment later. */
type Moment = { share: number; thenMs: number }

// Every fourth project is killed a second time.
const points = drawPoints()

let undisturbed = 0

beforeAll(async () => {
  const place = makeProject()
  const ran = await place.ralph(EXECUTE)
  expect(ran).toMatchObject({ code: 0, end: { reason: 'completed' } })
  expectWhole(place)
  undisturbed = ran.lines.length
})

describe.concurrent('a project whose ralph is killed', () => {
  test.for(points)('$name ends as if nothing had happened', { timeout: 120_000 }, async ({ moments }) => {
    const place = makeProject()
    for (const { share, thenMs } of moments) {
      const going = place.start(EXECUTE)
      let over = false
      const end = going.ended.then(
        () => (over = true),
        () => (over = true), // the last line may be cut off
      )
      while (!over && going.stdout().split('\n').length < share * undisturbed) await sleep(2)
      await sleep(thenMs)
      going.child.kill('SIGKILL')
      await end
    }
    const ran = await place.ralph(EXECUTE)
    expect(ran, `${ran.stdout.slice(-3_000)}\n${ran.stderr}`).toMatchObject({ code: 0, end: { reason: 'completed' } })
    expectWhole(place)
  })
})

const EXECUTE = [
  'execute',
  'shop',
  '--parallel',
  '3',
  '--agent',
  'scripted:../script.json',
  '--verify',
  'test -f shared.txt',
  '--json',
]

const TASKS: Readonly<Record<string, string[]>> = {
  T1: [],
  T2: [],
  T3: [],
  T4: ['T1', 'T2'],
  T5: ['T3'],
  T6: ['T4', 'T5'],
}

/** Each task writes its own file; the first two also add a line in the same place, which causes a merge conflict. */
function makeProject(): Place {
  const place = makePlace()
  place.write('shared.txt', 'start\n')
  git(place, 'add', '--all')
  git(place, 'commit', '--quiet', '--message', 'first')
  const tasks = Object.entries(TASKS).map(([id, dependencies]) => ({ id, title: `Thing ${id}`, dependencies }))
  place.write('.artefacts/shop/tasks.json', JSON.stringify({ project_name: 'shop', version: 1, tasks }))
  place.write('.artefacts/shop/spec.md', '# shop\n')
  const add = (line: string) => ({ shell: ['sh', '-c', `grep -qx ${line} shared.txt || echo ${line} >> shared.txt`] })
  const turns = (id: string) => [
    [
      { edit: { path: `${id}.txt`, content: `${id}\n` } },
      ...(id === 'T1' || id === 'T2' ? [add(id)] : []),
      { sleep: 0.05 },
      { report: { status: 'completed', summary: `made ${id}` } },
    ],
  ]
  const both = {
    shell: ['sh', '-c', String.raw`printf 'start\nT1\nT2\n' > shared.txt; git add --all; git commit --no-edit --quiet`],
  }
  const merges = { 'T1/merge': [[both]], 'T2/merge': [[both]] }
  const script = { tasks: { ...Object.fromEntries(Object.keys(TASKS).map((id) => [id, turns(id)])), ...merges } }
  place.write('../script.json', JSON.stringify(script))
  return place
}

function git({ dir, env }: Place, ...args: string[]): string {
  return execFileSync('git', args, { cwd: dir, env, encoding: 'utf8' }).trim()
}

function expectWhole(place: Place): void {
  const ids = Object.keys(TASKS)
  const { tasks } = JSON.parse(place.read('.artefacts/shop/tasks.json'))
  expect(tasks).toEqual(
    ids.map((id) => expect.objectContaining({ id, status: 'completed', attempts: 1, blocked: false })),
  )
  const entries: { task_id: string; status: string; iteration: number }[] = JSON.parse(
    place.read('.artefacts/shop/state.json'),
  )
  const completed = entries.filter(({ status }) => status === 'completed').map(({ task_id }) => task_id)
  expect(completed.sort()).toEqual(ids)
  expect(new Set(entries.map(({ iteration }) => iteration)).size).toBe(entries.length)
  const subjects = git(place, 'log', '--format=%s').split('\n')
  for (const id of ids) expect(subjects.filter((subject) => subject === `${id}: Thing ${id}`)).toHaveLength(1)
  for (const id of ids) expect(place.read(`${id}.txt`)).toBe(`${id}\n`)
  expect(place.read('shared.txt')).toBe('start\nT1\nT2\n')
  expect(git(place, 'status', '--porcelain')).toBe('')
  expect(git(place, 'worktree', 'list').split('\n')).toHaveLength(1)
  expect(git(place, 'branch', '--format=%(refname:short)')).toBe(git(place, 'branch', '--show-current'))
  expect(existsSync(join(place.home, 'worktrees')) ? readdirSync(join(place.home, 'worktrees')) : []).toEqual([])
  expect(git(place, 'fsck', '--no-dangling', '--no-progress')).toBe('')
  expect(place.read('.artefacts/shop/results.md')).toContain('**Completed.**')
  for (const { id } of query(place, 'SELECT id FROM loop')) expect(carriers(`RALPH_LOOP_ID=${id}`)).toEqual([])
}

function drawPoints(): { name: string; moments: Moment[] }[] {
  const next = generator(seed)
  return Array.from({ length: runs }, (_, index) => {
    const moments = Array.from({ length: index % 4 === 3 ? 2 : 1 }, () => ({
      share: next(),
      thenMs: Math.floor(next() * 60),
    }))
    const when = moments
      .map(({ share, thenMs }) => `after ${Math.round(share * 100)} % and ${thenMs} ms`)
      .join(', then ')
    return { name: `${index + 1}: ${when}`, moments }
  })
}

test.each([
  { signal: 'SIGKILL', slots: '1' },
  { signal: 'SIGKILL', slots: '2' },
  { signal: 'SIGTERM', slots: '1' },
] as const)(
  '$signal during an experiment costs a project nothing, with --parallel $slots',
  async ({ signal, slots }) => {
    const place = makeShop(['T1', 'T2'])
    commit(place, {
      'check.sh': `case $PWD in */proof/*) touch '${place.root}/proving'; [ -e '${place.root}/go' ] || sleep 1000;; esac
for file in test/*.test.sh; do sh $file || exit 1; done
`,
      'test/a.test.sh': 'test -e README.md\n',
    })
    const turn = (id: string) => [edit(`${id}.txt`, 'x\n'), edit(`test/${id}.test.sh`, `test -s ${id}.txt\n`), done]
    const turns = { T1: [turn('T1')], T2: [turn('T2')] }
    const flags = ['--verify', 'sh check.sh', '--parallel', slots]
    const going = startExecute(place, turns, ...flags)
    await until('the experiment', () => existsSync(join(place.root, 'proving')))
    going.child.kill(signal)
    await going.ended.catch(() => {}) // its last line may be cut off
    writeFileSync(join(place.root, 'go'), '')
    expect((await execute(place, turns, ...flags)).end).toMatchObject({ reason: 'completed' })
    expect(statuses(place)).toBe('T1 completed, T2 completed')
    expect(query(place, `SELECT DISTINCT proof FROM loop WHERE status = 'completed'`)).toEqual([{ proof: 'tested' }])
    expect(
      entriesOf(place)
        .map(({ task_id, status }) => `${task_id} ${status}`)
        .sort(),
    ).toEqual(['T1 completed', 'T2 completed'])
    const left = readdirSync(join(place.home, 'proof'), { withFileTypes: true }).filter((entry) => entry.isDirectory())
    expect(left).toEqual([])
    expect(existsSync(join(place.dir, '.git', 'worktrees'))).toBe(false)
  },
)

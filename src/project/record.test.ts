import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Finding } from '../engine/loop.ts'
import { claims, loopAfter, unchecked } from '../engine/stories.test-support.ts'
import type { Task } from '../formats/tasks.ts'
import { temporaryFolder } from '../host/place.test-support.ts'
import { openStore } from '../host/sqlite.ts'
import type { Store } from '../host/store.ts'
import type { Project } from './folder.ts'
import { storedRecord } from './past.ts'
import { type Keeper, openKeeper, type ProjectRecord, proofsOf, withProof } from './record.ts'

let project: Project
let store: Store
let keeper: Keeper

beforeEach(() => {
  const root = temporaryFolder()
  const folder = join(root, '.ralph', 'p')
  mkdirSync(folder, { recursive: true })
  project = { name: 'p', dir: root, folder }
  store = openStore(join(root, 'home'), () => 0)
  keeper = openKeeper(project, store, EMPTY)
})

afterEach(() => store.close())

const EMPTY: ProjectRecord = {
  spec: '',
  tasks: { version: 1, project_name: 'p', tasks: [] },
  entries: [],
  obstacles: [],
  iteration: 0,
  open: [],
  loops: [],
  trees: {},
  proofs: {},
  workedMs: 0,
}

const adds = (text: string) => (record: ProjectRecord) => ({ ...record, spec: `${record.spec}${text}\n` })

const written = () => readFileSync(join(project.folder, 'spec.md'), 'utf8')

test('concurrent changes all count, in order', async () => {
  const changes = ['one', 'two', 'three'].map((text) => keeper.change(adds(text)))
  await Promise.all([...changes, keeper.restore()])
  expect(keeper.record.spec).toBe('one\ntwo\nthree\n')
  expect(await storedRecord(project, store)).toEqual(keeper.record)
  expect(written()).toBe('one\ntwo\nthree\n')
})

test('a task has the grade of the loop that completed it, and why', () => {
  const findings: Finding[] = [{ kind: 'tests-added', path: 'a.test.ts', words: 'the test is new' }]
  const loop = loopAfter(unchecked, claims('clear'))
  const record = withProof(EMPTY, 'T1', { ...loop, tally: { ...loop.tally, findings } })
  const tasks = ['T1', 'T2'].map((id) => ({ id, status: 'completed' }) as Task)
  expect(proofsOf(tasks, record)).toEqual([
    {
      task_id: 'T1',
      proof: 'claimed',
      proof_sentence: 'There is no check, so the agent is taken at its word.',
      findings,
    },
    { task_id: 'T2', proof: 'claimed', proof_sentence: null, findings: [] },
  ])
})

test('a failed change is reported to its caller and changes nothing', async () => {
  await keeper.change(adds('one'))
  const failing = keeper.change(() => {
    throw new Error('not now')
  })
  const next = keeper.change(adds('two'))
  await expect(failing).rejects.toThrow('not now')
  await next
  expect(written()).toBe('one\ntwo\n')
})

test('nothing is printed that is not in the database', async () => {
  await keeper.change(adds('one'))
  await store.close()
  await expect(keeper.change(adds('two'))).rejects.toThrow()
  expect([keeper.record.spec, written()]).toEqual(['one\n', 'one\n'])
  store = openStore(join(project.dir, 'home'), () => 0)
})

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { openStore } from '../host/sqlite.ts'
import { openProject } from './folder.ts'
import { loadRecord } from './open.ts'
import { openKeeper, taskOf, withTask } from './record.ts'

const folders: string[] = []

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/** A project whose file was not written after the last change, because ralph was killed just then. */
async function killedBeforeWriting() {
  const root = mkdtempSync(join(tmpdir(), 'ralph-test-'))
  folders.push(root)
  const folder = join(root, '.artefacts', 'shop')
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'tasks.json')
  writeFileSync(file, JSON.stringify({ project_name: 'shop', tasks: [{ id: 'T1', title: 'One' }] }))
  const project = openProject(root, 'shop')
  const store = openStore(join(root, 'home'), () => 0)
  const load = async () => (await loadRecord(project, store, () => 0)).record
  const keeper = openKeeper(project, store, await load())
  await keeper.change((record) => withTask(record, 'T1', { attempts: 1 }))
  const before = readFileSync(file, 'utf8')
  await keeper.change((record) => withTask(record, 'T1', { status: 'completed' }))
  writeFileSync(file, before)
  return { file, load, close: () => store.close() }
}

test('an unwritten file does not undo what was recorded', async () => {
  const { load, close } = await killedBeforeWriting()
  expect(taskOf(await load(), 'T1')).toMatchObject({ status: 'completed', attempts: 1 })
  await close()
})

test('later edits by the user are adopted', async () => {
  const { file, load, close } = await killedBeforeWriting()
  writeFileSync(file, readFileSync(file, 'utf8').replace('"attempts": 1', '"attempts": 0'))
  expect(taskOf(await load(), 'T1')).toMatchObject({ status: 'pending', attempts: 0 })
  await close()
})

import { rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { INTO, MINUTE, openVault, type Vault, work } from './vault.test-support.ts'

async function filesOf(vault: Vault, id = 'a'): Promise<[number | null, number | null]> {
  const { metrics } = await vault.ralph.completeTask(id)
  return [metrics.files_created, metrics.files_modified]
}

async function begin(vault: Vault, id = 'a'): Promise<void> {
  await vault.ralph.startTask({ task_file: `Needs_Action/${id}.md` })
}

function finish(vault: Vault, id = 'a'): void {
  vault.move(`Needs_Action/${id}.md`, `Done/${id}.md`)
}

describe('files that a task has changed', () => {
  test('are counted, except its own', async () => {
    const vault = openVault()
    for (const name of ['one', 'two', 'three', 'same']) vault.put(`Notes/${name}.md`, 'old')
    await begin(vault)
    vault.put('Notes/one.md', 'changed')
    vault.put('Notes/two.md', 'changed')
    rmSync(join(vault.path, 'Notes/three.md'))
    for (const name of ['new.md', 'Deep/er/new.md', 'Deep/other.md']) vault.put(name)
    vault.put('Needs_Action/a.md', 'Do it. Done.\n')
    finish(vault)
    expect(await filesOf(vault)).toEqual([3, 2])
  })

  test('are none when nothing has changed', async () => {
    const vault = openVault()
    await begin(vault)
    await vault.ralph.incrementIteration(work('a'))
    finish(vault)
    expect(await filesOf(vault)).toEqual([0, 0])
  })

  test("are not ralph's own, nor those of git, nor what a link leads to", async () => {
    const vault = openVault()
    await begin(vault)
    vault.put('.git/objects/x')
    vault.put('node_modules/x/index.js')
    vault.put('Ralph_State/other.json')
    symlinkSync('/etc', join(vault.path, 'link'))
    finish(vault)
    expect(await filesOf(vault)).toEqual([1, 0])
  })

  test('are not task files that come and go, but may have the name of one', async () => {
    const vault = openVault()
    vault.put('Pending_Approval/old.md')
    await begin(vault)
    for (const folder of ['Needs_Action', 'Pending_Approval', 'Done', 'Failed']) vault.put(`${folder}/other.md`)
    vault.put('Pending_Approval/old.md', 'changed')
    vault.put('out/a.md')
    finish(vault)
    expect(await filesOf(vault)).toEqual([1, 0])
  })

  test('do not include the file of a task that starts elsewhere', async () => {
    const vault = openVault([])
    vault.put('Inbox/a.md')
    await vault.ralph.startTask({ task_file: 'Inbox/a.md' })
    vault.put('Inbox/a.md', 'changed')
    vault.put('Done/a.md')
    expect(await filesOf(vault)).toEqual([0, 0])
  })

  test('are known even while another task waits for a person', async () => {
    const vault = openVault(['a.md', 'b.md'])
    await INTO.waiting_approval(vault, 'b')
    vault.clock.now += MINUTE
    await begin(vault)
    vault.put('new.md')
    finish(vault)
    expect(await filesOf(vault)).toEqual([1, 0])
  })

  test('are those at the end of the task, not at a later look', async () => {
    const vault = openVault()
    await begin(vault)
    vault.put('new.md')
    finish(vault)
    await vault.ralph.incrementIteration(work('a'))
    vault.put('later.md')
    expect(await filesOf(vault)).toEqual([1, 0])
    expect(await filesOf(vault)).toEqual([1, 0])
  })

  test('are measured once, though several processes see the end', async () => {
    const vault = openVault()
    await begin(vault)
    vault.put('new.md')
    finish(vault)
    const answers = await Promise.all([vault.ralph, vault.open(), vault.open()].map((each) => each.completeTask('a')))
    expect(answers.map(({ metrics }) => metrics.files_created)).toEqual([1, 1, 1])
  })

  test('are unknown if two tasks ran at the same time', async () => {
    const vault = openVault(['a.md', 'b.md', 'c.md'])
    await begin(vault)
    vault.clock.now += MINUTE
    await begin(vault, 'b')
    for (const id of ['a', 'b']) {
      vault.clock.now += MINUTE
      finish(vault, id)
      expect(await filesOf(vault, id)).toEqual([null, null])
    }
    vault.clock.now += MINUTE
    await begin(vault, 'c')
    vault.put('new.md')
    finish(vault, 'c')
    expect(await filesOf(vault, 'c')).toEqual([1, 0])
  })

  test('are unknown without the measurement', async () => {
    const vault = openVault()
    await begin(vault)
    rmSync(join(vault.home, 'vaults'), { recursive: true })
    finish(vault)
    expect(await filesOf(vault)).toEqual([null, null])
  })
})

test('the other measures are time and iterations, and calls only if counted', async () => {
  const vault = openVault()
  await INTO.in_progress(vault, 'a')
  vault.clock.now += 90_500
  finish(vault)
  expect((await vault.ralph.completeTask('a')).metrics).toMatchObject({
    total_duration_seconds: 90.5,
    iterations: 1,
    api_calls: null,
  })
})

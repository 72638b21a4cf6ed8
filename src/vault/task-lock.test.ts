import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { source, startScript, temporaryFolder } from '../host/place.test-support.ts'
import { openStore } from '../host/sqlite.ts'
import type { VaultDesk } from './desk.ts'
import { pruneTasks } from './prune.ts'
import { lockTask, removeTaskLock, type TaskLock } from './task-lock.ts'
import { INTO, MINUTE, openVault } from './vault.test-support.ts'
import type { VaultTask } from './vault-task.ts'

const STATE = 'Ralph_State'

function lock(vault: string, id = 'a') {
  return lockTask({ vault, home: '/home/ada', settings: { stateDir: STATE } } as VaultDesk, id)
}

function taken(vault: string, id = 'a'): TaskLock {
  const got = lock(vault, id)
  if ('heldBy' in got) throw new Error(`It is held by ${got.heldBy}.`)
  return got
}

const remove = (vault: string, id = 'a') => removeTaskLock({ path: vault, state: STATE, id } as VaultTask)

const locks = (vault: string) => readdirSync(join(vault, STATE, '.locks')).filter((name) => name !== '.all.db')

/** Takes the lock of a task so often, and dies where another has it at the same time. */
const TAKES = `const { lockTask } = await import(${source('vault/task-lock.ts')})
  const { closeSync, openSync, rmSync } = await import('node:fs')
  const vault = process.env.VAULT
  const desk = { vault, home: vault, settings: { stateDir: '${STATE}' } }
  for (let had = 0; had < 60; ) {
    const lock = lockTask(desk, 'a')
    if ('heldBy' in lock) continue
    closeSync(openSync(vault + '/inside', 'wx'))
    had += 1
    rmSync(vault + '/inside')
    lock.release()
  }`

const REMOVES = `const { removeTaskLock } = await import(${source('vault/task-lock.ts')})
  const { setImmediate } = await import('node:timers/promises')
  for (let round = 0; round < 200; round++) {
    removeTaskLock({ path: process.env.VAULT, state: '${STATE}', id: 'a' })
    await setImmediate()
  }`

describe('the lock of a task', () => {
  test.each<[others: string, programs: string[]]>([
    ['others', [TAKES, TAKES, TAKES, TAKES]],
    ['others while it is cleaned up', [TAKES, TAKES, TAKES, REMOVES]],
  ])('can be taken next to %s, and never by two at once', { timeout: 60_000 }, async (_, programs) => {
    const vault = temporaryFolder()
    const children = programs.map((code) => startScript(code, { VAULT: vault }))
    for (const { ended } of children) expect(await ended).toMatchObject({ code: 0, err: '' })
  })

  test('says who has it', () => {
    const vault = temporaryFolder()
    const first = taken(vault)
    expect(lock(vault)).toEqual({ heldBy: expect.stringMatching(`^process ${process.pid} on .* with /home/ada$`) })
    taken(vault, 'b').release()
    first.release()
    taken(vault).release()
  })

  test('stays with its holder when another in the same process asks for it', async () => {
    const vault = temporaryFolder()
    const first = taken(vault)
    lock(vault)
    const other = startScript(
      `const { lockTask } = await import(${source('vault/task-lock.ts')})
       const lock = lockTask({ vault: process.env.VAULT, home: '', settings: { stateDir: '${STATE}' } }, 'a')
       console.log('heldBy' in lock ? 'held' : 'taken')`,
      { VAULT: vault },
    )
    expect(await other.ended).toMatchObject({ out: 'held\n', err: '' })
    first.release()
  })

  test('leaves only its file, which is removed once nobody holds it', () => {
    const vault = temporaryFolder()
    remove(vault)
    const first = taken(vault)
    remove(vault)
    expect(locks(vault)).toEqual(['a.db'])
    first.release()
    expect(locks(vault)).toEqual(['a.db'])
    remove(vault)
    expect(locks(vault)).toEqual([])
    taken(vault).release()
  })

  test('goes with a task that is pruned', async () => {
    const vault = openVault(['a.md', 'b.md'])
    await INTO.completed(vault, 'a')
    await INTO.in_progress(vault, 'b')
    for (const id of ['a', 'b']) taken(vault.path, id).release()
    const store = openStore(vault.home, () => vault.clock.now)
    expect(await pruneTasks(store, vault.clock.now + MINUTE)).toBe(1)
    await store.close()
    expect(locks(vault.path)).toEqual(['b.db'])
  })

  test('is refused with a clear message if it cannot be taken', () => {
    const vault = temporaryFolder()
    writeFileSync(join(vault, STATE), '')
    expect(() => lock(vault)).toThrow(
      expect.objectContaining({ code: 'state-file', message: expect.stringContaining('cannot be written') }),
    )
  })
})

import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../host/place.test-support.ts'
import { openStore } from '../host/sqlite.ts'
import { openLedger, resumeTask, type WatchSite } from './chores.ts'
import type { VaultDesk } from './desk.ts'
import { moveTask } from './moving.ts'
import { look } from './queue.ts'
import { resolveSettings } from './settings.ts'
import { reportedTurn } from './spec.ts'
import { startTask } from './tasks.ts'
import { vaultOf } from './vault-task.ts'
import { judgeByPlace } from './where.ts'

/** A watcher's site on a vault in which pay.md waits for approval. */
async function openSite(): Promise<WatchSite> {
  const root = temporaryFolder()
  const [vault, home] = [join(root, 'vault'), join(root, 'home')]
  for (const name of ['Needs_Action', 'Pending_Approval']) mkdirSync(join(vault, name), { recursive: true })
  writeFileSync(join(vault, 'Needs_Action/pay.md'), 'Pay.\n')
  const store = openStore(home, Date.now)
  onTestFinished(() => store.close())
  const settings = resolveSettings({}, { env: {}, home, vault })
  const desk: VaultDesk = {
    vault,
    home,
    settings,
    store,
    env: {},
    now: Date.now,
    note: () => {},
    histories: new Map(),
  }
  const crew = () => ({ agents: ['claude'], limits: { noProgress: 3, sameError: 5 } })
  const loop = await startTask(desk, { file: 'Needs_Action/pay.md', by: 'watch', crew })
  renameSync(join(vault, 'Needs_Action/pay.md'), join(vault, 'Pending_Approval/pay.md'))
  const turn = judgeByPlace(vaultOf(loop), reportedTurn({ action: 'Asks.', result: 'success', seconds: 1 }))
  await moveTask(desk, { loop: loop.id }, (move) => move({ kind: 'turned', at: Date.now(), turn }))
  const { signal } = new AbortController()
  return { desk, crew, rest: signal, stop: signal, tell: () => {}, self: () => [] }
}

async function doubtful(site: WatchSite): Promise<number> {
  const ledger = openLedger(site.desk.settings)
  const { chores } = await look(site, ledger, {
    inbox: { ready: [], growing: [] },
    working: new Set(),
    slots: 1,
  })
  expect(chores).toEqual([])
  return ledger.doubtful.size
}

test('a waiting file that disappears is doubted', async () => {
  const site = await openSite()
  expect(await doubtful(site)).toBe(0)
  rmSync(join(site.desk.vault, 'Pending_Approval/pay.md'))
  expect(await doubtful(site)).toBe(1)
})

test('nothing is doubted in an unavailable vault', async () => {
  const site = await openSite()
  const { vault } = site.desk
  renameSync(vault, `${vault}.away`)
  mkdirSync(vault) // where a disk is mounted, its empty folder stays
  expect(await doubtful(site)).toBe(0)
  mkdirSync(join(vault, 'Needs_Action')) // made by whoever drops files there
  expect(await doubtful(site)).toBe(0)
})

test('an end that another watcher reported is not reported again', async () => {
  const site = await openSite()
  const { vault, settings, store } = site.desk
  const told: string[] = []
  const watcher: WatchSite = { ...site, tell: ({ kind }) => told.push(kind) }
  const row = await store.tasks.load(vault, 'pay')
  if (!row) throw new Error('there is no task')
  mkdirSync(join(vault, 'Done'), { recursive: true })
  renameSync(join(vault, 'Pending_Approval/pay.md'), join(vault, 'Done/pay.md'))
  for (const _ of ['one that looked', 'another that had looked before'])
    await resumeTask(watcher, openLedger(settings), row)
  expect(told.filter((kind) => kind === 'ended')).toEqual(['ended'])
})

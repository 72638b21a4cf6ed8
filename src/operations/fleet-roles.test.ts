/** The roles of config/fleet/roles.sql: each can do its job, and nothing else. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { FleetStore } from '../host/fleet-store.ts'
import { temporaryFolder } from '../host/place.test-support.ts'
import { dropDatabase, inPostgres, postgresMissing, testDatabase } from '../host/postgres/postgres.test-support.ts'
import { openPostgres } from '../host/postgres/store.ts'
import { cancel } from './cancel.ts'
import { openFleet } from './fleet.test-support.ts'
import { fleetFindings } from './fleet-findings.ts'
import { listFleetTasks } from './list-fleet-tasks.ts'
import { steer } from './steer.ts'

const missing = await postgresMissing()
const ROLES = readFileSync(resolve(import.meta.dirname, '../../config/fleet/roles.sql'), 'utf8')
const USERS = { worker: 'test_build7', submitter: 'test_ann', reader: 'test_board', stranger: 'test_mallory' } as const
const OWNER = 'test_owner'
const DONE = `echo '<promise>COMPLETE</promise>'`
const SECRET = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`

let admin = ''

const as = (user: string) => admin.replace('ralph@', `${user}@`)
const ask = (user: string, sql: string) => inPostgres(as(user), sql)

function openAs(user: string): FleetStore {
  const store = openPostgres({ url: as(user), home: temporaryFolder(), now: Date.now }) as FleetStore
  onTestFinished(() => store.close())
  return store
}

const openRoles = () => openFleet({ submitter: as(USERS.submitter), worker: as(USERS.worker) })

beforeAll(async () => {
  if (missing) return
  admin = await testDatabase({ empty: true })
  for (const user of [OWNER, ...Object.values(USERS)])
    await inPostgres(admin, `DROP ROLE IF EXISTS ${user}`).then(() => inPostgres(admin, `CREATE ROLE ${user} LOGIN`))
  await inPostgres(admin, `ALTER DATABASE ${new URL(admin).pathname.slice(1)} OWNER TO ${OWNER}`)
})

afterAll(async () => {
  if (missing) return
  await dropDatabase(admin)
})

describe.skipIf(missing)(`roles of the fleet${missing ? `: ${missing}` : ''}`, () => {
  test('are refused until the tables exist; the owner creates them on first use', async () => {
    await expect(inPostgres(admin, ROLES)).rejects.toThrow('Let the owner create them first')
    await expect(openAs(USERS.stranger).list()).rejects.toMatchObject({
      code: 'database-refused',
      message: expect.stringContaining('Run `ralph doctor` as their owner first.'),
    })
    expect(await openAs(OWNER).fleet.health()).toMatchObject({ queue: true, user: OWNER })
    await inPostgres(admin, ROLES)
    await inPostgres(admin, ROLES) // as after an upgrade
    for (const role of ['worker', 'submitter', 'reader'] as const)
      await inPostgres(admin, `GRANT ralph_${role} TO ${USERS[role]}`)
  })

  test('a worker can do all its work', async () => {
    const fleet = await openRoles()
    const repo = await fleet.remote()
    const agent = fleet.agent(`echo "$RALPH_ITERATION" >> b.txt; [ "$RALPH_ITERATION" -lt 2 ] || ${DONE}`)
    const given = { agent, repo, checks: ['test -f b.txt'] }
    const [task] = await fleet.submit({ prompt: `Write b.txt with ${SECRET}.`, project: 'shop', ...given })
    const worker = fleet.worker()
    expect(await fleet.reaches(task?.id ?? '', 'done', 'failed', 'resting')).toMatchObject({ state: 'done' })
    expect(worker.said.join('\n')).not.toMatch(/may not do that|permission/)
    worker.drain()
    await worker.ended
    await openAs(USERS.worker).fleet.prune(Date.now() - 1_000_000)
    await openAs(USERS.worker).fleet.queue.supervise()
    await openAs(USERS.worker).fleet.accounts.pause({ name: 'claude', paused_until: Date.now() + 1, why: 'limit' })
    expect(await ask(USERS.worker, 'SELECT value FROM ralph.fleet_secret')).toHaveLength(1)
  })

  test.each([
    'CREATE TABLE ralph.more (a text)',
    'CREATE TABLE ralph_queue.more (a text)',
    'CREATE TABLE public.more (a text)',
    'CREATE SCHEMA more',
    'DROP TABLE ralph.fleet_secret',
    'ALTER TABLE ralph.loop ADD COLUMN more text',
    'TRUNCATE ralph.event',
    'UPDATE ralph.version SET major = 7',
    `INSERT INTO ralph.fleet_budget VALUES ('ann', 1000)`,
    `INSERT INTO ralph.fleet_setting VALUES ('keep_days', 1)`,
  ])('a worker may not: %s', async (sql) => {
    await expect(ask(USERS.worker, sql)).rejects.toThrow(/permission denied|must be owner/)
  })

  test('a submitter submits, steers, cancels and reads', async () => {
    const { submit, context, store, agent } = await openRoles()
    const [task, other] = await submit(
      { prompt: `Use ${SECRET}.`, agent: agent(DONE) },
      { prompt: 'Later.', agent: agent(DONE) },
    )
    await submit({ prompt: `Use ${SECRET} again.`, agent: agent(DONE), depends_on: [other?.id ?? ''] })
    await steer.run(context, { loop: task?.loop_id ?? '', words: 'Be quick.' })
    await cancel.run(context, { loop: task?.loop_id ?? '' })
    expect(await store.fleet.load(task?.id ?? '')).toMatchObject({ state: 'cancelled' })
    expect((await listFleetTasks.run(context, {})).tasks).toHaveLength(4)
    expect((await store.events(0, task?.loop_id)).length).toBeGreaterThan(0)
    expect((await fleetFindings(context)).find(({ what }) => what === 'rights')).toMatchObject({
      ok: true,
      says: `${USERS.submitter} can act as submitter, reader`,
    })
  })

  test("another person's secret does not lock a submitter out of a task", async () => {
    const { submit, store, agent } = await openRoles()
    const [task] = await submit({ prompt: 'Wait.', agent: agent(DONE) })
    const loop = task?.loop_id ?? ''
    await store.tell(loop, 'ann', { kind: 'say', words: `Use ${SECRET}.` })
    const told = await openAs(USERS.submitter).nextOrder(loop)
    expect(told).toMatchObject({ kind: 'told', order: { words: expect.stringContaining('…masked-') } })
  })

  test.each([
    'SELECT value FROM ralph.fleet_secret',
    'SELECT * FROM ralph.fleet_secret',
    `UPDATE ralph.fleet_secret SET value = 'x'`,
    'DELETE FROM ralph.fleet_secret',
    'SELECT * FROM ralph_queue.job',
    'DELETE FROM ralph_queue.job',
    'UPDATE ralph.fleet_worker SET drain = true',
    'DELETE FROM ralph.fleet_queue',
    'DELETE FROM ralph.fleet_role',
    'DELETE FROM ralph.event',
    'UPDATE ralph.event SET at = 0',
    'DELETE FROM ralph.fleet_task',
    'DELETE FROM ralph.loop',
    `INSERT INTO ralph.fleet_budget VALUES ('ann', 1000)`,
    'CREATE TABLE ralph.more (a text)',
  ])('a submitter may not: %s', async (sql) => {
    await expect(ask(USERS.submitter, sql)).rejects.toThrow(/permission denied/)
  })

  test('a reader sees tasks, loops, events and transcripts', async () => {
    const store = openAs(USERS.reader)
    const { tasks } = await store.fleet.list()
    const done = tasks.find(({ state }) => state === 'done')
    const loop = await store.load(done?.loop_id ?? '')
    expect(loop.next).toMatchObject({ kind: 'complete', proof: 'verified' })
    expect((await store.events(0, loop.id)).length).toBeGreaterThan(2)
    expect((await store.iterations(loop.id)).length).toBe(2)
    expect(await store.transcripts.size(loop.id, 2)).toBeGreaterThan(0)
    expect(await store.diffs?.load(loop.id, 2, 'start')).toMatchObject({ text: expect.stringContaining('b.txt') })
    expect((await store.list({})).rows.length).toBeGreaterThan(2)
    expect(await store.fleet.counts()).toMatchObject({ done: 1, cancelled: 1 })
    expect(await store.fleet.health()).toMatchObject({
      queue: true,
      rights: { read: true, submit: false, work: false },
    })
  })

  test('a reader neither submits nor cancels, and gets a sentence that says why', async () => {
    const store = openAs(USERS.reader)
    const { tasks } = await store.fleet.list({ state: ['ready'] })
    const refused = {
      code: 'database-refused',
      message: expect.stringMatching(/: this user may not do that\. Grant it/),
    }
    await expect(store.tell(tasks[0]?.loop_id ?? '', 'board', { kind: 'cancel' })).rejects.toMatchObject(refused)
    await expect(store.fleet.change(tasks[0]?.id ?? '', { state: 'cancelled' })).rejects.toMatchObject(refused)
    await expect(store.lease(tasks[0]?.loop_id ?? '')).rejects.toMatchObject(refused)
    const { submit, agent } = await openFleet({ submitter: as(USERS.reader), worker: as(USERS.reader) })
    await expect(submit({ prompt: 'Mine.', agent: agent(DONE) })).rejects.toMatchObject(refused)
  })

  test('a reader can read every table except these', async () => {
    const sql = `SELECT relname FROM pg_class WHERE relnamespace = 'ralph'::regnamespace AND relkind = 'r'
      AND NOT has_table_privilege('${USERS.reader}', oid, 'SELECT') ORDER BY 1`
    expect((await inPostgres(admin, sql)).map(({ relname }) => relname)).toEqual(['answer', 'fleet_secret', 'pass'])
    const writable = `SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace IN ('ralph'::regnamespace, 'ralph_queue'::regnamespace)
      AND has_table_privilege('${USERS.reader}', oid, 'INSERT, UPDATE, DELETE, TRUNCATE')`
    expect(await inPostgres(admin, writable)).toEqual([])
  })

  test('a user without a role cannot connect', async () => {
    await expect(openAs(USERS.stranger).list()).rejects.toMatchObject({ code: 'database-refused' })
  })

  test('tables that a later version adds can be read by all, and used by workers', async () => {
    await ask(OWNER, 'CREATE TABLE ralph.later (a text); CREATE TABLE ralph_queue.later (a text)')
    for (const user of [USERS.reader, USERS.submitter, USERS.worker]) await ask(user, 'SELECT * FROM ralph.later')
    await ask(USERS.worker, `INSERT INTO ralph.later VALUES ('x'); INSERT INTO ralph_queue.later VALUES ('x')`)
    await expect(ask(USERS.reader, `INSERT INTO ralph.later VALUES ('x')`)).rejects.toThrow(/permission denied/)
  })

  test('workers do not upgrade tables of an older version', async () => {
    await ask(OWNER, 'UPDATE ralph.version SET tables = tables - 1')
    await expect(openAs(USERS.worker).list()).rejects.toMatchObject({
      code: 'database-refused',
      message: expect.stringMatching(
        /^The database \w+ at [\w.:]+: its tables are not up to date, and this user may not/,
      ),
    })
  })
})

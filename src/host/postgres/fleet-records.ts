/** The tasks of the fleet in Postgres. */
import { FLEET_OVER, type FleetState, type FleetTask } from '../../formats/fleet-task.ts'
import type { FleetFilter, FleetPage, FleetPatch, FleetRecords, Only, Submission } from '../fleet-store.ts'
import { parse, type Row } from '../rows.ts'
import type { PgAsking, PgValue } from './asking.ts'
import { tellNew } from './comment-records.ts'
import { NOW } from './fleet-tables.ts'
import { FORGOTTEN_MS } from './fleet-workers.ts'
import { insertMany } from './insert-many.ts'
import { insertLoop, insertLoops } from './loop-columns.ts'

type Tasks = Pick<FleetRecords, 'now' | 'submit' | 'load' | 'asked' | 'list' | 'counts' | 'change' | 'again' | 'prune'>

export function fleetTasks(asking: PgAsking, now: () => number): Tasks {
  return {
    now: async () => Number((await asking.one(`SELECT ${NOW} AS now`))?.now),
    submit: (tasks) => asking.transaction((inside) => submitAll(inside, tasks)),
    load: async (id) => loadTask(asking, id),

    async asked(id) {
      const row = await asking.one('SELECT asked FROM fleet_task WHERE id = $1', id)
      return row && parse(row.asked, `task ${id} of the fleet`)
    },

    list: (filter = {}) => listTasks(asking, filter),

    async counts() {
      const rows = await asking.all('SELECT state, count(*)::integer AS n FROM fleet_task GROUP BY state')
      return Object.fromEntries(rows.map(({ state, n }) => [state, n])) as Partial<Record<FleetState, number>>
    },

    // A note during a visit is one statement; the end of a visit has consequences.
    change: (id, patch, only) =>
      patch.state === undefined || patch.state === 'running'
        ? changeTask(asking, id, patch, only)
        : asking.transaction((inside) => changeState(inside, id, patch, only)),

    again: (id, { loop, first = [], patch, only }) =>
      asking.transaction(async (inside) => {
        if (!(await changeState(inside, id, { ...patch, loop_id: loop.id }, only))) return false
        await insertLoop(inside, loop)
        await tellNew(inside, loop.id, first, now())
        return true
      }),

    prune: (before) => asking.transaction((inside) => pruneTasks(inside, before)),
  }
}

/** The loops come last: from the first one on, nobody else gets a number. */
async function submitAll(asking: PgAsking, submissions: readonly Submission[]): Promise<void> {
  const tasks = submissions.map(({ task, asked }) => ({ ...task, needs: needsIn(task), asked: JSON.stringify(asked) }))
  await insertMany(asking, 'fleet_task', tasks)
  const needs = tasks.flatMap(({ id, depends_on }) => depends_on.map((other) => ({ task: id, needs: other })))
  await insertMany(asking, 'fleet_dependency', needs)
  // The dependencies of a task may be done already.
  const waiting = new Set(needs.map(({ task }) => task))
  await readyWhatCan(asking, [...waiting])
  await insertLoops(
    asking,
    submissions.map(({ loop }) => loop),
  )
}

/** What its worker must have, as one text: the scheduler looks at the first tasks of each. */
function needsIn({ agents, labels }: FleetTask): string {
  return `${agents.join(',')}|${labels.join(',')}`
}

async function loadTask(asking: PgAsking, id: string): Promise<FleetTask | undefined> {
  const row = await asking.one('SELECT * FROM fleet_task WHERE id = $1', id)
  return row && toTask(row)
}

export type WidePatch = FleetPatch & { loop_id?: string; reserved_usd?: number }

/** What is set aside for it is returned when it ends. */
async function changeTask(
  asking: PgAsking,
  id: string,
  patch: WidePatch,
  { from, worker }: Only = {},
): Promise<FleetTask | undefined> {
  const isOver = patch.state !== undefined && FLEET_OVER.includes(patch.state)
  const set = Object.entries({ ...patch, ...(isOver ? { reserved_usd: 0, worker: null } : {}) })
  const needs = patch.agents
    ? `needs = array_to_string($${set.findIndex(([name]) => name === 'agents') + 4}::text[], ',') || '|' || array_to_string(labels, ','), `
    : ''
  const values = set.map(([, value]) => value)
  const row = await asking.once(
    `UPDATE fleet_task SET ${set.map(([name], index) => `${name} = $${index + 4}, `).join('')} ${needs} updated_at = ${NOW}
     WHERE id = $1 AND (state = ANY($2) OR $2 IS NULL) AND (worker = $3 OR $3 IS NULL) RETURNING *`,
    ...[id, from ?? null, worker ?? null, ...values],
  )
  return row && toTask(row)
}

async function changeState(
  asking: PgAsking,
  id: string,
  patch: WidePatch,
  only?: Only,
): Promise<FleetTask | undefined> {
  const changed = await changeTask(asking, id, patch, only)
  if (!changed) return undefined
  await settleCosts(asking, id)
  if (patch.state === 'done') await readyDependents(asking, id)
  if (patch.state === 'waiting') await readyWhatCan(asking, [id])
  return changed
}

/** What its loops have cost so far, and with it what its submitter has spent today. */
async function settleCosts(asking: PgAsking, id: string): Promise<void> {
  const found = await asking.one('SELECT * FROM fleet_task WHERE id = $1 FOR UPDATE', id)
  const cost = Number((await asking.one(COST, id))?.usd)
  const before = Number(found?.spent_usd)
  if (!found || cost === before) return
  await asking.run('UPDATE fleet_task SET spent_usd = $2 WHERE id = $1', id, cost)
  await spend(asking, String(found.submitter), cost - before)
}

const COST = `SELECT coalesce(sum(cost_usd), 0) AS usd FROM loop WHERE owner = 'fleet' AND owner_task = $1`

/** The day of the database, in UTC. */
async function spend(asking: PgAsking, submitter: string, usd: number): Promise<void> {
  if (usd <= 0) return
  await asking.run(
    `INSERT INTO fleet_spend (submitter, day, spent_usd) VALUES ($1, (clock_timestamp() AT TIME ZONE 'UTC')::date, $2)
     ON CONFLICT (submitter, day) DO UPDATE SET spent_usd = fleet_spend.spent_usd + excluded.spent_usd`,
    submitter,
    usd,
  )
}

async function readyDependents(asking: PgAsking, id: string): Promise<void> {
  const rows = await asking.all('SELECT task FROM fleet_dependency WHERE needs = $1', id)
  await readyWhatCan(
    asking,
    rows.map(({ task }) => String(task)),
  )
}

/**
 * Two statements: if two tasks finish at the same time, the second waits here for the first, and its next statement
 * sees what the first one did. With one statement, a task that waits for both would be left behind.
 */
async function readyWhatCan(asking: PgAsking, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await asking.all(`SELECT id FROM fleet_task WHERE id = ANY($1) ORDER BY id FOR UPDATE`, ids)
  await asking.run(
    `UPDATE fleet_task SET state = 'ready', sentence = NULL WHERE id = ANY($1) AND state = 'waiting' AND NOT EXISTS (
       SELECT 1 FROM fleet_dependency AS its JOIN fleet_task AS other ON other.id = its.needs
       WHERE its.task = fleet_task.id AND other.state <> 'done')`,
    ids,
  )
}

async function listTasks(
  asking: PgAsking,
  { ids, state, submitter, project, text, limit = 100, after }: FleetFilter,
): Promise<FleetPage> {
  const values: PgValue[] = []
  const place = (value: PgValue) => `$${values.push(value)}`
  const conditions = [
    ...(ids ? [`id = ANY(${place(ids)})`] : []),
    ...(state ? [`state = ANY(${place(state)})`] : []),
    ...(submitter === undefined ? [] : [`submitter = ${place(submitter)}`]),
    ...(project === undefined ? [] : [`project = ${place(project)}`]),
    ...(text === undefined ? [] : [`strpos(lower(title), lower(${place(text)})) > 0`]),
    ...(after === undefined ? [] : [`seq < ${place(Number(after))}`]),
  ]
  const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''
  const rows = await asking.all(
    `SELECT * FROM fleet_task ${where} ORDER BY seq DESC LIMIT ${place(limit + 1)}`,
    ...values,
  )
  const page = rows.slice(0, limit)
  return { tasks: page.map(toTask), ...(rows.length > limit ? { next: String(page.at(-1)?.seq) } : {}) }
}

/** With everything that belongs to their loops. What an open task still depends on stays. */
async function pruneTasks(asking: PgAsking, before: number): Promise<number> {
  // A user who may only read the list may not remove anything.
  await asking.run(`DELETE FROM fleet_worker WHERE beat_at < ${NOW} - ${FORGOTTEN_MS}`)
  const rows = await asking.all(
    `SELECT id FROM fleet_task WHERE state = ANY($1) AND updated_at < $2 AND NOT EXISTS (
       SELECT 1 FROM fleet_dependency AS its JOIN fleet_task AS other ON other.id = its.task
       WHERE its.needs = fleet_task.id AND NOT other.state = ANY($1)) LIMIT 500`,
    FLEET_OVER,
    before,
  )
  const ids = rows.map(({ id }) => String(id))
  if (ids.length > 0) {
    const loops = `SELECT id FROM loop WHERE owner = 'fleet' AND owner_task = ANY($1)`
    await asking.run(`DELETE FROM transcript WHERE loop IN (${loops})`, ids)
    await asking.run(`DELETE FROM loop WHERE id IN (${loops})`, ids)
    await asking.run('DELETE FROM fleet_task WHERE id = ANY($1)', ids)
  }
  await asking.run(UNUSED_SECRETS, before)
  return ids.length
}

/**
 * A secret is given when its task is submitted or steered, so none is older than the oldest task, apart from clock
 * differences.
 */
const UNUSED_SECRETS = `DELETE FROM fleet_secret WHERE at < $1
  AND at < coalesce((SELECT min(created_at) - 3600000 FROM fleet_task), at + 1)`

export function toTask({ asked: _, seq: __, needs: ___, ...row }: Row): FleetTask {
  const time = (value: unknown) => (value === null ? null : Number(value))
  return {
    ...(row as FleetTask), // the columns are the fields
    due_at: time(row.due_at),
    created_at: Number(row.created_at),
    updated_at: Number(row.updated_at),
  }
}

/** The whole store in Postgres: the same as the one in SQLite, for as many machines as reach the database. */
import { join } from 'node:path'
import { isRalphError } from '../../error.ts'
import { makePrivateFolder, openHome } from '../files.ts'
import { patientStore } from '../patient-store.ts'
import { sealFact } from '../sealed.ts'
import { sealingStore } from '../sealing-store.ts'
import type { Store } from '../store.ts'
import { LONG_PATIENCE_MS, type Waiting } from '../waiting.ts'
import { openAsking, type PgAsking } from './asking.ts'
import { boardRecords } from './board-records.ts'
import { commentRecords, leaveOrder, tellNew } from './comment-records.ts'
import { type Address, schemaOf } from './connect.ts'
import { damageIn } from './damage.ts'
import { diffRecords } from './diff-records.ts'
import { openFleet } from './fleet.ts'
import { openLeases, type Term } from './leases.ts'
import { openListening } from './listening.ts'
import { openLocks } from './locks.ts'
import { insertLoop } from './loop-columns.ts'
import { loopNumbers } from './loop-numbers.ts'
import { loopQueries } from './loop-queries.ts'
import { loopStore, mustHave } from './loop-store.ts'
import { migrate } from './migrate.ts'
import { overviewQueries } from './overview-queries.ts'
import { paneRecords } from './pane-records.ts'
import { answerRecords, projectRecords, reportRecords, seenRecords } from './small-records.ts'
import { taskRecords } from './task-records.ts'
import { openTranscripts } from './transcripts.ts'

/**
 * `home`: for secrets, and for transcripts on their way. `leaseMs`: how long a loop stays with a driver that has died.
 * `beat`: a lease was renewed.
 */
export type Opening = Address & {
  home: string
  now: () => number
  note?: (text: string) => void
  leaseMs?: number
  beat?: (loop: string) => void
  patienceMs?: number
  transcriptMb?: number
}

const LEASE_MS = 30_000
const HEARTBEAT = `SELECT value FROM fleet_setting WHERE name = 'heartbeat_seconds'`

/** Returns at once; every call waits for the connection, and for tables that are up to date. */
export function openPostgres(opening: Opening): Store {
  const { home, now, beat, note } = opening
  const term: Term = { ms: opening.leaseMs ?? LEASE_MS }
  openHome(home, note)
  makePrivateFolder(join(home, 'locks')) // for what only one process of this machine may do
  const asking = openReadyAsking(opening, async ({ one }) => {
    const said = opening.leaseMs === undefined ? await one(HEARTBEAT) : undefined
    if (said) term.ms = Number(said.value) * 1_000
  })
  const core = loopStore(asking, { now, term })
  const transcripts = openTranscripts(asking, { home, now, limitMb: opening.transcriptMb })
  // What was said in a turn is stored before it is known that the turn has ended.
  const saveLast: Store['save'] = async (lease, loop, fact) => {
    await transcripts.arrived(loop.id)
    await core.save(lease, loop, fact)
  }
  const leases = openLeases(asking, saveLast, { term, beat })
  const listening = openListening(opening, () => void leases.look().catch(() => {})) // the next save reports it
  const { close: closeFleet, ...fleet } = openFleet(asking, {
    schema: `${schemaOf(opening)}_queue`,
    now,
    crowd: listening.crowd,
    onError: () => {},
  })
  const { openTurn, arrived: _, close: __, ...reading } = transcripts
  const locks = openLocks(asking, opening)
  const store = sealingStore(home, {
    ...core,
    lease: leases.lease,
    save: leases.save,
    sealed: (fact) => sealFact(home, fact),
    ...loopQueries(asking),
    ...loopNumbers(asking),
    ...overviewQueries(asking),
    ...loopRecords(asking, now),
    diffs: diffRecords(asking),
    fleet,
    transcripts: { openTurn, ...reading },
    locks: { open: locks.open, isHeld: locks.isHeld },
    shared: true,
    onChange: listening.onChange,
    async close() {
      const closing = [listening.close(), leases.close(), transcripts.close(), locks.close(), closeFleet()]
      await Promise.allSettled(closing)
      await asking.close()
    },
  })
  const why = patienceFor(asking, opening.patienceMs)
  const patient = patientStore(store, { apart: ['onChange', 'close', 'sealed', 'transcripts', 'locks'], why })
  return { ...patient, transcripts: patientStore(store.transcripts, { apart: ['openTurn'], why }) }
}

type Records = Pick<
  Store,
  | 'create'
  | 'tell'
  | 'ordered'
  | 'selfCheck'
  | 'projects'
  | 'tasks'
  | 'panes'
  | 'board'
  | 'reports'
  | 'comments'
  | 'answers'
  | 'seen'
>

function loopRecords(asking: PgAsking, now: () => number): Records {
  const { all, transaction } = asking
  return {
    projects: projectRecords(asking, now),
    tasks: taskRecords(asking),
    panes: paneRecords(asking, now),
    board: boardRecords(asking, now),
    reports: reportRecords(asking),
    comments: commentRecords(asking, now),
    answers: answerRecords(asking, now),
    seen: seenRecords(asking),
    selfCheck: () => damageIn(asking),

    create: (loop, first = []) =>
      transaction(async (inside) => {
        await insertLoop(inside, loop)
        await tellNew(inside, loop.id, first, now())
      }),

    tell: (id, by, order) =>
      transaction(async (inside) => {
        await mustHave(inside, id)
        await leaveOrder(inside, id, { by, order }, now())
      }),

    async ordered(kind) {
      const rows = await all('SELECT DISTINCT loop FROM told WHERE kind = coalesce($1, kind)', kind ?? null)
      return rows.map((row) => String(row.loop))
    },
  }
}

type ReadyAsking = PgAsking & { isReady(): boolean }

/** The tables are brought up to date before any query; if that failed, the next caller tries again. */
function openReadyAsking(address: Address, first: (asking: PgAsking) => Promise<void>): ReadyAsking {
  const asking = openAsking(address)
  const { all, one, run, insert, transaction, once, query, close } = asking
  let isReady = false
  let opening: Promise<void> | undefined
  const ready = async () => {
    opening ??= migrate(address).then(() => first(asking))
    try {
      await opening
      isReady = true
    } catch (cause) {
      opening = undefined
      throw cause
    }
  }
  return {
    isReady: () => isReady,
    all: (...given) => ready().then(() => all(...given)),
    one: (...given) => ready().then(() => one(...given)),
    run: (...given) => ready().then(() => run(...given)),
    insert: (...given) => ready().then(() => insert(...given)),
    transaction: (work, telling) => ready().then(() => transaction(work, telling)),
    once: (...given) => ready().then(() => once(...given)),
    query: (...given) => ready().then(() => query(...given)),
    close,
  }
}

/** Whoever has just typed a URL wants to know soon that it is wrong. */
const FIRST_PATIENCE_MS = 10_000

function patienceFor({ isReady }: ReadyAsking, patienceMs = LONG_PATIENCE_MS): Waiting['why'] {
  return (cause, waitedMs) => {
    const patience = isReady() ? patienceMs : Math.min(patienceMs, FIRST_PATIENCE_MS)
    return isRalphError(cause) && cause.code === 'database-unreachable' && waitedMs < patience ? WAITING : undefined
  }
}

const WAITING = 'The database cannot be reached. Waiting for it.'

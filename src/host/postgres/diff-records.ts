/** Diffs in Postgres, compressed: the board shows what an iteration changed, wherever its repository is. */
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import type { Row } from '../rows.ts'
import type { Against, DiffRecords, KeptDiff, KeptState } from '../store.ts'
import type { PgAsking, PgValue } from './asking.ts'

export function diffRecords(asking: PgAsking): DiffRecords {
  return {
    async keep({ loop, epoch }, { iteration, commit, tree, head, previous, start }) {
      const state = [loop, iteration, commit, tree, head ?? null]
      const diffs = [...(await columnsOf(previous)), ...(await columnsOf(start))]
      // The turn that follows notifies the listeners.
      await asking.transaction(({ run }) => run(KEEP, ...state, ...diffs, epoch), 'silent')
    },

    async load(loop, iteration, against) {
      const row = await asking.one(DIFF[against], loop, iteration)
      return row ? diffIn(row) : undefined
    },

    async states(loop) {
      return (await asking.all(STATES, loop)).map(stateIn)
    },

    async prune(ended, olderThan) {
      const row = await asking.transaction(({ one }) => one(PRUNE, [...ended], olderThan))
      return Number(row?.iterations)
    },
  }
}

const COLUMNS = '"commit", tree, head, previous_from, previous_left, previous, start_from, start_left, start'

/** Nothing is stored for a loop that another worker has taken over. */
const KEEP = `INSERT INTO kept_diff (loop, iteration, ${COLUMNS})
  SELECT id, $2::integer, $3::text, $4::text, $5::text, $6::text, $7::integer, $8::bytea, $9::text, $10::integer, $11::bytea
  FROM loop WHERE id = $1 AND epoch = $12
  ON CONFLICT (loop, iteration) DO UPDATE SET (${COLUMNS}) = (${COLUMNS.replace(/"?\w+"?/g, 'excluded.$&')})`

const selectDiff = (against: Against) =>
  `SELECT ${against}_from AS "from", ${against}_left AS "left", ${against} AS data FROM kept_diff
   WHERE loop = $1 AND iteration = $2 AND ${against} IS NOT NULL`

const DIFF: Readonly<Record<Against, string>> = { previous: selectDiff('previous'), start: selectDiff('start') }

const STATES = 'SELECT iteration, "commit", tree, head FROM kept_diff WHERE loop = $1 ORDER BY iteration'

const PRUNE = `WITH gone AS (
    DELETE FROM kept_diff USING loop WHERE loop.id = kept_diff.loop AND loop.id = ANY ($1) AND loop.updated_at < $2
    RETURNING kept_diff.iteration
  ) SELECT count(*) AS iterations FROM gone`

const [pack, unpack] = [promisify<Buffer, Buffer>(gzip), promisify<Buffer, Buffer>(gunzip)]

async function columnsOf(diff: KeptDiff | undefined): Promise<PgValue[]> {
  return diff ? [diff.from, diff.left, await pack(Buffer.from(diff.text))] : [null, null, null]
}

async function diffIn({ from, left, data }: Row): Promise<KeptDiff> {
  const bytes = await unpack(data as Buffer) // a column of bytes
  return { from: String(from), left: Number(left), text: bytes.toString() }
}

function stateIn({ iteration, commit, tree, head }: Row): KeptState {
  const kept = { iteration: Number(iteration), commit: String(commit), tree: String(tree) }
  return head === null ? kept : { ...kept, head: String(head) }
}

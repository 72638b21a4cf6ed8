import { test } from 'vitest'
import { source, temporaryFolder } from '../place.test-support.ts'
import { storeContract } from '../store-contract/contract.ts'
import { emptyDatabase, inPostgres, postgresMissing, testDatabase } from './postgres.test-support.ts'
import { openPostgres } from './store.ts'

const missing = await postgresMissing()

/** Short, so that tests do not wait long for a killed driver. */
const LEASE_MS = 3_000

/** One for all, emptied for each test. */
const url = missing ? '' : await testDatabase()

if (missing) test.skip(`the store in Postgres keeps the contract: ${missing}`, () => {})
else
  storeContract({
    name: 'Postgres',
    async open() {
      await emptyDatabase(url)
      const opening = { url, home: temporaryFolder(), leaseMs: LEASE_MS }
      return {
        connect: async () => openPostgres({ ...opening, now: Date.now }),
        elsewhere: `(await import(${source('host/postgres/store.ts')})).openPostgres({ ...${JSON.stringify(opening)}, now: Date.now })`,
        free: async (loop) => {
          await inPostgres(url, 'UPDATE ralph.loop SET alive_until = NULL WHERE id = $1', [loop])
        },
      }
    },
  })

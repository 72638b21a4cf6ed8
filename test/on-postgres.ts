/** For RALPH_TEST_DATABASE=1: the tests of fronts run on a Postgres database, a new one for each test file. */
import { testDatabase } from '../src/host/postgres/postgres.test-support.ts'

process.env.RALPH_TEST_DATABASE_URL = await testDatabase({ empty: true })

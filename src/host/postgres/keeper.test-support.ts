/**
 * A program that keeps one Postgres for all tests of a run, as long as the run lives, however that ends. `FOLDER PID`:
 * where it writes its address, and which process it watches.
 */
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { migrate } from './migrate.ts'
import { startPostgres, type TestServer } from './server.test-support.ts'

/** `template`: a database with all tables, from which others are copied. */
export type Kept = { pid: number; url: string; template: string } | { missing: string }

const TEMPLATE = 'ralph_template'
const LOOK_MS = 300

const [folder = '', owner = ''] = process.argv.slice(2)

function tell(kept: Kept): void {
  writeFileSync(join(folder, 'server.tmp'), JSON.stringify(kept))
  renameSync(join(folder, 'server.tmp'), join(folder, 'server.json'))
}

async function makeTemplate(server: TestServer): Promise<void> {
  const client = new Client(server.url)
  await client.connect()
  await client.query(`CREATE DATABASE ${TEMPLATE}`)
  await client.end()
  await migrate({ url: server.url.replace(/\/postgres$/, `/${TEMPLATE}`) })
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

let server: TestServer | undefined
const end = () => void server?.remove().finally(() => process.exit())

try {
  server = await startPostgres()
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, end)
  setInterval(() => isAlive(Number(owner)) || end(), LOOK_MS)
  await makeTemplate(server)
  tell({ pid: process.pid, url: server.url, template: TEMPLATE })
} catch (cause) {
  tell({ missing: String(cause) })
  end()
}

/** Secrets that people give to a task of the fleet: they go where workers find them, and nowhere else. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { makePrivateFolder, writeWhole } from './files.ts'
import type { FleetRecords } from './fleet-store.ts'
import { marksIn, secretOf } from './sealed.ts'

type Secrets = Pick<FleetRecords, 'secrets'>

/** Copies the secrets whose marks occur in this from the private files of this machine to the database. */
export async function shareSecrets(home: string, { secrets }: Secrets, given: unknown): Promise<void> {
  const values = new Map([...marksIn(given)].flatMap((id) => secretOf(home, id)))
  if (values.size > 0) await secrets.keep(values)
}

/** And back, on the machine that needs them. */
export async function bringSecrets(home: string, { secrets }: Secrets, given: unknown): Promise<void> {
  const folder = join(home, 'secrets')
  const missing = [...marksIn(given)].filter((id) => !existsSync(join(folder, id)))
  if (missing.length === 0) return
  makePrivateFolder(folder)
  for (const [id, value] of await secrets.load(missing)) writeWhole(join(folder, id), value)
}

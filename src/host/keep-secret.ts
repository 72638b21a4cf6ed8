/**
 * The private files of secrets that people give: one file per secret, named by the mark that replaces it everywhere
 * else.
 */
import { createHmac, randomBytes } from 'node:crypto'
import { existsSync, linkSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makePrivateFolder, writeWhole } from './files.ts'
import { codeOf, inPlainWords } from './plain-words.ts'

/** The same secret has the same mark everywhere in a home, and its mark does not reveal it. */
export function keepSecret(home: string, secret: string): string {
  const folder = join(home, 'secrets')
  makePrivateFolder(folder)
  const id = createHmac('sha256', keyOf(folder)).update(secret).digest('hex').slice(0, 12)
  const path = join(folder, id)
  // A secret that is given again is needed for longer.
  if (existsSync(path)) utimesSync(path, new Date(), new Date())
  else writeWhole(path, secret)
  return id
}

function keyOf(folder: string): Buffer {
  const path = join(folder, 'key')
  const fresh = `${path}.${process.pid}.tmp`
  try {
    if (!existsSync(path)) {
      writeFileSync(fresh, randomBytes(32), { mode: 0o600 })
      linkSync(fresh, path)
    }
  } catch (cause) {
    if (codeOf(cause) !== 'EEXIST') throw inPlainWords(cause, path) // another process was quicker
  } finally {
    rmSync(fresh, { force: true })
  }
  return readFileSync(path)
}

/** Removes secrets that were last given before then, unless they are in use. */
export async function dropSecrets(home: string, before: number, inUse: () => Promise<unknown>): Promise<void> {
  const folder = join(home, 'secrets')
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name !== 'key') : []
  const old = names.filter((name) => (statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0) < before)
  if (old.length === 0) return
  const used = JSON.stringify(await inUse())
  for (const name of old) if (!used.includes(name)) rmSync(join(folder, name), { force: true })
}

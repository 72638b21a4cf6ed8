/** Repairs what keeps git from fetching into a mirror. */
import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isHarmless, printSettings } from '../formats/git-config.ts'
import { readIfThere, writeWhole } from './files.ts'
import type { Repository } from './git.ts'
import { readSettings } from './pin-settings.ts'

export const LOCKED: RegExp = /Unable to create '(.+\.lock)': File exists/

/** Removes the lock of a killed git. git holds locks of refs only for a moment, so one that stays has no owner. */
export async function clearLocks(says: string): Promise<void> {
  const [, lock = ''] = LOCKED.exec(says) ?? []
  const stat = statSync(lock, { throwIfNoEntry: false })
  if (stat && Date.now() - stat.mtimeMs > STALE_MS) rmSync(lock, { force: true })
  else await sleep(SHORT_MS)
}

const STALE_MS = 30_000
const SHORT_MS = 300

/** A branch that is now a folder of branches, or the other way round. */
export function isInTheWay(says: string): boolean {
  return /cannot lock ref|unable to update local ref|some local refs could not be updated/.test(says)
}

/** Forgets the remote's branches; the next fetch gets what is needed. */
export async function clearRemotes(mirror: Repository): Promise<void> {
  const listed = await mirror.ask(['for-each-ref', '--format=%(refname)', 'refs/remotes/'])
  const refs = listed.ok ? listed.out.split('\n').filter(Boolean) : []
  await mirror.ask(['update-ref', '--stdin', '-z'], { stdin: refs.map((ref) => `delete ${ref}\0\0`).join('') })
}

/** Whether objects or refs are missing; only checked after git has complained about it. */
export async function isDamaged(mirror: Repository, says: string): Promise<boolean> {
  if (!COMPLAINS.test(says)) return false
  return !(await mirror.ask(['rev-list', '--objects', '--all', '--quiet'], { minutes: 10 })).ok
}

const COMPLAINS =
  /bad object|is empty|corrupt|missing|unable to read|did not send all necessary objects|not a git repository|bad config|broken|unresolved deltas/i

/**
 * The tasks of this machine share the configuration: what an agent left in it must not count for the next one. Settings
 * such as the author may stay, since a running agent may need them.
 */
export async function restoreSettings({ top, gitDir, commonDir }: Repository, made: string | undefined): Promise<void> {
  const file = join(commonDir, 'config')
  if (made === undefined || readIfThere(file) === made) return
  const now = await readSettings({ top, gitDir, commonDir })
  const kept = printSettings(now?.local.filter(({ key }) => isHarmless(key)) ?? [])
  if (readIfThere(file) !== made + kept) writeWhole(file, made + kept)
}

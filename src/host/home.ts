/** Whoever can write to RALPH_HOME controls what ralph runs: it is private to its owner. */
import { chmodSync, existsSync, readdirSync, type Stats, statSync } from 'node:fs'
import { join } from 'node:path'
import { RalphError } from '../error.ts'
import { inPlainWords } from './plain-words.ts'

/**
 * Closes a home to others and says so, or refuses it. `who`: the user of this process; undefined if the system has
 * none.
 */
export function secureHome(home: string, note: (text: string) => void, who: number | undefined): void {
  const stat = statSync(home)
  const mode = stat.mode & 0o777
  switch (whatToDoWith(stat, who, isEmpty(home))) {
    case 'nothing':
      break
    case 'refuse shared':
      throw refused(home, 'is shared by all users of this machine')
    case 'refuse other':
      throw refused(home, 'belongs to another user of this machine, who could control what ralph runs')
    case 'close': {
      // If it also holds other files, somebody may have to read them.
      const closed = isOwn(home) ? 0o700 : mode & ~0o022
      try {
        chmodSync(home, closed)
      } catch {
        // a disk that is read-only or has no permissions: its current mode counts
      }
      if ((statSync(home).mode & 0o022) !== 0)
        throw refused(
          home,
          'is writable by other users of this machine, and its file system does not let ralph change that',
        )
      note(
        `Other users of this machine could write to ${home}, so its permissions are now ${closed.toString(8)}: whoever can write there controls what ralph runs.`,
      )
    }
  }
}

/** A database that somebody copied or created. */
export function secureDatabase(path: string): void {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0
  if ((mode & 0o022) === 0) return
  try {
    chmodSync(path, 0o600)
  } catch (cause) {
    throw inPlainWords(cause, path)
  }
}

/** root may use anybody's home: it is sudo, or a container into which somebody's folder is mounted. */
export function whatToDoWith(
  { mode, uid }: Pick<Stats, 'mode' | 'uid'>,
  who: number | undefined,
  empty: boolean,
): 'nothing' | 'close' | 'refuse shared' | 'refuse other' {
  if (who === undefined) return 'nothing'
  if (who !== 0 && uid !== who) return 'refuse other'
  if ((mode & 0o1002) === 0o1002 && !empty) return 'refuse shared' // such as /tmp; an empty one is a disk that was just mounted
  return (mode & 0o022) === 0 ? 'nothing' : 'close'
}

function isOwn(home: string): boolean {
  return existsSync(join(home, 'ralph.db')) || isEmpty(home)
}

function isEmpty(home: string): boolean {
  return readdirSync(home).length === 0
}

function refused(home: string, why: string): RalphError {
  return new RalphError('home-unusable', `${home} ${why}. Set RALPH_HOME to a folder of your own.`)
}

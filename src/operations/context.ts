/** What operations work with, on this machine. */
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { RalphError } from '../error.ts'
import { steadyClock } from '../host/clock.ts'
import { openPostgres } from '../host/postgres/store.ts'
import { openStore } from '../host/sqlite.ts'
import type { Store } from '../host/store.ts'
import { LONG_PATIENCE_MS, onNotice } from '../host/waiting.ts'
import type { Context } from './operation.ts'

/**
 * `root`: where ralph is installed. `cwd` is asked each time, since a process may change its folder, or lose it.
 * `database`: the URL of a Postgres that several machines share. Absent: the database of this home.
 */
export type Place = Pick<Context, 'root' | 'note' | 'env'> & {
  cwd: () => string
  home?: string
  database?: string | undefined
  now?: () => number
}

export function openContext({ root, note, env, cwd, database, now = steadyClock(), ...place }: Place): Context {
  const home = place.home ?? resolve(env.RALPH_HOME || join(homedir(), '.ralph'))
  let store: Store | undefined
  let silent: (() => void) | undefined
  const listen = () => (silent ??= onNotice(note))
  listen()
  return {
    root,
    note,
    env,
    now,
    home,
    get cwd() {
      return whereWeStand(cwd)
    },
    store() {
      listen()
      store ??= database
        ? openPostgres({ url: database, home, now, note })
        : openStore(home, now, { patienceMs: LONG_PATIENCE_MS, note })
      return store
    },
    async close() {
      silent?.()
      silent = undefined
      const open = store
      store = undefined
      await open?.close()
    },
  }
}

function whereWeStand(cwd: () => string): string {
  try {
    return cwd()
  } catch (cause) {
    throw new RalphError('home-unusable', 'The folder this was started in is gone. Go to one that exists.', { cause })
  }
}

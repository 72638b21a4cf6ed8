/** The context of operations on this machine. */
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { RalphError } from '../error.ts'
import { followingClock, steadyClock } from '../host/clock.ts'
import { openPostgres } from '../host/postgres/store.ts'
import { openStore } from '../host/sqlite.ts'
import type { Store } from '../host/store.ts'
import { LONG_PATIENCE_MS, onNotice } from '../host/waiting.ts'
import type { Beats, Context } from './operation.ts'

/**
 * `root`: where ralph is installed. `cwd` is read each time, because a process may change its folder, or lose it.
 * `database`: the URL of a PostgreSQL database shared by several machines. Absent: the database of this home.
 */
export type Place = Pick<Context, 'root' | 'note' | 'env'> & {
  cwd: () => string
  home?: string
  database?: string | undefined
  now?: () => number
}

export function openContext({ root, note, env, cwd, database, ...place }: Place): Context {
  const { now, follow } = followingClock(place.now ?? steadyClock())
  const home = place.home ?? resolve(env.RALPH_HOME || join(homedir(), '.ralph'))
  const beats: Beats = {}
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
    database,
    ...(database === undefined ? {} : { follow, beats }),
    get cwd() {
      return whereWeStand(cwd)
    },
    store() {
      listen()
      store ??= database
        ? openShared(
            { url: database, home, now, note, beat: (loop) => void beats.onBeat?.(loop).catch(() => {}) },
            follow,
          )
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

/** The clock of the shared database is authoritative. */
function openShared(opening: Parameters<typeof openPostgres>[0], follow: (time: number) => void): Store {
  const store = openPostgres(opening)
  store.fleet?.now().then(follow, () => {}) // any other access reports the problem
  return store
}

function whereWeStand(cwd: () => string): string {
  try {
    return cwd()
  } catch (cause) {
    throw new RalphError('home-unusable', 'The folder this was started in no longer exists. Change to one that does.', {
      cause,
    })
  }
}

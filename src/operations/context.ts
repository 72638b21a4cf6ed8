/** What operations work with, on this machine. */
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { RalphError } from '../error.ts'
import { openStore } from '../host/sqlite.ts'
import type { Store } from '../host/store.ts'
import type { Context } from './operation.ts'

/** `root`: where ralph is installed. `cwd`: by default the folder that this process is in, also when that changes. */
export type Place = Pick<Context, 'root' | 'note'> & Partial<Pick<Context, 'cwd' | 'env' | 'home' | 'now'>>

export function openContext({ root, note, cwd, env = process.env, now = Date.now, ...place }: Place): Context {
  const home = place.home ?? resolve(env.RALPH_HOME || join(homedir(), '.ralph'))
  let store: Store | undefined
  return {
    root,
    note,
    env,
    now,
    home,
    get cwd() {
      return cwd ?? whereWeStand()
    },
    store: () => (store ??= openStore(home, now)),
    async close() {
      const open = store
      store = undefined
      await open?.close()
    },
  }
}

function whereWeStand(): string {
  try {
    return process.cwd()
  } catch (cause) {
    throw new RalphError('home-unusable', 'The folder this was started in is gone. Go to one that exists.', { cause })
  }
}

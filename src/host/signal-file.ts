/** Waits for a file that another program creates as a signal: by file events, with a slow poll as the safety net. */
import { existsSync, type FSWatcher, statSync, watch } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { stampOf } from './files.ts'

export type Waiting = { signal?: AbortSignal }

/**
 * True once the file exists, false if the signal came first. The folder may be created, removed and created again
 * meanwhile.
 */
export function watchFor(path: string, { signal }: Waiting = {}): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const events = watchFolder(dirname(path), look)
  const poll = setInterval(look, POLL_MS)
  signal?.addEventListener('abort', look)
  look()
  return promise

  function look(): void {
    events.renew()
    if (!signal?.aborted && !existsSync(path)) return
    clearInterval(poll)
    events.close()
    signal?.removeEventListener('abort', look)
    resolve(!signal?.aborted)
  }
}

/** The same for a file that nobody has written to for a while. */
export async function watchForQuiet(path: string, quietMs: number, waiting: Waiting = {}): Promise<boolean> {
  while (await watchFor(path, waiting)) if (await staysQuiet(path, quietMs, waiting)) return true
  return false
}

/** False if it was removed, or the signal came. */
async function staysQuiet(path: string, quietMs: number, { signal }: Waiting): Promise<boolean> {
  let seen = stampOf(path)
  let since = performance.now()
  while (seen && !signal?.aborted) {
    if (performance.now() - since >= quietMs) return true
    await pause(Math.min(POLL_MS, quietMs), signal)
    const now = stampOf(path)
    if (now !== seen) since = performance.now()
    seen = now
  }
  return false
}

/** Ends early if the signal comes. */
async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await sleep(ms, undefined, signal ? { signal } : {}).catch(() => {})
}

const POLL_MS = 500

/** Events of a folder; a new watch is started if another folder of that name is found. */
export function watchFolder(folder: string, onEvent: () => void): { renew(): void; close(): void } {
  let watcher: FSWatcher | undefined
  let watched: bigint | undefined
  const close = () => {
    watcher?.close()
    watcher = undefined
  }
  return {
    close,
    renew() {
      const found = inodeOf(folder)
      if (found === watched && (watcher || found === undefined)) return
      close()
      watched = found
      if (found === undefined) return
      try {
        watcher = watch(folder, onEvent).on('error', close)
      } catch {
        // It was removed again, or the system has no watch left: the poll covers it.
      }
    },
  }
}

/** Also undefined for a folder that is not accessible now. */
function inodeOf(folder: string): bigint | undefined {
  try {
    return statSync(folder, { throwIfNoEntry: false, bigint: true })?.ino
  } catch {
    return undefined
  }
}

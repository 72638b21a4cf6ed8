/** Wakes whoever waits for news. Coalesces bursts, so that looking never becomes the main work. */
import { join } from 'node:path'
import { watchFolder } from '../host/signal-file.ts'
import { NEEDS_ACTION } from './place.ts'
import { PENDING } from './where.ts'
import type { Site } from './work.ts'

export type Bell = {
  ring(): void
  /** The same, without waiting for more. */
  hurry(): void
  /** Until it rings, but no longer than this. */
  wait(ms: number): Promise<void>
}

const LEAST_GAP_MS = 50
const LONGEST_GAP_MS = 1_000
/** A look is followed by a pause of this many times its duration. */
const REST = 10

export function openBell(): Bell {
  let heard: 'nothing' | 'news' | 'urgent' = 'nothing'
  let listener = () => {}
  let wokeAt = performance.now()
  return {
    ring() {
      if (heard === 'nothing') heard = 'news'
      listener()
    },
    hurry() {
      heard = 'urgent'
      listener()
    },
    async wait(ms) {
      const startedAt = performance.now()
      const gapMs = Math.min(LONGEST_GAP_MS, Math.max(LEAST_GAP_MS, (startedAt - wokeAt) * REST))
      await new Promise<void>((wake) => {
        let timer = setTimeout(wake, ms)
        listener = () => {
          if (heard === 'nothing') return
          clearTimeout(timer)
          timer = setTimeout(wake, heard === 'urgent' ? 0 : Math.max(0, startedAt + gapMs - performance.now()))
        }
        listener()
      })
      heard = 'nothing'
      listener = () => {}
      wokeAt = performance.now()
    },
  }
}

/** `renew`: watches a replaced folder again. */
export type News = { renew(): void; close(): void }

/** Rings when files come or go, the store changes, or it should stop. */
export function ringOnNews({ desk, rest, stop }: Pick<Site, 'desk' | 'rest' | 'stop'>, bell: Bell): News {
  const folders = [NEEDS_ACTION, PENDING].map((name) => watchFolder(join(desk.vault, name), () => bell.ring()))
  const unwatch = desk.store.onChange(bell.ring)
  for (const signal of [rest, stop]) signal.addEventListener('abort', bell.hurry)
  return {
    renew() {
      for (const folder of folders) folder.renew()
    },
    close() {
      unwatch()
      for (const folder of folders) folder.close()
    },
  }
}

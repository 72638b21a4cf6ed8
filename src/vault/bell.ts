/** Wakes who waits for news. News that come close together are one, so that looking at them never becomes the main work. */
import { join } from 'node:path'
import { watchFolder } from '../host/signal-file.ts'
import { NEEDS_ACTION } from './place.ts'
import { PENDING } from './where.ts'
import type { Site } from './work.ts'

export type Bell = {
  ring(): void
  /** The same, without waiting for more of it. */
  hurry(): void
  /** Until it has rung, at most so long. */
  wait(ms: number): Promise<void>
}

const LEAST_GAP_MS = 50
const LONGEST_GAP_MS = 1_000
/** A look that took so long is followed by a rest so many times as long. */
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
      const begunAt = performance.now()
      const gapMs = Math.min(LONGEST_GAP_MS, Math.max(LEAST_GAP_MS, (begunAt - wokeAt) * REST))
      await new Promise<void>((wake) => {
        let timer = setTimeout(wake, ms)
        listener = () => {
          if (heard === 'nothing') return
          clearTimeout(timer)
          timer = setTimeout(wake, heard === 'urgent' ? 0 : Math.max(0, begunAt + gapMs - performance.now()))
        }
        listener()
      })
      heard = 'nothing'
      listener = () => {}
      wokeAt = performance.now()
    },
  }
}

/** `renew`: a folder that was replaced is watched again. */
export type News = { renew(): void; close(): void }

/** Files that come or go, changes in the store, and the wish that it stops. */
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

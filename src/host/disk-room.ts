/** Watches the free space on the disk of RALPH_HOME and warns before it runs out. */
import { statfsSync } from 'node:fs'
import { MEGABYTE } from './bounded-log.ts'

type Watching = { lowMb: number; note(text: string): void }

/** Below this it warns. `transcriptMb`: the size limit of the transcript of one turn. */
export function lowMbFor(transcriptMb = 0): number {
  return Math.max(1_000, transcriptMb)
}

const low = new Set<string>()

/**
 * Checks now and then repeatedly; after a warning, not again until there is plenty of space. Returns a function that
 * stops it.
 */
export function watchRoom(path: string, { lowMb, note }: Watching): () => void {
  const look = () => {
    const free = freeMb(path)
    if (free > lowMb * 2) low.delete(path)
    if (free >= lowMb || low.has(path)) return
    low.add(path)
    note(
      `Only ${Math.floor(free)} MB left on the disk that holds ${path}. Free some space: \`ralph prune\` removes old transcripts.`,
    )
  }
  look()
  const timer = setInterval(look, EVERY_MS)
  timer.unref()
  return () => clearInterval(timer)
}

const EVERY_MS = 2_000

function freeMb(path: string): number {
  try {
    const { bavail, bsize } = statfsSync(path)
    return (bavail * bsize) / MEGABYTE
  } catch {
    return Number.POSITIVE_INFINITY // a missing home is reported by whoever writes there
  }
}

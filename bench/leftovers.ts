/** Removes what the bench puts on the machine, even when the bench is interrupted. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const cleanups = new Set<() => void>()
process.once('exit', () => {
  for (const cleanup of cleanups) cleanup()
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130))

/** Calls `cleanup` when the bench ends. Returns a function that calls it now. */
export function leaveNothing(cleanup: () => void): () => void {
  cleanups.add(cleanup)
  return () => {
    if (cleanups.delete(cleanup)) cleanup()
  }
}

/** Lends a folder and removes it afterwards. */
export async function inTemporaryFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'ralph-bench-'))
  const remove = leaveNothing(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
  try {
    return await work(folder)
  } finally {
    remove()
  }
}

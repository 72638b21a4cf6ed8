/**
 * Where a run of the tests keeps its temporary folders: in memory where that can be, since they make thousands of small
 * repositories and databases. There lies, too, what Node made of ralph's programs, which they start thousands of times.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'

const MEMORY = '/dev/shm'
const ENOUGH = 2 * 1024 ** 3

export function setup({ config }: TestProject): () => void {
  const folder = makeIn(MEMORY) ?? mkdtempSync(join(tmpdir(), 'ralph-'))
  config.env = { ...config.env, TMPDIR: folder, NODE_COMPILE_CACHE: join(folder, 'compiled') }
  return () => {
    try {
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    } catch {
      // somebody still writes there: what is left is small, and no reason to fail
    }
  }
}

/** Undefined where there is no such place, or not enough of it, or where it lets no program run. */
function makeIn(memory: string): string | undefined {
  try {
    const { bavail, bsize } = statfsSync(memory)
    if (bavail * bsize < ENOUGH) return undefined
    const folder = mkdtempSync(join(memory, 'ralph-'))
    writeFileSync(join(folder, 'program'), '#!/bin/sh\n', { mode: 0o755 })
    if (spawnSync(join(folder, 'program')).status === 0) return folder
    rmSync(folder, { recursive: true })
  } catch {
    // not on this system
  }
  return undefined
}

/**
 * Where a test run keeps its temporary folders: in memory if possible, since it creates thousands of small repositories
 * and databases. Node's compile cache for ralph's programs, which are started thousands of times, is there too.
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
      // a process is still writing there: what is left is small, and no reason to fail
    }
  }
}

/** Undefined if there is no such place, not enough space, or no permission to run programs there. */
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

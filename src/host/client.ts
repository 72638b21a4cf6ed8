/** The client that runs a hook: the nearest ancestor process that is not a shell. */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { ancestors } from './ancestors.ts'

const SHELLS = new Set(['sh', 'bash', 'dash', 'ash', 'zsh', 'busybox'])

/** `argv`: as it was started. */
export type Client = { pid: number; argv: string[] }

/** Undefined without /proc, or if all ancestors are shells. */
export function clientAbove(hook: number = process.ppid): Client | undefined {
  return ancestors(hook)
    .map(({ pid }) => ({ pid, argv: argvOf(pid) }))
    .find(({ argv: [program = ''] }) => !SHELLS.has(basename(program)))
}

function argvOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
  } catch {
    return [] // it has just ended
  }
}

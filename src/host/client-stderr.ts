/** A line on the standard error of the client that runs a hook, for clients that print nothing of what a hook says. */
import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs'
import { basename } from 'node:path'
import { ancestors } from './ancestors.ts'

const SHELLS = new Set(['sh', 'bash', 'dash', 'ash', 'zsh', 'busybox'])

/**
 * Only a client that was started with one of these words prints; any other draws a screen, which a line would spoil.
 * Nothing happens where there is no /proc, or where its standard error is a socket.
 */
export function printThrough(words: readonly string[], line: string, hook: number = process.ppid): void {
  const above = ancestors(hook).map(({ pid }) => ({ pid, argv: argvOf(pid) }))
  const client = above.find(({ argv: [program = ''] }) => !SHELLS.has(basename(program)))
  if (!client?.argv.slice(1).some((word) => words.includes(word))) return
  try {
    const { O_WRONLY, O_APPEND, O_NONBLOCK, O_NOCTTY } = constants
    const file = openSync(`/proc/${client.pid}/fd/2`, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY)
    writeSync(file, `${line}\n`)
    closeSync(file)
  } catch {
    // The client has closed it, or it is a socket: then `ralph status` alone tells how the loop ended.
  }
}

function argvOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
  } catch {
    return [] // it has just ended
  }
}

/** Prints a line to the standard error of the client that runs a hook, for clients that print nothing a hook says. */
import { closeSync, constants, fstatSync, openSync, readFileSync, writeSync } from 'node:fs'
import { clientAbove } from './client.ts'

/**
 * Only a client that was started with one of these words prints; any other draws a screen, which a line would spoil.
 * Does nothing without /proc, if the standard error is a socket, or if a line could damage what the client writes.
 */
export function printThrough(words: readonly string[], line: string, hook: number = process.ppid): void {
  const client = clientAbove(hook)
  if (!client?.argv.slice(1).some((word) => words.includes(word))) return
  const path = `/proc/${client.pid}/fd/2`
  try {
    const { O_WRONLY, O_APPEND, O_NONBLOCK, O_NOCTTY } = constants
    const file = openSync(path, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY)
    try {
      // Still an ancestor of this process, so the id was not reused before the file was opened.
      const isIts = clientAbove(hook)?.pid === client.pid
      if (isIts && (!fstatSync(file).isFile() || appends(client.pid))) writeSync(file, `${line}\n`)
    } finally {
      closeSync(file)
    }
  } catch {
    // The client has closed it, or it is a socket or a full pipe: then only `ralph status` shows it.
  }
}

/** In any other file the client writes at its own offset, over what others have appended. */
function appends(pid: number): boolean {
  const [, flags = '0'] = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/${pid}/fdinfo/2`, 'utf8')) ?? []
  return (Number.parseInt(flags, 8) & constants.O_APPEND) !== 0
}

/**
 * Programs that talk to the person in this very terminal: started in it, ended politely, and the terminal made usable
 * again.
 */
import { spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { isFolder } from './files.ts'
import { folderMissing } from './plain-words.ts'
import type { Ended } from './process.ts'
import { countForks, endProcesses, listProcesses } from './process-tree.ts'

export type Talking = {
  argv: readonly string[]
  dir: string
  env: Readonly<Record<string, string | undefined>>
  graceMs: number
  /** Ends the program and everything it started. */
  signal: AbortSignal
}

/**
 * Runs a program that has the terminal to itself: it stays in ralph's own process group, so that keys such as Ctrl-C
 * and Ctrl-Z mean what they always mean there, and ralph itself ignores Ctrl-C.
 */
export async function runInTerminal({ argv, dir, env, graceMs, signal }: Talking): Promise<Ended> {
  if (signal.aborted) return { code: null, signal: null, stopped: 'told' }
  const restore = rememberTerminal()
  const marker = randomUUID()
  const forks = countForks()
  const ignore = () => {}
  process.on('SIGINT', ignore)
  try {
    // Through sh, which itself says what is wrong with a program that cannot be started.
    const words = ['-c', 'exec "$@"', 'ralph', ...argv]
    const child = spawn('/bin/sh', words, { cwd: dir, env: { ...env, RALPH_PROCESS: marker }, stdio: 'inherit' })
    const exit = new Promise<Ended>((done, failed) =>
      child.once('exit', (code, by) => done({ code, signal: by })).once('error', failed),
    )
    const exited = () => child.exitCode !== null || child.signalCode !== null
    let ending: Promise<void> | undefined
    const end = () =>
      (ending ??= endProcesses({ group: child.pid ?? 0, marker: `RALPH_PROCESS=${marker}`, forks, graceMs, exited }))
    const stop = () => {
      if (listProcesses().length === 0) child.kill('SIGTERM') // no /proc: only the program itself can be found
      void end().then(() => child.kill('SIGKILL'))
    }
    signal.addEventListener('abort', stop, { once: true })
    const ended = await exit.catch((cause) => {
      throw isFolder(dir) ? cause : folderMissing(dir, cause)
    })
    signal.removeEventListener('abort', stop)
    await end()
    return signal.aborted ? { ...ended, stopped: 'told' } : ended
  } finally {
    process.off('SIGINT', ignore)
    restore()
  }
}

/**
 * The current settings of the terminal, to restore later. A killed program may leave it without echo or line breaks.
 */
function rememberTerminal(): () => void {
  const asked = spawnSync('stty', ['-g'], { stdio: ['inherit', 'pipe', 'ignore'], encoding: 'utf8' })
  const saved = asked.status === 0 ? asked.stdout.trim() : ''
  return () => {
    if (saved) spawnSync('stty', [saved], { stdio: ['inherit', 'ignore', 'ignore'] })
    if (process.stdout.isTTY) process.stdout.write(MODES_OFF)
  }
}

// Leaving the alternate screen moves the cursor to where it was saved, even if no program was on that screen; so it is
// saved first, on each screen separately.
const MODES_OFF = [
  '\u001b7',
  '\u001b[?1049l',
  '\u001b[?25h',
  '\u001b[0m',
  // mouse, focus, bracketed paste, and two extended keyboard protocols
  ...[1000, 1002, 1003, 1006, 1004, 2004].map((mode) => `\u001b[?${mode}l`),
  '\u001b[<u',
  '\u001b[>4m',
  '\r\n\u001b[J',
].join('')

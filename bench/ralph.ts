/** The ralph that is measured: the built one, started the way users do. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { leaveNothing } from './leftovers.ts'

export const RALPH: string = join(import.meta.dirname, '..', 'bin', 'ralph.cjs')

export type Running = { dir: string; home: string; timeoutMs: number; whileItRuns?: (child: ChildProcess) => void }

/** Runs `ralph run` to its end: these loops halt at their iteration limit. */
export async function ralphRun(options: readonly string[], running: Running): Promise<void> {
  const { dir, home, timeoutMs, whileItRuns } = running
  const ours = Object.entries(process.env).filter(([name]) => !name.startsWith('RALPH_'))
  const child = spawn(process.execPath, [RALPH, 'run', 'There is nothing to do.', '--dir', dir, ...options], {
    env: { ...Object.fromEntries(ours), RALPH_HOME: home },
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  })
  const end = leaveNothing(() => child.kill('SIGKILL'))
  try {
    whileItRuns?.(child)
    const [code] = await once(child, 'exit')
    if (code !== 1) throw new Error(`ralph run ended with ${code ?? child.signalCode}, not at its iteration limit.`)
  } finally {
    end()
  }
}

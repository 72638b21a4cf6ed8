/** One call of tmux. */
import { execFile } from 'node:child_process'
import { RalphError } from '../error.ts'
import { findOwnProgram } from './own-program.ts'
import { isShortage } from './plain-words.ts'
import { startWhenRoom } from './shortage.ts'

type Answer = { ok: boolean; out: string; error: string }

const PATIENCE_MS = 10_000

export function callTmux(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  stdin = '',
): Promise<Answer> {
  return startWhenRoom(() => callOnce(args, env, stdin))
}

function callOnce(...[args, env, stdin]: Required<Parameters<typeof callTmux>>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const options = { env: { ...env }, timeout: PATIENCE_MS, maxBuffer: 1 << 26 }
    const program = findOwnProgram('tmux', process.cwd(), env.PATH)
    if (program === undefined) return reject(missing())
    const child = execFile(program, args, options, (failure, out, error) => {
      if (!failure) return resolve({ ok: true, out, error: '' })
      if (failure.code === 'ENOENT') return reject(missing())
      if (isShortage(failure)) return reject(failure)
      resolve({ ok: false, out: '', error: error.trim() || failure.message })
    })
    child.stdin?.on('error', () => {}) // it may exit without reading
    child.stdin?.end(stdin)
  })
}

export function must(answer: Answer): void {
  if (!answer.ok) throw new RalphError('tmux-failed', `tmux refused: ${answer.error}.`)
}

function missing(): RalphError {
  return new RalphError(
    'tmux-missing',
    'tmux is not installed, and the dispatcher runs its agents in it. Install tmux 3.2 or newer (apt install tmux, brew install tmux).',
  )
}

/** A real `ralph serve` with its own home, and how to send it requests. */
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { leaveNothing } from './leftovers.ts'
import { RALPH } from './ralph.ts'

export type Server = {
  pid: number
  url: string
  token: string
  ask(path: string, body?: unknown): Promise<unknown>
  /** The memory of its process. */
  memoryMb(): number
}

export async function withServer<Result>(
  home: string,
  options: readonly string[],
  work: (server: Server) => Promise<Result>,
): Promise<Result> {
  const child = startServer(home, options)
  const end = leaveNothing(() => child.kill('SIGKILL'))
  try {
    const { url, token } = await addressOf(child)
    const pid = child.pid ?? 0
    const ask: Server['ask'] = (path, body) => asked({ url, token, path, body })
    return await work({ pid, url, token, ask, memoryMb: () => memoryOf(pid) })
  } finally {
    end()
  }
}

export function startServer(home: string, options: readonly string[] = []): ChildProcess {
  const ours = Object.entries(process.env).filter(([name]) => !name.startsWith('RALPH_'))
  return spawn(process.execPath, [RALPH, 'serve', '--port', '0', '--json', ...options], {
    cwd: home,
    env: { ...Object.fromEntries(ours), RALPH_HOME: home },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

/** Reads them from its first line. */
export async function addressOf({ stdout }: ChildProcess): Promise<{ url: string; token: string }> {
  if (!stdout) throw new Error('The server printed nothing.')
  for await (const line of createInterface({ input: stdout })) {
    const said = JSON.parse(line) as { url?: string; token?: string }
    if (said.url && said.token) return { url: said.url, token: said.token }
  }
  throw new Error('The server ended before it printed its address.')
}

type Asking = { url: string; token: string; path: string; body?: unknown }

async function asked({ url, token, path, body }: Asking): Promise<unknown> {
  const response = await fetch(new URL(path, url), {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const answer: unknown = await response.json()
  if (!response.ok) throw new Error(`${path} was answered with ${response.status}: ${JSON.stringify(answer)}`)
  return answer
}

function memoryOf(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
}

/** The way to ralph: one call of the hook program for every decision. */
import { execFileSync, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type Answer, type Ask, parseAnswer, parseObject, words } from './answer.ts'

export type Place = { session: string; cwd: string }

export type Called = Answer | { failed: string } | { stopped: true }

export type Calling = { signal?: AbortSignal; checking?(check: string): void; withinMs?: number }

export type Program = {
  home: string
  /** ralph's own command line. */
  ralph(...args: string[]): string[]
  call(place: Place, ask: Ask, calling?: Calling): Promise<Called>
}

/** Silence means that the session has no loop. */
const NOTHING = '{"next":"none","status":"none"}'
const NEEDED = [22, 19] as const
const NO_NODE = `Node ${NEEDED.join('.')} or newer is needed. Install Node 24, or set RALPH_NODE to the path of a newer node.`
/** How long it may take to exit by itself. */
const GRACE_MS = 3_000

export function openProgram(env: NodeJS.ProcessEnv): Program {
  const folder = dirname(fileURLToPath(import.meta.url))
  const home = env.RALPH_HOME || join(homedir(), '.ralph')
  const file = [join(folder, 'hook.cjs'), join(home, 'hook.cjs')].find(existsSync)
  let node: { path: string | undefined } | undefined
  const findNode = () => {
    node ??= { path: nodes(env, home).find(isNew) }
    return node.path
  }
  return {
    home,
    // A program that has answered has found a Node.
    ralph: (...args) => [findNode() ?? 'node', join(folder, '..', 'bin', 'ralph.cjs'), ...args],
    async call(place, ask, calling) {
      const path = findNode()
      if (path === undefined) return { failed: NO_NODE }
      if (file === undefined) return { failed: `hook.cjs is missing in ${folder}. Reinstall ralph.` }
      return await run([path, file], { host: 'pi', session_id: place.session, cwd: place.cwd, ...ask }, place, calling)
    },
  }
}

function nodes(env: NodeJS.ProcessEnv, home: string): string[] {
  // A Pi that is a single binary is not Node.
  const own = process.versions.bun === undefined ? [process.execPath] : []
  return [...own, ...(env.RALPH_NODE ? [env.RALPH_NODE] : []), join(home, 'node'), 'node']
}

function isNew(path: string): boolean {
  try {
    return isNewEnough(
      path === process.execPath
        ? process.version
        : execFileSync(path, ['--version'], { encoding: 'utf8', timeout: 5_000, stdio: ['ignore', 'pipe', 'ignore'] }),
    )
  } catch {
    return false // not found
  }
}

export function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.trim().replace(/^v/, '').split('.').map(Number)
  return major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1])
}

function run([node, file]: [string, string], ask: object, { cwd }: Place, calling: Calling = {}): Promise<Called> {
  const { signal, checking, withinMs } = calling
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve({ stopped: true })
    const env = { ...process.env, RALPH_HOST_PID: String(process.pid) }
    const child = spawn(node, [file], { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] })
    let out = ''
    let lastWords = ''
    const end = () => {
      child.kill('SIGTERM')
      setTimeout(() => child.kill('SIGKILL'), GRACE_MS).unref()
    }
    const late = withinMs === undefined ? undefined : setTimeout(end, withinMs)
    signal?.addEventListener('abort', end, { once: true })
    const settle = (called: Called) => {
      clearTimeout(late)
      signal?.removeEventListener('abort', end)
      resolve(signal?.aborted ? { stopped: true } : called)
    }
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
    createInterface({ input: child.stderr }).on('line', (line) => {
      const check = words(parseObject(line).checking)
      if (check !== undefined) checking?.(check)
      else if (line.trim()) lastWords = line.trim().slice(0, 300)
    })
    child.stdin.on('error', () => {}) // it may exit without reading
    child.stdin.end(JSON.stringify(ask))
    child.on('error', (cause) => settle({ failed: `its program could not be started: ${cause.message}` }))
    child.on('close', (code, killed) => {
      settle(
        parseAnswer(out || (code === 0 ? NOTHING : '')) ?? {
          failed: `its program gave no answer (${killed ?? code})${lastWords && `: ${lastWords}`}`,
        },
      )
    })
  })
}

/**
 * Pi with ralph's extension, as a user would use it: printed, as JSON, over RPC, in a terminal; against a scripted
 * model.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach } from 'vitest'
import { pi } from './clients/pi.ts'
import type { Client } from './clients.ts'
import { openLive } from './conformance.ts'
import type { Replies } from './model-server.ts'
import { type Line, makePlace, type Place, until } from './ralph.ts'
import { openTerminal, type Terminal } from './tmux.ts'

const EXTENSION = resolve('plugins/pi/index.js')

/** The newest Pi. */
export const newestPi: Client = {
  ...piVersion('1.5.0'),
  bundled: {
    main: 'dist/bundle/cli.js',
    loads: ['jiti@2.7.0', 'typebox@1.3.27', 'quickjs-wasi@3.6.2', '@silvia-odwyer/photon-node@0.3.4'],
  },
}

/** Another version of Pi, in its own folder. */
export function piVersion(version: string): Client {
  return { ...pi, name: `pi-${version}`, pin: `@earendil-works/pi-coding-agent@${version}` }
}

export type Ran = { code: number | null; stdout: string; stderr: string; lines: Line[] }

export type Rpc = {
  tell(command: object): void
  lines(): Line[]
  /** Waits for a line. */
  receives(what: string, is: (line: Line) => boolean): Promise<Line>
  end(): Promise<number | null>
}

export type PiSession = {
  place: Place
  /** One complete `pi -p` or `pi --mode json`. */
  run(...args: string[]): Promise<Ran>
  rpc(...args: string[]): Rpc
  terminal(...args: string[]): Promise<Terminal>
}

type Live = ReturnType<typeof openLive>

export function openPi(client: Client): Pick<Live, 'live' | 'requests'> & {
  /** A place whose model gives these replies. */
  session(replies: Replies, place?: Place): Promise<PiSession>
} {
  const { live, start, requests } = openLive(client)
  const children: ChildProcess[] = []
  const terminals: Terminal[] = []
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL')
    for (const terminal of terminals.splice(0)) terminal.close()
  })

  async function session(replies: Replies, place: Place = makePlace()): Promise<PiSession> {
    const env: Record<string, string | undefined> = { ...place.env, ...(await start(replies, place)) }
    const program = join(env.PATH?.split(':')[0] ?? '', 'pi')
    const begin = (args: readonly string[]) => {
      const child = spawn(program, ['-e', EXTENSION, ...args], { cwd: place.dir, env, stdio: 'pipe' })
      children.push(child)
      let [stdout, stderr] = ['', '']
      child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
      child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
      return { child, closed: once(child, 'close'), out: () => stdout, error: () => stderr }
    }
    return {
      place,
      async run(...args) {
        const { child, closed, out, error } = begin(args)
        child.stdin.end()
        const [code] = await closed
        return { code, stdout: out(), stderr: error(), lines: args.includes('json') ? jsonLines(out()) : [] }
      },
      rpc(...args) {
        const { child, closed } = begin(['--mode', 'rpc', ...args])
        const lines: Line[] = []
        createInterface({ input: child.stdout }).on('line', (line) => lines.push(JSON.parse(line)))
        return {
          tell: (command) => void child.stdin.write(`${JSON.stringify(command)}\n`),
          lines: () => lines,
          receives: (what, is) => until(`${what} from Pi`, () => lines.find(is), 30_000),
          async end() {
            child.stdin.end()
            const [code] = await closed
            return code
          },
        }
      },
      async terminal(...args) {
        const terminal = openTerminal([program, '-e', EXTENSION, ...args], {
          dir: place.dir,
          env: { ...env, TERM: 'screen-256color', LANG: 'C.UTF-8' },
        })
        terminals.push(terminal)
        await terminal.shows('scripted')
        return terminal
      },
    }
  }

  return { live, requests, session }
}

function jsonLines(text: string): Line[] {
  return text.split('\n').flatMap((line) => (line ? [JSON.parse(line) as Line] : []))
}

/** `ralph serve`: the operations over HTTP, and a process that runs loops in the background. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { findOwnProgram } from '../../host/own-program.ts'
import { given } from '../../request/given.ts'
import { type Args, type CommandSpec, parseArgs, usage } from './args.ts'
import type { Command, Context } from './context.ts'
import { jsonLine, paint } from './text.ts'

const spec: CommandSpec = {
  name: 'serve',
  words: '[options]',
  summary: 'Serves the board in a browser, a REST API, live events and MCP, and runs loops in the background.',
  about: `Listens on 127.0.0.1 and prints its address with a token. Anyone with the token can do everything you can do with ralph, so keep
it secret. There is one server per RALPH_HOME; it shows every loop there, no matter what started it. Ctrl-C or SIGTERM pauses the
loops it runs; the next \`ralph serve\` resumes them. docs/server.md explains the API.`,
  options: {
    port: { value: 'P', help: 'port to listen on (default: 4444, or the next free one; 0: any)' },
    open: { help: 'open the page in your browser' },
    concurrency: { value: 'N', help: 'run up to N loops at once (default: 4)' },
    host: { value: 'H', help: 'IP address to listen on instead of 127.0.0.1; needs --allow-host' },
    'allow-host': {
      value: 'NAME',
      many: true,
      help: 'accept requests for this host name too; may be repeated',
    },
    'new-token': { help: 'replace the token; the old one stops working' },
    verbose: { help: 'print a line per request' },
    json: { help: 'print one JSON object per line' },
  },
  examples: [
    ['ralph serve --open', 'start the server and open the page'],
    ['ralph serve --port 0 --json', 'for scripts: use any free port and print the address as JSON'],
  ],
}

/** The server bundle. Loaded on demand, because no other command needs its dependencies. */
export type ServerProgram = {
  serve(serving: {
    root: string
    version: string
    env: Readonly<Record<string, string | undefined>>
    cwd: string
    database?: string
    host: string
    port?: number
    allowHosts: readonly string[]
    concurrency: number
    newToken: boolean
    stop: AbortSignal
    ready(server: Running): void
    note(text: string): void
    log?: (line: string) => void
  }): Promise<void>
}

export type Running = { url: string; token: string; pid: number; started_at: string }

export const serve: Command = {
  spec,
  async run(argv, context) {
    const args = parseArgs(spec, argv, 0)
    const { root, version, env, cwd, err } = context
    const json = args.flag('json')
    const stopping = onStop()
    const note = (text: string) => (json ? tell(context, { type: 'note', text }) : err.write(`ralph: ${text}\n`))
    const { serve: run } = await loadServer(context)
    const host = args.text('host') ?? '127.0.0.1'
    try {
      await run({
        ...{ root, version, env, cwd, host, note, stop: stopping.signal },
        ...given({
          port: portOf(args),
          database: context.database,
          log: args.flag('verbose') ? err.write : undefined,
        }),
        allowHosts: args.many('allow-host'),
        concurrency: args.whole('concurrency', 1) ?? 4,
        newToken: args.flag('new-token'),
        ready(server) {
          if (json) tell(context, { type: 'serve-start', ...server })
          else welcome(context, server)
          if (args.flag('open')) openBrowser(addressOf(server), note)
        },
      })
    } finally {
      stopping.release()
    }
    return stopping.code()
  },
}

export async function loadServer({ root }: Pick<Context, 'root'>): Promise<ServerProgram> {
  return (await import(pathToFileURL(join(root, 'dist', 'server.mjs')).href)) as ServerProgram
}

export function portOf(args: Args): number | undefined {
  const port = args.whole('port')
  if (port !== undefined && port > 65_535) throw usage(args.spec, `--port must be at most 65535, got ${port}.`)
  return port
}

/** The part after # is never sent over the network. */
export function addressOf({ url, token }: Running): string {
  return `${url}#t=${token}`
}

function welcome({ out, version }: Context, server: Running): void {
  out.write(`${paint(out, 'bold', 'ralph')} ${version} · ${addressOf(server)}\n`)
  out.write('Press Ctrl-C to stop. Running loops are paused; the next `ralph serve` resumes them.\n')
}

function tell({ out }: Context, value: object): void {
  out.write(jsonLine(value))
}

/** Ctrl-C and SIGTERM do the same; only the exit code differs. */
export function onStop(): { signal: AbortSignal; code(): number; release(): void } {
  const stop = new AbortController()
  let code = 0
  const interrupt = () => {
    code = 130
    stop.abort()
  }
  const end = () => stop.abort()
  process.on('SIGINT', interrupt).on('SIGTERM', end).on('SIGHUP', end)
  return {
    signal: stop.signal,
    code: () => code,
    release: () => void process.off('SIGINT', interrupt).off('SIGTERM', end).off('SIGHUP', end),
  }
}

const OPENERS: Readonly<Record<string, string[]>> = { darwin: ['open'], win32: ['cmd', '/c', 'start', ''] }

export function openBrowser(url: string, note: (text: string) => void): void {
  const [program = '', ...args] = OPENERS[process.platform] ?? ['xdg-open']
  const missing = () => note(`Cannot open a browser: ${program} was not found. Open the address above yourself.`)
  const path = process.platform === 'win32' ? program : findOwnProgram(program, process.cwd())
  if (path === undefined) {
    missing()
    return
  }
  const child = spawn(path, [...args, url], { stdio: 'ignore', detached: true })
  child.on('error', missing)
  child.unref()
}

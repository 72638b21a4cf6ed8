/** `ralph serve`: the operations over HTTP, and loops driven by a process that stays. */
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
  summary: 'Runs a server on this machine: a REST API, live events and MCP, with loops driven in the background.',
  about: `Listens on 127.0.0.1 and prints its address with a token. Whoever has the token can do what you can do with ralph, so keep it
to yourself. One server per RALPH_HOME; it shows every loop there, whatever started it. Ctrl-C or SIGTERM pauses the loops that it
drives; the next \`ralph serve\` continues them. docs/server.md explains the API.`,
  options: {
    port: { value: 'P', help: 'port to listen on (default: 4444, or the next free one; 0: any)' },
    open: { help: 'open the page in your browser' },
    concurrency: { value: 'N', help: 'run up to N loops at the same time (default 4)' },
    host: { value: 'H', help: 'IP address to listen on instead of 127.0.0.1; needs --allow-host' },
    'allow-host': {
      value: 'NAME',
      many: true,
      help: 'another host name that the server may be used by; may be given several times',
    },
    'new-token': { help: 'replace the token; the old one no longer works' },
    verbose: { help: 'print a line for each request' },
    json: { help: 'print one JSON object per line' },
  },
  examples: [
    ['ralph serve --open', 'start it and open the page'],
    ['ralph serve --port 0 --json', 'for a program that starts it: any free port, the address as JSON'],
  ],
}

/** What the program of the server is given. It is loaded when it is needed, because nothing else needs what it is made of. */
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
  if (port !== undefined && port > 65_535) throw usage(args.spec, `--port must be at most 65535, but is ${port}.`)
  return port
}

/** What stands behind # is never sent anywhere. */
export function addressOf({ url, token }: Running): string {
  return `${url}#t=${token}`
}

function welcome({ out, version }: Context, server: Running): void {
  out.write(`${paint(out, 'bold', 'ralph')} ${version} · ${addressOf(server)}\n`)
  out.write('Stop with Ctrl-C: its loops are paused, and the next `ralph serve` continues them.\n')
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
  const missing = () => note(`cannot open a browser: ${program} was not found. Open the address above yourself.`)
  const path = process.platform === 'win32' ? program : findOwnProgram(program, process.cwd())
  if (path === undefined) {
    missing()
    return
  }
  const child = spawn(path, [...args, url], { stdio: 'ignore', detached: true })
  child.on('error', missing)
  child.unref()
}

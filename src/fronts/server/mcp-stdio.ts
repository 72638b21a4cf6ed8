/** `ralph mcp`: MCP over stdin and stdout, for one client, as long as it keeps stdin open. */
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { setImmediate as nextMoment, setTimeout as sleep } from 'node:timers/promises'
import type { McpServerFactory } from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { harmless } from '../../formats/harmless.ts'
import { cutTo, oneLine } from '../../formats/one-line.ts'
import { openContext } from '../../operations/context.ts'
import type { Context, Workers } from '../../operations/operation.ts'
import { type OpenWorkers, openWorkers } from '../../operations/workers.ts'
import { buildMcp, type Offer } from './mcp.ts'
import { tellConnection } from './mcp-changes.ts'
import { loopOffer } from './mcp-loop.ts'
import { wholeOffer } from './mcp-offer.ts'

/** How many loops are driven at a time where no server does it. */
const CONCURRENCY = 4

/** The process that it runs in, in Node's words. */
export type Machine = {
  env: Readonly<Record<string, string | undefined>>
  cwd(): string
  stdin: Readable
  stdout: Writable
  stderr: Writable
}

/** Stdout belongs to the protocol: what a person should know goes to stderr. Returns the exit code. */
export async function mcp(
  ralph: Pick<Context, 'root'> & { database?: string },
  machine: Machine,
  offerOf: (context: Context) => Offer = wholeOffer,
): Promise<number> {
  const note = (text: string) => void machine.stderr.write(`ralph: ${harmless(text)}\n`)
  const { RALPH_DATABASE: _, ...env } = machine.env // agents and checks get this environment
  const context = openContext({ ...ralph, note, env, cwd: () => machine.cwd() })
  const workers = workersWhenNeeded(context)
  const leaving = new AbortController()
  const leave = () => leaving.abort()
  for (const signal of SIGNALS) process.on(signal, leave)
  try {
    context.store() // a home that cannot be used is said here, where a client would hear only of an internal error
    await serve(Object.assign(context, { workers }), offerOf(context), { machine, leaving })
    return 0
  } finally {
    await workers.stop() // a client that asks twice does not hurry it: what is paused well goes on well
    await context.close()
    for (const signal of SIGNALS) process.off(signal, leave)
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** `ralph mcp --loop`: the same for the agent inside a loop. */
export function mcpInside(ralph: Pick<Context, 'root'>, machine: Machine): Promise<number> {
  return mcp(ralph, machine, loopOffer)
}

type Serving = { machine: Machine; leaving: AbortController }

/** Resolves when the client has gone. */
async function serve(context: Context, offer: Offer, { machine, leaving }: Serving): Promise<void> {
  const { stdin, stdout } = machine
  const leave = () => leaving.abort()
  for (const event of ['end', 'close', 'error']) stdin.once(event, leave)
  stdout.once('error', leave)
  const transport = new StdioServerTransport(stdin, stdout)
  // What a schema finds wrong with a message is data, not a sentence.
  const onerror = ({ message }: Error) =>
    context.note(/^[[{]/.test(message) ? 'A message that is not MCP was ignored.' : cutTo(oneLine(message), 200))
  const { tools, rest } = followed(offer.tools)
  const build: McpServerFactory = ({ era }) => {
    const server = buildMcp(context, { ...offer, tools })
    if (offer.resources) tellConnection(server, context, era)
    return server
  }
  const handle = serveStdio(build, { transport, onerror })
  // It hangs up by itself, too: on a message that is too long.
  const { onclose } = transport
  transport.onclose = () => {
    onclose?.()
    leave()
  }
  if (!leaving.signal.aborted) await once(leaving.signal, 'abort')
  await rest()
  await handle.close()
}

/** Long enough for what was asked just before the client went. */
const GRACE_MS = 5_000

/** The tools, and a way to wait until what they were called for is answered. */
function followed(offered: Offer['tools']): { tools: Offer['tools']; rest(): Promise<void> } {
  const calls = new Set<Promise<unknown>>()
  const tools = offered.map((tool) => ({
    ...tool,
    run(...asked: Parameters<typeof tool.run>) {
      const call = tool.run(...asked)
      calls.add(call)
      call.finally(() => calls.delete(call)).catch(() => {}) // who called hears of it
      return call
    },
  }))
  return {
    tools,
    async rest() {
      await nextMoment() // what came last is only now being looked at
      if (calls.size > 0) await Promise.race([Promise.allSettled(calls), sleep(GRACE_MS, undefined, { ref: false })])
      await nextMoment()
    },
  }
}

/** A client that only looks drives nothing, and takes the queue from nobody. */
function workersWhenNeeded(context: Context): OpenWorkers {
  let opened: OpenWorkers | undefined
  const open = (): Workers =>
    (opened ??= openWorkers(context, { concurrency: CONCURRENCY, say: context.note, yields: true }))
  return {
    take: (loop) => open().take(loop),
    look: () => open().look(),
    async stop() {
      await opened?.stop()
    },
  }
}

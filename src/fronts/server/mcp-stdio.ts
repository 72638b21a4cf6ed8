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

/** How many loops run at a time when no server drives them. */
const CONCURRENCY = 4

/** The process it runs in, in Node's terms. */
export type Machine = {
  env: Readonly<Record<string, string | undefined>>
  cwd(): string
  stdin: Readable
  stdout: Writable
  stderr: Writable
}

/** Stdout belongs to the protocol: messages for the user go to stderr. Returns the exit code. */
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
    context.store() // report an unusable home here: a client would see only an internal error
    await serve(Object.assign(context, { workers }), offerOf(context), { machine, leaving })
    return 0
  } finally {
    await workers.stop() // a second request does not hurry it: a clean pause resumes cleanly
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
  // What a schema reports about a message is data, not a sentence.
  const onerror = ({ message }: Error) =>
    context.note(/^[[{]/.test(message) ? 'Ignored a message that is not MCP.' : cutTo(oneLine(message), 200))
  const { tools, rest } = followed(offer.tools)
  const build: McpServerFactory = ({ era }) => {
    const server = buildMcp(context, { ...offer, tools })
    if (offer.resources) tellConnection(server, context, era)
    return server
  }
  const handle = serveStdio(build, { transport, onerror })
  // It also closes by itself on a message that is too long.
  const { onclose } = transport
  transport.onclose = () => {
    onclose?.()
    leave()
  }
  if (!leaving.signal.aborted) await once(leaving.signal, 'abort')
  await rest()
  await handle.close()
}

/** Long enough for requests made just before the client left. */
const GRACE_MS = 5_000

/** The tools, and a way to wait until pending calls are answered. */
function followed(offered: Offer['tools']): { tools: Offer['tools']; rest(): Promise<void> } {
  const calls = new Set<Promise<unknown>>()
  const tools = offered.map((tool) => ({
    ...tool,
    run(...asked: Parameters<typeof tool.run>) {
      const call = tool.run(...asked)
      calls.add(call)
      call.finally(() => calls.delete(call)).catch(() => {}) // the caller gets the error
      return call
    },
  }))
  return {
    tools,
    async rest() {
      await nextMoment() // the last message is only now being read
      if (calls.size > 0) await Promise.race([Promise.allSettled(calls), sleep(GRACE_MS, undefined, { ref: false })])
      await nextMoment()
    },
  }
}

/** A client that only reads drives nothing, and does not take over the queue. */
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

/** A model that gives scripted replies, on loopback, in the four protocols that agents use. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { anthropic, chat, gemini, type Protocol, responses } from './model-protocols.ts'

/**
 * `text` and `tools` make an answer; `status` makes an error, `error` alone one inside the stream (Responses); `hang`
 * never answers; `cut` ends the stream midway, and both together never end it.
 */
export type Reply = {
  text?: string
  tools?: { name: string; namespace?: string; input: object }[]
  stopReason?: string
  usage?: { input: number; output: number }
  status?: number
  headers?: Record<string, string>
  error?: { type: string; message: string }
  /** Replaces what the protocol makes of `error`. */
  body?: object
  hang?: true
  cut?: true
}

/** A claim in the form that every agent is asked for. */
export const DONE: Reply = { text: 'All done.\n\n<promise>COMPLETE</promise>' }

export function failure(status: number, type: string, message: string): Reply {
  return { status, error: { type, message } }
}

export type ModelServer = {
  url: string
  /** The bodies of the requests so far, parsed, except those outside the conversation. */
  requests: unknown[]
  close(): Promise<void>
}

export type Serving = {
  /** Requests outside the conversation, such as for a title: answered at once with one word, and not counted. */
  isAside?: (body: unknown) => boolean
  /** Sent with every error, for clients that would otherwise retry for minutes. */
  errorHeaders?: Record<string, string>
}

const PROTOCOLS: readonly Protocol[] = [anthropic, responses, chat, gemini]

/** Replies are given in order; a function gets the request's body and number. The last reply of a list is repeated. */
export type Replies = Reply[] | ((body: unknown, number: number) => Reply)

export async function startModelServer(
  replies: Replies,
  { isAside = () => false, errorHeaders }: Serving = {},
): Promise<ModelServer> {
  const requests: unknown[] = []
  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()))

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request)
    const url = request.url ?? ''
    const protocol = request.method === 'POST' ? PROTOCOLS.find(({ path }) => path.test(url)) : undefined
    if (!protocol)
      return sendJson(response, /\/models\b/.test(url) ? 200 : 404, { data: [{ id: 'scripted', object: 'model' }] })
    if (isAside(body)) return send(response, protocol, { text: 'Aside' }, { number: -1, url, body })
    const number = requests.push(body) - 1
    const reply = typeof replies === 'function' ? replies(body, number) : (replies[number] ?? replies.at(-1) ?? {})
    const headers = reply.status === undefined ? reply.headers : { ...errorHeaders, ...reply.headers }
    if (!reply.hang || reply.cut)
      send(response, protocol, { ...reply, ...(headers && { headers }) }, { number, url, body })
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

type Asked = { number: number; url: string; body: unknown }

function send(response: ServerResponse, protocol: Protocol, reply: Reply, { number, url, body }: Asked): void {
  if (reply.status !== undefined) {
    const { type, message } = reply.error ?? { type: 'api_error', message: `scripted ${reply.status}` }
    sendJson(response, reply.status, reply.body ?? protocol.error(reply.status, type, message), reply.headers)
    return
  }
  const streamed = /:streamGenerateContent/.test(url) || hasStream(body)
  if (!streamed) {
    sendJson(response, 200, protocol.whole(reply, number), reply.headers)
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', ...reply.headers })
  const events = protocol.stream(reply, number)
  for (const event of reply.cut ? events.slice(0, cutAt(events, reply)) : events) response.write(event)
  if (!reply.hang) response.end()
}

/** After the first event, or after the text of an answer that never ends. */
function cutAt(events: readonly string[], { text, hang }: Reply): number {
  const words = JSON.stringify(text ?? '').slice(1, -1)
  return 1 + (hang && words ? events.findIndex((event) => event.includes(words)) : 0)
}

function sendJson(response: ServerResponse, status: number, value: object, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(value))
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  return text ? JSON.parse(text) : undefined
}

function hasStream(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'stream' in body && body.stream === true
}

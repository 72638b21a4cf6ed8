/** A model that says what a test wrote down: the Anthropic Messages API on loopback, one scripted reply a request. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** `text` and `tools` make an answer; `status` makes an error; `hang` never answers; `cut` ends the stream half-way. */
export type Reply = {
  text?: string
  tools?: { name: string; input: object }[]
  stopReason?: string
  usage?: { input: number; output: number }
  status?: number
  headers?: Record<string, string>
  error?: { type: string; message: string }
  hang?: true
  cut?: true
}

export type ModelServer = {
  url: string
  /** The bodies of the requests so far, parsed. */
  requests: unknown[]
  close(): Promise<void>
}

/** The replies are given in order; a function sees the request's body and its number. The last one of a list is repeated. */
export async function startModelServer(
  replies: Reply[] | ((body: unknown, number: number) => Reply),
): Promise<ModelServer> {
  const requests: unknown[] = []
  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()))

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request)
    if (request.method !== 'POST' || !request.url?.startsWith('/v1/messages')) return void response.writeHead(404).end()
    const number = requests.push(body) - 1
    const reply = typeof replies === 'function' ? replies(body, number) : (replies[number] ?? replies.at(-1) ?? {})
    if (reply.hang) return
    if (reply.status !== undefined) {
      const { error = { type: 'api_error', message: `scripted ${reply.status}` } } = reply
      response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers })
      return void response.end(JSON.stringify({ type: 'error', error }))
    }
    if (!isStreamed(body)) {
      response.writeHead(200, { 'content-type': 'application/json', ...reply.headers })
      return void response.end(JSON.stringify(wholeOf(reply, number)))
    }
    response.writeHead(200, { 'content-type': 'text/event-stream', ...reply.headers })
    for (const event of streamOf(reply, number))
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    response.end()
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

async function readBody(request: IncomingMessage): Promise<unknown> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  return text ? JSON.parse(text) : undefined
}

function isStreamed(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'stream' in body && body.stream === true
}

type StreamEvent = { type: string } & Record<string, unknown>

/** The whole message, as it is sent to who asks for no stream. */
function wholeOf({ text, tools = [], stopReason, usage = { input: 100, output: 20 } }: Reply, number: number): Message {
  return {
    id: `msg_${number}`,
    type: 'message',
    role: 'assistant',
    model: 'scripted',
    content: [
      ...(text === undefined ? [] : [{ type: 'text', text }]),
      ...tools.map((tool, index) => ({ type: 'tool_use', id: `toolu_${number}_${index}`, ...tool })),
    ],
    stop_reason: stopReason ?? (tools.length > 0 ? 'tool_use' : 'end_turn'),
    stop_sequence: null,
    usage: { input_tokens: usage.input, output_tokens: usage.output },
  }
}

type Message = StreamEvent & { content: Block[]; stop_reason: string; usage: Record<string, number> }

function streamOf(reply: Reply, number: number): StreamEvent[] {
  const { content, stop_reason, usage, ...message } = wholeOf(reply, number)
  const begun = { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } }
  const start: StreamEvent = { type: 'message_start', message: begun }
  if (reply.cut) return [start]
  return [
    start,
    ...content.flatMap((block, index) => blockEvents(block, index)),
    {
      type: 'message_delta',
      delta: { stop_reason, stop_sequence: null },
      usage: { output_tokens: usage.output_tokens },
    },
    { type: 'message_stop' },
  ]
}

type Block = { type: string; text?: string; id?: string; name?: string; input?: object }

function blockEvents(block: Block, index: number): StreamEvent[] {
  const { type, id, name } = block
  const empty = type === 'text' ? { type, text: '' } : { type, id, name, input: {} }
  const delta =
    type === 'text'
      ? { type: 'text_delta', text: block.text }
      : { type: 'input_json_delta', partial_json: JSON.stringify(block.input) }
  return [
    { type: 'content_block_start', index, content_block: empty },
    { type: 'content_block_delta', index, delta },
    { type: 'content_block_stop', index },
  ]
}

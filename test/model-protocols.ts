/** A scripted reply in each protocol: Anthropic Messages, OpenAI Responses, OpenAI Chat, Gemini. */
import type { Reply } from './model-server.ts'

export type Protocol = {
  path: RegExp
  /** The lines of a stream of server-sent events. */
  stream(reply: Reply, number: number): string[]
  whole(reply: Reply, number: number): object
  error(status: number, type: string, message: string): object
}

const USAGE = { input: 100, output: 20 }

function sse(value: object, event?: string): string {
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(value)}\n\n`
}

export const anthropic: Protocol = {
  path: /\/v1\/messages(\?|$)/,
  error: (_, type, message) => ({ type: 'error', error: { type, message } }),
  whole: ({ text, tools = [], stopReason, usage = USAGE }, number) => ({
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
  }),
  stream({ text, tools = [], stopReason, usage = USAGE }, number) {
    const message = {
      id: `msg_${number}`,
      type: 'message',
      role: 'assistant',
      model: 'scripted',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: usage.input, output_tokens: 1 },
    }
    const blocks = [
      ...(text === undefined ? [] : [{ block: { type: 'text', text: '' }, delta: { type: 'text_delta', text } }]),
      ...tools.map(({ name, input }, index) => ({
        block: { type: 'tool_use', id: `toolu_${number}_${index}`, name, input: {} },
        delta: { type: 'input_json_delta', partial_json: JSON.stringify(input) },
      })),
    ]
    const delta = { stop_reason: stopReason ?? (tools.length > 0 ? 'tool_use' : 'end_turn'), stop_sequence: null }
    return [
      { type: 'message_start', message },
      ...blocks.flatMap(({ block, delta }, index) => [
        { type: 'content_block_start', index, content_block: block },
        { type: 'content_block_delta', index, delta },
        { type: 'content_block_stop', index },
      ]),
      { type: 'message_delta', delta, usage: { output_tokens: usage.output } },
      { type: 'message_stop' },
    ].map((event) => sse(event, event.type))
  },
}

export const responses: Protocol = {
  path: /\/responses(\?|$)/,
  error: (status, type, message) => ({ error: { message, type, code: type, param: null, status } }),
  whole: (reply, number) => responseOf(reply, number),
  stream(reply, number) {
    const response = responseOf(reply, number)
    const started = { ...response, status: 'in_progress', output: [], usage: null }
    if (reply.error) {
      const error = { code: reply.error.type, message: reply.error.message }
      return [
        { type: 'response.created', response: started },
        { type: 'response.failed', response: { ...started, status: 'failed', error } },
      ].map((event) => sse(event, event.type))
    }
    return [
      { type: 'response.created', response: started },
      ...response.output.flatMap((item, output_index) => [
        { type: 'response.output_item.added', output_index, item: { ...item, ...BEGUN } },
        ...(item.type === 'message'
          ? [
              {
                type: 'response.output_text.delta',
                output_index,
                content_index: 0,
                item_id: item.id,
                delta: reply.text ?? '',
              },
            ]
          : []),
        { type: 'response.output_item.done', output_index, item },
      ]),
      { type: 'response.completed', response },
    ].map((event) => sse(event, event.type))
  },
}

/** For a message and a call: its text and its arguments come later. */
const BEGUN = { status: 'in_progress', content: [] }

type Item = { type: string; id: string; [field: string]: unknown }

function responseOf(
  { text, tools = [], usage = USAGE }: Reply,
  number: number,
): { output: Item[]; [field: string]: unknown } {
  return {
    id: `resp_${number}`,
    object: 'response',
    created_at: 1_700_000_000,
    status: 'completed',
    model: 'scripted',
    output: [
      ...(text === undefined
        ? []
        : [
            {
              type: 'message',
              id: `item_${number}_text`,
              role: 'assistant',
              status: 'completed',
              content: [{ type: 'output_text', text, annotations: [] }],
            },
          ]),
      ...tools.map(({ name, namespace, input }, index) => ({
        type: 'function_call',
        id: `item_${number}_${index}`,
        call_id: `call_${number}_${index}`,
        name,
        ...(namespace === undefined ? {} : { namespace }),
        arguments: JSON.stringify(input),
        status: 'completed',
      })),
    ],
    usage: {
      input_tokens: usage.input,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: usage.output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: usage.input + usage.output,
    },
  }
}

export const chat: Protocol = {
  path: /\/chat\/completions(\?|$)/,
  error: (_, type, message) => ({ error: { message, type, code: type, param: null } }),
  whole: ({ text = '', tools = [], stopReason, usage = USAGE }, number) => ({
    id: `chatcmpl-${number}`,
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'scripted',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text,
          ...(tools.length > 0 ? { tool_calls: callsOf(tools, number) } : {}),
        },
        finish_reason: stopReason ?? (tools.length > 0 ? 'tool_calls' : 'stop'),
      },
    ],
    usage: chatUsage(usage),
  }),
  stream({ text, tools = [], stopReason, usage = USAGE }, number) {
    const chunk = (delta: object, finish_reason: string | null = null) => ({
      id: `chatcmpl-${number}`,
      object: 'chat.completion.chunk',
      created: 1_700_000_000,
      model: 'scripted',
      choices: [{ index: 0, delta, finish_reason }],
    })
    return [
      ...[
        chunk({ role: 'assistant', content: text ?? '' }),
        ...(tools.length > 0 ? [chunk({ tool_calls: callsOf(tools, number) })] : []),
        chunk({}, stopReason ?? (tools.length > 0 ? 'tool_calls' : 'stop')),
        { ...chunk({}), choices: [], usage: chatUsage(usage) },
      ].map((value) => sse(value)),
      'data: [DONE]\n\n',
    ]
  },
}

function callsOf(tools: NonNullable<Reply['tools']>, number: number): object[] {
  return tools.map(({ name, input }, index) => ({
    index,
    id: `call_${number}_${index}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  }))
}

function chatUsage({ input, output }: { input: number; output: number }): object {
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output }
}

export const gemini: Protocol = {
  path: /:(streamGenerateContent|generateContent)(\?|$)/,
  error: (status, type, message) => ({ error: { code: status, message, status: type } }),
  whole: (reply) => generated(reply),
  stream: ({ text, ...reply }) => [
    sse({ candidates: [{ index: 0, content: { role: 'model', parts: [{ text: text ?? '' }] } }] }),
    sse(generated(reply)),
  ],
}

function generated({ text, tools = [], stopReason, usage = USAGE }: Reply): object {
  return {
    candidates: [
      {
        index: 0,
        content: {
          role: 'model',
          parts: [
            ...(text === undefined ? [] : [{ text }]),
            ...tools.map(({ name, input }) => ({ functionCall: { name, args: input } })),
          ],
        },
        finishReason: stopReason ?? 'STOP',
      },
    ],
    usageMetadata: {
      promptTokenCount: usage.input,
      candidatesTokenCount: usage.output,
      totalTokenCount: usage.input + usage.output,
    },
    modelVersion: 'scripted',
  }
}

/** The tokens in the record that a client writes of its session: one entry per client, for records of JSON lines. */
import type { Usage } from '../engine/loop.ts'
import { amount, type Json, objectOf } from './json-line.ts'
import { anthropicUsage, wholeUsage } from './usage.ts'

/**
 * `usage`: what one answer of the model used. `id`: a later line with the same id replaces it. `total`: what the
 * session used so far. `open`: whether more follows in this turn.
 */
export type Reported = { usage: Usage; id?: string; total?: Usage; open?: boolean }

export type Entry = {
  /** What every such line contains; all other lines are skipped unread. */
  marker: string
  read(line: Json): Reported | undefined
  /** It writes a moment after it has called its hooks. */
  late?: true
}

export const RECORDS: Readonly<Record<string, Entry>> = {
  claude: {
    marker: '"usage":{',
    late: true,
    read({ type, message }) {
      const { id, usage, content, stop_reason: why } = objectOf(message)
      if (type !== 'assistant') return undefined
      // Every block is its own line, and the last one of a turn is text.
      const open = why === 'tool_use' || !(Array.isArray(content) && content.some(isText))
      return { id: String(id), usage: anthropicUsage(objectOf(usage)), open }
    },
  },
  codex: {
    marker: '"total_token_usage":{',
    read({ payload }) {
      const { type, info } = objectOf(payload)
      if (type !== 'token_count') return undefined
      const [total, last] = [objectOf(info).total_token_usage, objectOf(info).last_token_usage].map(objectOf)
      return { usage: codexUsage(last), total: codexUsage(total) }
    },
  },
  gemini: {
    marker: '"tokens":{',
    read({ type, id, tokens }) {
      const { input, cached, total } = objectOf(tokens)
      if (type !== 'gemini') return undefined
      return { id: String(id), usage: wholeUsage(input, cached, amount(total) - amount(input)) }
    },
  },
  qwen: {
    marker: '"usageMetadata":{',
    read({ type, uuid, usageMetadata }) {
      const { promptTokenCount, cachedContentTokenCount, candidatesTokenCount } = objectOf(usageMetadata)
      if (type !== 'assistant') return undefined
      return {
        id: String(uuid),
        usage: wholeUsage(promptTokenCount, cachedContentTokenCount, candidatesTokenCount),
      }
    },
  },
  copilot: {
    marker: '"session.usage_record"',
    read({ type, id, data }) {
      const { inputTokens, cacheReadTokens, outputTokens } = objectOf(objectOf(data).usage)
      if (type !== 'session.usage_record') return undefined
      return { id: String(id), usage: wholeUsage(inputTokens, cacheReadTokens, outputTokens) }
    },
  },
}

function isText(block: unknown): boolean {
  return objectOf(block).type === 'text'
}

function codexUsage(usage: Json = {}): Usage {
  return wholeUsage(usage.input_tokens, usage.cached_input_tokens, usage.output_tokens)
}

/** Droid keeps the total of a session in its settings, including its subagents. */
export function droidTotal(settings: unknown): Usage {
  const { inclusiveTokenUsage, tokenUsage } = objectOf(settings)
  const usage = objectOf(inclusiveTokenUsage ?? tokenUsage)
  return {
    input: amount(usage.inputTokens) + amount(usage.cacheCreationTokens),
    cached: amount(usage.cacheReadTokens),
    output: amount(usage.outputTokens),
  }
}

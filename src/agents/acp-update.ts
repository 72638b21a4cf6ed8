/** What an agent reports during its turn through the Agent Client Protocol: words, tools, tokens. */
import type { Usage } from '../engine/loop.ts'
import type { AgentEvent } from './agent.ts'
import { amount, type Json, objectOf, text } from './json-line.ts'
import { plus, sumOf } from './usage.ts'

type Tool = { kind: string; title: string; command?: string; reported: boolean }

export type Reported = {
  words: string
  /** Their last piece. */
  last: string
  /** By id. The command of a tool often arrives a moment after its call. */
  tools: Map<string, Tool>
  costUsd?: number
  /** For agents that count each answer of the model. */
  usage?: Usage
}

export function nothingReported(): Reported {
  return { words: '', last: '', tools: new Map() }
}

export function takeUpdate(message: Json, reported: Reported): AgentEvent[] {
  const update = objectOf(objectOf(message.params).update)
  switch (update.sessionUpdate) {
    case 'agent_message_chunk':
      return takeWords(update, reported)
    case 'tool_call':
      reported.words = '' // what came before a tool call is not the last word
      return takeTool(update, reported)
    case 'tool_call_update':
      return takeTool(update, reported)
    case 'usage_update': {
      const cost = objectOf(update.cost)
      if (cost.currency === 'USD') reported.costUsd = amount(cost.amount)
      return []
    }
    default:
      return []
  }
}

function takeWords(update: Json, reported: Reported): AgentEvent[] {
  const usage = usageIn(objectOf(update._meta).usage) // Qwen
  if (usage) reported.usage = plus(reported.usage, usage)
  const words = text(objectOf(update.content).text) ?? ''
  if (!words) return []
  if (OWN_WORDS.test(words)) return [{ kind: 'warning', message: words }]
  reported.words += words
  reported.last = words
  return [{ kind: 'text', text: reported.words }]
}

// What clients themselves say in the agent's name: Copilot while it retries, Codex about its models and long threads.
const OWN_WORDS =
  /^(Info: Request failed .*Retrying\.\.\.|Model metadata for .* not found\.|Heads up: Long threads )[^\n]*\s*$/

function takeTool(update: Json, reported: Reported): AgentEvent[] {
  const id = String(update.toolCallId ?? reported.tools.size)
  const before = reported.tools.get(id)
  const command = text(objectOf(update.rawInput).command) ?? before?.command
  const tool: Tool = {
    kind: text(update.kind) ?? before?.kind ?? 'tool',
    title: text(update.title) ?? before?.title ?? '',
    ...(command === undefined ? {} : { command }),
    reported: before?.reported ?? false,
  }
  const isWhole = tool.kind !== 'execute' || command !== undefined || isOver(update.status)
  const isNews = isWhole && !tool.reported
  reported.tools.set(id, { ...tool, reported: tool.reported || isWhole })
  return isNews ? [{ kind: 'tool', name: tool.kind, summary: command ?? tool.title }] : []
}

function isOver(status: unknown): boolean {
  return status === 'completed' || status === 'failed'
}

export function ranIn({ tools }: Reported): string[] {
  return [...tools.values()].flatMap(({ kind, command, title }) => (kind === 'execute' ? [command ?? title] : []))
}

/** Where agents put it: the `usage` of the turn, Gemini's `_meta`, or that of each answer. Most report nothing. */
export function tokensIn(result: Json | undefined, reported: Reported): { tokens: number; usage?: Usage } {
  const count = objectOf(objectOf(objectOf(result?._meta).quota).token_count)
  const counted = { input: amount(count.input_tokens), cached: 0, output: amount(count.output_tokens) }
  const usage = usageIn(result?.usage) ?? (sumOf(counted) > 0 ? counted : reported.usage)
  return usage ? { tokens: sumOf(usage), usage } : { tokens: 0 }
}

/** Some include cached tokens in the input, and thoughts only in the total: the total is right. */
function usageIn(value: unknown): Usage | undefined {
  const reported = objectOf(value)
  const [input, output, cached] = [reported.inputTokens, reported.outputTokens, reported.cachedReadTokens].map(amount)
  const parts = { input: input ?? 0, cached: cached ?? 0, output: output ?? 0 }
  const total = amount(reported.totalTokens)
  if (total === 0) return sumOf(parts) > 0 ? parts : undefined
  const uncached = sumOf(parts) <= total ? parts.input : Math.max(0, parts.input - parts.cached)
  return { ...parts, input: uncached, output: Math.max(0, total - uncached - parts.cached) }
}

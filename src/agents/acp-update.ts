/** What an agent reports during its turn through the Agent Client Protocol: words, tools, tokens. */
import type { Usage } from '../engine/loop.ts'
import type { AgentEvent } from './agent.ts'
import { amount, type Json, objectOf, text } from './json-line.ts'
import { plus, sumOf } from './usage.ts'

type Tool = { kind: string; title: string; command?: string; told: boolean }

export type Told = {
  words: string
  /** Their last piece. */
  last: string
  /** By id. The command of a tool often arrives a moment after its call. */
  tools: Map<string, Tool>
  costUsd?: number
  /** For agents that count each answer of the model. */
  usage?: Usage
}

export function nothingTold(): Told {
  return { words: '', last: '', tools: new Map() }
}

export function takeUpdate(message: Json, told: Told): AgentEvent[] {
  const update = objectOf(objectOf(message.params).update)
  switch (update.sessionUpdate) {
    case 'agent_message_chunk':
      return takeWords(update, told)
    case 'tool_call':
      told.words = '' // what came before a tool call is not the last word
      return takeTool(update, told)
    case 'tool_call_update':
      return takeTool(update, told)
    case 'usage_update': {
      const cost = objectOf(update.cost)
      if (cost.currency === 'USD') told.costUsd = amount(cost.amount)
      return []
    }
    default:
      return []
  }
}

function takeWords(update: Json, told: Told): AgentEvent[] {
  const usage = usageIn(objectOf(update._meta).usage) // Qwen
  if (usage) told.usage = plus(told.usage, usage)
  const words = text(objectOf(update.content).text) ?? ''
  if (!words) return []
  if (OWN_WORDS.test(words)) return [{ kind: 'warning', message: words }]
  told.words += words
  told.last = words
  return [{ kind: 'text', text: told.words }]
}

// What clients themselves say in the agent's name: Copilot while it retries, Codex about its models and long threads.
const OWN_WORDS =
  /^(Info: Request failed .*Retrying\.\.\.|Model metadata for .* not found\.|Heads up: Long threads )[^\n]*\s*$/

function takeTool(update: Json, told: Told): AgentEvent[] {
  const id = String(update.toolCallId ?? told.tools.size)
  const before = told.tools.get(id)
  const command = text(objectOf(update.rawInput).command) ?? before?.command
  const tool: Tool = {
    kind: text(update.kind) ?? before?.kind ?? 'tool',
    title: text(update.title) ?? before?.title ?? '',
    ...(command === undefined ? {} : { command }),
    told: before?.told ?? false,
  }
  const isWhole = tool.kind !== 'execute' || command !== undefined || isOver(update.status)
  const isNews = isWhole && !tool.told
  told.tools.set(id, { ...tool, told: tool.told || isWhole })
  return isNews ? [{ kind: 'tool', name: tool.kind, summary: command ?? tool.title }] : []
}

function isOver(status: unknown): boolean {
  return status === 'completed' || status === 'failed'
}

export function ranIn({ tools }: Told): string[] {
  return [...tools.values()].flatMap(({ kind, command, title }) => (kind === 'execute' ? [command ?? title] : []))
}

/** Where agents put it: the `usage` of the turn, Gemini's `_meta`, or that of each answer. Most report nothing. */
export function tokensIn(result: Json | undefined, told: Told): { tokens: number; usage?: Usage } {
  const count = objectOf(objectOf(objectOf(result?._meta).quota).token_count)
  const counted = { input: amount(count.input_tokens), cached: 0, output: amount(count.output_tokens) }
  const usage = usageIn(result?.usage) ?? (sumOf(counted) > 0 ? counted : told.usage)
  return usage ? { tokens: sumOf(usage), usage } : { tokens: 0 }
}

/** Some include cached tokens in the input, and thoughts only in the total: the total is right. */
function usageIn(value: unknown): Usage | undefined {
  const told = objectOf(value)
  const [input, output, cached] = [told.inputTokens, told.outputTokens, told.cachedReadTokens].map(amount)
  const parts = { input: input ?? 0, cached: cached ?? 0, output: output ?? 0 }
  const total = amount(told.totalTokens)
  if (total === 0) return sumOf(parts) > 0 ? parts : undefined
  const uncached = sumOf(parts) <= total ? parts.input : Math.max(0, parts.input - parts.cached)
  return { ...parts, input: uncached, output: Math.max(0, total - uncached - parts.cached) }
}

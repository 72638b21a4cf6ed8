/** The stream of JSON lines that Claude Code prints, and others imitate. */
import type { Usage } from '../engine/loop.ts'
import type { AgentEvent } from './agent.ts'
import { type Json, objectOf, text } from './json-line.ts'

/** What a turn has printed so far. `stderr`: its last lines, including non-JSON lines of the stream. */
export type Seen = {
  words: string
  session: string
  result?: Json
  tokens: number
  usage?: Usage
  /** The answers of its model, by id: one arrives in several pieces. */
  calls: Set<string>
  error: string
  resetsAt?: number
  ran: string[]
  stderr: string[]
}

export function nothingSeen(): Seen {
  return { words: '', session: '', tokens: 0, calls: new Set(), error: '', ran: [], stderr: [] }
}

export function takeInit(event: Json, seen: Seen): AgentEvent[] {
  seen.session = text(event.session_id) ?? ''
  return [{ kind: 'session', id: seen.session }]
}

/** `shell` is the tool that runs commands. */
export function takeAssistant(event: Json, seen: Seen, shell: string): AgentEvent[] {
  const inside = event.parent_tool_use_id !== null && event.parent_tool_use_id !== undefined
  if (typeof event.error === 'string') seen.error = event.error
  const { id, model } = objectOf(event.message)
  if (typeof id === 'string' && model !== '<synthetic>') seen.calls.add(id) // text that the client itself makes up
  const events: AgentEvent[] = []
  for (const block of blocksOf(event)) {
    if (block.type === 'text' && typeof block.text === 'string') {
      if (!inside) seen.words = block.text // what a subagent says is not the last word
      events.push({ kind: 'text', text: block.text })
    }
    if (block.type === 'tool_use') {
      const summary = summaryOf(block.input)
      if (block.name === shell) seen.ran.push(summary)
      events.push({ kind: 'tool', name: text(block.name) ?? 'tool', summary })
    }
  }
  return events
}

/** The tools that were denied permission, with what they were to do. */
export function deniedIn(result: Json | undefined): string[] {
  const denials = Array.isArray(result?.permission_denials) ? result.permission_denials : []
  return denials.map((denial) =>
    [text(objectOf(denial).tool_name) ?? 'a tool', summaryOf(objectOf(denial).tool_input)].filter(Boolean).join(': '),
  )
}

function blocksOf(event: Json): Json[] {
  const { content } = objectOf(event.message)
  return Array.isArray(content) ? content.map(objectOf) : []
}

function summaryOf(input: unknown): string {
  const { command: line, file_path: path, pattern, url, description } = objectOf(input)
  return text(line) ?? text(path) ?? text(pattern) ?? text(url) ?? text(description) ?? ''
}

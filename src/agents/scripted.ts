/** The agent of the demo and the tests: a program of ralph's that replays a small script file. */
import { jsonIn } from '../formats/json-file.ts'
import type { Agent, AgentEvent, Exit, Outcome, Parser, Request, Usage } from './agent.ts'

export const scripted: Agent = {
  name: 'scripted',
  targetExample: '--agent scripted:script.json',
  settings: [],
  reports: ['tokens', 'cost'],
  graceMs: 1_000,
  command: ({ self, target, extraArgs, prompt, mode, resume }) =>
    mode === 'interactive' && prompt === ''
      ? { argv: [...self('scripted-pane'), target, resume?.id ?? '', ...extraArgs], env: {}, stdin: '' }
      : { argv: [...self('scripted-agent'), target, ...extraArgs], env: {}, stdin: prompt },
  reportsCost: true,
  pane: ({ hook, folder }) => ({
    args: [],
    env: { RALPH_PANE_TELL: JSON.stringify(hook), RALPH_PANE_FOLDER: folder },
  }),
  screen: {
    client: 'scripted',
    seen: '2026-11-17',
    working: [/^✻ working/],
    asks: [/^\? .*\(y\/n\)/],
    input: /❯ ?(.*)$/,
    quietSeconds: 5,
    interrupt: ['Escape'],
  },
  parser: (request) => linesParser(request),
}

/** What the program prints, one JSON object per line. */
export type ScriptedLine =
  | { type: 'text'; text: string }
  | { type: 'tool'; name: string; summary: string }
  | { type: 'usage'; tokens: number; costUsd?: number }
  | { type: 'denied'; tool: string }
  | { type: 'end'; kind: Outcome['kind']; message?: string; resetsInMs?: number }

function linesParser(request: Request): Parser {
  const outcome: Outcome = { kind: 'unknown', finalText: '', tokens: 0, denied: [], ran: [] }
  let end: Extract<ScriptedLine, { type: 'end' }> | undefined
  let lastError = ''
  return {
    push(line, stream) {
      const value = stream === 'out' ? parseLine(line) : undefined
      if (!value) {
        lastError = line.trim() || lastError
        return { events: line.trim() ? [{ kind: 'warning', message: line.slice(0, 500) }] : [] }
      }
      if (value.type === 'end') end = value
      return { events: take(value, outcome) }
    },
    end: (exit) => sumUp(outcome, end, { exit, at: request.at, lastError }),
  }
}

function take(line: ScriptedLine, outcome: Outcome): AgentEvent[] {
  switch (line.type) {
    case 'text':
      outcome.finalText = line.text
      return [{ kind: 'text', text: line.text }]
    case 'tool':
      if (line.name === 'shell') outcome.ran.push(line.summary)
      return [{ kind: 'tool', name: line.name, summary: line.summary }]
    case 'usage': {
      outcome.tokens += line.tokens
      if (line.costUsd !== undefined) outcome.costUsd = (outcome.costUsd ?? 0) + line.costUsd
      const usage: Usage = {
        input: line.tokens,
        output: 0,
        cached: 0,
        scope: 'step',
        ...(line.costUsd === undefined ? {} : { costUsd: line.costUsd }),
      }
      return [{ kind: 'usage', usage }]
    }
    case 'denied':
      outcome.denied.push(line.tool)
      return [{ kind: 'warning', message: `denied: ${line.tool}` }]
    case 'end':
      return []
  }
}

// Success is the terminal event and exit code 0, never one of them alone.
function sumUp(
  outcome: Outcome,
  end: Extract<ScriptedLine, { type: 'end' }> | undefined,
  { exit, at, lastError }: { exit: Exit; at: number; lastError: string },
): Outcome {
  if (exit.stopped || exit.signal)
    return { ...outcome, kind: 'killed', message: `it was stopped (${exit.stopped ?? exit.signal})` }
  if (!end || (end.kind === 'ok' && exit.code !== 0))
    return { ...outcome, kind: 'crash', message: lastError || `it exited with code ${exit.code}` }
  return {
    ...outcome,
    kind: end.kind,
    ...(end.message === undefined ? {} : { message: end.message }),
    ...(end.resetsInMs === undefined ? {} : { resetsAt: at + end.resetsInMs }),
  }
}

function parseLine(line: string): ScriptedLine | undefined {
  const value = jsonIn(line)
  // The program is ralph's own and prints nothing else with a type.
  return typeof value === 'object' && value !== null && 'type' in value ? (value as ScriptedLine) : undefined
}

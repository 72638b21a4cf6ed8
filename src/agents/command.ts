/**
 * Any program as an agent: the prompt on stdin, its stdout is its final text, exit code 0 is success. In a terminal,
 * the prompt is its last argument.
 */
import { parseCommandLine } from '../formats/command-line.ts'
import type { Agent, Exit, Outcome, Parser, Request } from './agent.ts'
import { mcpFile } from './mcp-config.ts'
import { readReset } from './reset.ts'

export const command: Agent = {
  name: 'command',
  targetExample: '--agent command:./my-agent',
  settings: ['mcp'],
  reports: [],
  graceMs: 5_000,
  command(request) {
    const { target, extraArgs, prompt, mode } = request
    const argv = [...parseCommandLine(target), ...extraArgs]
    // Its stdin is the user's keyboard there.
    if (mode === 'interactive') return { argv: [...argv, ...(prompt ? [prompt] : [])], env: {}, stdin: '' }
    // Anything it starts can use this file.
    const server = mcpFile(request, { type: 'stdio' })
    return {
      argv,
      env: server ? { RALPH_MCP_CONFIG: server.path } : {},
      stdin: prompt,
      ...(server ? { files: [server] } : {}),
    }
  },
  parser: (request) => textParser(request),
  texts: 'lines',
}

const TEXT_KEPT = 256 * 1024

function textParser(request: Request): Parser {
  const out = lastLines()
  const err = lastLines()
  return {
    push(line, stream) {
      const kept = stream === 'out' ? out : err
      kept.add(line)
      return { events: line.trim() && stream === 'out' ? [{ kind: 'text', text: line.slice(0, 500) }] : [] }
    },
    end: (exit) => outcome(out.text(), err.text(), exit, request.at),
  }
}

function outcome(finalText: string, errors: string, exit: Exit, at: number): Outcome {
  const seen = { finalText, tokens: 0, denied: [], ran: [] }
  if (exit.code === 0 && !exit.stopped) return { kind: 'ok', ...seen }
  if ((exit.code === 126 || exit.code === 127) && NOT_STARTED.test(errors))
    return { kind: 'config', ...seen, message: 'its interpreter is missing, or it is not a program.' }
  const said = errors.trim() || finalText.trim()
  const limit = readLimit(`${finalText.slice(-LAST_WORDS)}\n${errors.slice(-LAST_WORDS)}`, at)
  if (limit && !exit.stopped) return { ...limit, ...seen, message: lastLine(said) }
  return {
    kind: exit.stopped || exit.signal ? 'killed' : 'crash',
    ...seen,
    message: [endedBecause(exit), lastLine(said)].filter(Boolean).join(': '),
  }
}

// What the sh wrapper prints if it could not become the program.
const NOT_STARTED = /^ralph: (line )?\d+: (exec: )?/m

function endedBecause({ code, signal, stopped }: Exit): string {
  if (stopped === 'silent') return 'it was stopped after printing nothing for too long'
  if (stopped === 'deadline') return 'it was stopped at the time limit'
  if (stopped === 'told') return 'it was stopped'
  return signal ? `it was killed by ${signal}` : `it exited with code ${code}`
}

const LIMITED: readonly RegExp[] = [
  /hit your (usage |session |weekly |5-hour )?limit|limit reached|(usage|rate) limit (was |has been )?(reached|exceeded)/i,
  /out of (extra )?usage|quota (exceeded|exhausted)|exhausted your .*quota/i,
  /too many requests|\b429\b|\brate.?limit(ed\b|error\b|[.:!] )|\bthrottl(ed\b|ing)|(tokens|requests) per (minute|hour|day)\b/i,
  /try again (in|after) \d|retry-after: ?\d/i,
]
const OVERLOADED =
  /\boverloaded\b|\b(502|503|529)\b|at capacity|high demand|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN|connection (refused|reset)|network (error|is unreachable)/i

// Wrapped agents print these words at the end; nothing more exact is known about arbitrary programs. Earlier output may
// be about the work.
const LAST_WORDS = 2_000

function readLimit(text: string, at: number): Pick<Outcome, 'kind' | 'resetsAt'> | undefined {
  if (LIMITED.some((pattern) => pattern.test(text))) {
    const resetsAt = readReset(text, at)
    return { kind: 'rate-limit', ...(resetsAt === undefined ? {} : { resetsAt }) }
  }
  return OVERLOADED.test(text) ? { kind: 'overloaded' } : undefined
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)?.trim().slice(0, 500) ?? ''
}

/** Keeps the end of text of any length. */
function lastLines(): { add(line: string): void; text(): string } {
  let kept: string[] = []
  let size = 0
  return {
    add(line) {
      const piece = line.length > TEXT_KEPT ? line.slice(-TEXT_KEPT) : line
      kept.push(piece)
      size += piece.length + 1
      if (size < 2 * TEXT_KEPT) return
      const text = kept.join('\n').slice(-TEXT_KEPT)
      kept = [text]
      size = text.length
    },
    text: () => kept.join('\n').slice(-TEXT_KEPT),
  }
}

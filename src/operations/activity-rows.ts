/** Turns the output of an agent into rows for people: what it said, which tools it called, which problems it had. */
import type { Agent, AgentEvent, Parser } from '../agents/agent.ts'
import { cutWords } from '../formats/amounts.ts'
import { printCommandLine } from '../formats/command-line.ts'
import type { TurnEntry } from '../host/transcript.ts'
import { isOpen, type SpanPart } from '../host/transcript-span.ts'

/** `name`: of a tool; `text` is its input. `note`: a warning or a retry. `out`, `err`: a line as printed. */
export type Row = {
  kind: 'prompt' | 'text' | 'tool' | 'note' | 'out' | 'err' | 'exit'
  text: string
  name?: string
  at?: number
}

/** `parser`: a fresh one, for a turn that starts or is running. Absent: lines are shown as they are. */
export type Reading = { texts: Agent['texts']; parser?: (isUnderWay: boolean) => Parser }

export function rowsOf(part: SpanPart, { texts, parser: open }: Reading): Row[] {
  const rows: Row[] = []
  let parser = open?.(true)
  for (const item of linesOf(part)) {
    if (!('line' in item)) {
      rows.push(markRow(item))
      // Of a turn that ralph did not run itself, only the final message is known.
      if ('prompt' in item) parser = item.command.length > 0 ? open?.(false) : undefined
    } else if (!parser) rows.push({ kind: item.stream, text: item.line })
    else for (const event of eventsOf(item, parser, texts)) addEvent(rows, event, texts)
  }
  return rows.map((row) => ({ ...row, text: cut(row.text.toWellFormed()) }))
}

type Line = { line: string; stream: 'out' | 'err' }
type Mark = Exclude<TurnEntry, { out: string } | { err: string }>

/** Complete lines of the agent, and what ralph did. The rest of a line that started in the previous part belongs there. */
function* linesOf({ before, entries, after }: SpanPart): Generator<Line | Mark> {
  const out = joining('out', isOpen(before))
  const err = joining('err')
  for (const entry of [...entries, ...after]) {
    if ('out' in entry) yield* out.take(entry.out)
    else if ('err' in entry) yield* err.take(entry.err)
    else {
      yield* [...out.end(), ...err.end()]
      yield entry
    }
  }
  yield* err.end()
}

type Joining = { take(piece: string): Line[]; end(): Line[] }

/** Joins chunks into complete lines. `isRest`: the first chunk is the rest of a line. */
function joining(stream: Line['stream'], isRest = false): Joining {
  let held = ''
  let skip = isRest
  const take = (piece: string) => {
    const lines = `${held}${piece}`.split('\n')
    held = lines.pop() ?? ''
    const whole = skip ? lines.slice(1) : lines
    skip &&= lines.length === 0
    return whole.map((line) => ({ line: line.replace(/\r$/, ''), stream }))
  }
  return {
    take,
    end() {
      const last = held === '' ? [] : take('\n')
      skip = false
      return last
    },
  }
}

function markRow(entry: Mark): Row {
  const { at } = entry
  if ('exit' in entry) return { kind: 'exit', text: entry.signal ?? `exit code ${entry.exit}`, at }
  if ('limitMb' in entry) return { kind: 'note', text: cutWords(entry), at }
  const { attempt, command, prompt } = entry
  const argv = command.map((word) => (word === prompt ? '…' : word))
  return { kind: 'prompt', text: `attempt ${attempt}: ${printCommandLine(argv)}`, at }
}

/** Such an agent prints only plain lines. */
function eventsOf({ line, stream }: Line, parser: Parser, texts: Agent['texts']): AgentEvent[] {
  if (texts !== 'lines') return parser.push(line, stream).events
  if (line.trim() === '') return []
  return [stream === 'out' ? { kind: 'text', text: line } : { kind: 'warning', message: line }]
}

function addEvent(rows: Row[], event: AgentEvent, texts: Agent['texts']): void {
  const last = rows.at(-1)
  switch (event.kind) {
    case 'text':
      if (last?.kind === 'text' && texts === 'pieces') last.text += event.text
      else if (last?.kind === 'text' && texts === 'growing') last.text = event.text
      else rows.push({ kind: 'text', text: event.text })
      return
    case 'tool':
      rows.push({ kind: 'tool', text: event.summary, name: event.name })
      return
    case 'retry':
      rows.push({ kind: 'note', text: `retry: ${event.why}` })
      return
    case 'warning':
      rows.push({ kind: 'note', text: event.message })
      return
    case 'session':
    case 'usage':
      return // numbers and names shown elsewhere
  }
}

const LONGEST = 4_000

/** Never splits a character. */
function cut(text: string): string {
  if (text.length <= LONGEST) return text
  const end = text.slice(0, LONGEST - 1)
  return `${end.isWellFormed() ? end : end.slice(0, -1)}…`
}

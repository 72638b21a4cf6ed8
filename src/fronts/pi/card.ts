/** How a loop message looks in Pi: a heading, the first lines of the prompt, and the rest when expanded. */
import { cellsOf } from '../../formats/cells.ts'
import { harmless } from '../../formats/harmless.ts'
import { type Answer, objectOf, words } from './answer.ts'
import type { Component, CustomMessage, Draft, Message, Theme } from './host.ts'
import { CUSTOM_TYPE } from './memory.ts'
import { statusWords } from './words.ts'

/** `turn`: a prompt for the agent. `report`: only for the user, never sent to a model. */
type CardDetails = {
  kind: 'turn' | 'report'
  heading: string
  mark: '↻' | '✓' | '✗' | '·'
  /** The heading says all that the user needs to read. */
  brief?: true
}

/** The prompt of a turn. */
export function turnCard(answer: Answer): CustomMessage {
  // Without the task it is only a reminder.
  const brief = /^---$/m.test(answer.prompt) ? {} : ({ brief: true } as const)
  return card(answer.prompt, answer, { kind: 'turn', mark: '↻', ...brief })
}

export function reportCard(text: string, answer: Answer): CustomMessage {
  return card(text, answer, { kind: 'report', mark: '·' })
}

/** The prompt of the turn that continues a run; a fresh one starts after a compaction that keeps nothing. */
export function drafts(answer: Answer): Draft[] {
  const summary = `Iteration ${answer.iteration - 1} of the loop has ended. The next one starts with a fresh context.`
  return [
    ...(answer.fresh ? [{ type: 'compaction', summary, firstKeptEntryId: null } as const] : []),
    { type: 'custom_message', ...turnCard(answer) },
  ]
}

function card(content: string, answer: Answer, how: Omit<CardDetails, 'heading'>): CustomMessage {
  const details: CardDetails = {
    ...how,
    heading: `${statusWords(answer).replace(':', '')}${answer.checked ? ` · ${answer.checked}` : ''}`,
  }
  return { customType: CUSTOM_TYPE, content, display: true, details }
}

const COLLAPSED_LINES = 3
const MARK_COLORS: Readonly<Record<string, string>> = { '↻': 'accent', '✓': 'success', '✗': 'error' }

export function renderCard(
  message: Message,
  { expanded, outputPad = 1 }: { expanded: boolean; outputPad?: number },
  theme: Theme,
): Component {
  const details = objectOf(message.details)
  const heading = words(details.heading) ?? 'Ralph'
  const mark = words(details.mark) ?? '·'
  const body = typeof message.content === 'string' ? message.content : ''
  return {
    invalidate() {},
    render(width) {
      const room = width - 2 * outputPad
      if (room < 8) return []
      const lines = wrap(body.trim(), room - 2)
      const brief = details.brief === true && !expanded
      const shown = expanded ? lines : brief ? [] : firstWords(lines)
      const hidden = brief ? 0 : lines.length - shown.length
      const more = hidden > 0 ? [`… ${hidden} more ${hidden === 1 ? 'line' : 'lines'}`] : []
      const row = (text: string, plain: string) =>
        theme.bg(
          'customMessageBg',
          `${' '.repeat(outputPad)}${text}${' '.repeat(Math.max(0, room - cellsOf(plain) + outputPad))}`,
        )
      const title = cut(`${mark} ${heading}`, room)
      return [
        row(theme.fg(MARK_COLORS[mark] ?? 'muted', title), title),
        ...shown.map((line) => row(`  ${theme.fg('customMessageText', line)}`, `  ${line}`)),
        ...more.map((line) => row(`  ${theme.fg('dim', cut(line, room - 2))}`, `  ${cut(line, room - 2)}`)),
      ]
    },
  }
}

/** The user's own text, which is above the first line of dashes. */
function firstWords(lines: readonly string[]): string[] {
  const until = lines.indexOf('---')
  return lines
    .slice(0, until > 0 ? until : undefined)
    .filter(Boolean)
    .slice(0, COLLAPSED_LINES)
}

/** Wraps words to lines of at most this many columns; longer words are split. */
function wrap(text: string, columns: number): string[] {
  return clean(text)
    .split('\n')
    .flatMap((line) => wrapLine(line.trimEnd(), columns))
}

function wrapLine(line: string, columns: number): string[] {
  const lines = ['']
  for (const word of line.split(/(?<= )(?=[^ ])/)) {
    let rest = word
    if (cellsOf(`${lines.at(-1)}${rest.trimEnd()}`) > columns && lines.at(-1)) lines.push('')
    while (cellsOf(rest.trimEnd()) > columns) {
      const piece = cutTo(rest, columns)
      lines[lines.length - 1] += piece
      lines.push('')
      rest = rest.slice(piece.length)
    }
    lines[lines.length - 1] += rest
  }
  return lines.map((text) => text.trimEnd())
}

function cut(text: string, columns: number): string {
  const line = clean(text).replaceAll('\n', ' ')
  return cellsOf(line) <= columns ? line : `${cutTo(line, columns - 1)}…`
}

function cutTo(text: string, columns: number): string {
  let kept = ''
  let width = 0
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    width += cellsOf(segment)
    if (width > columns && kept) break
    kept += segment
  }
  return kept
}

/** Without colors and other terminal escapes. */
function clean(text: string): string {
  return harmless(text).replaceAll('\t', '  ')
}

/** Imports Markdown with checkboxes, such as fix_plan.md: every box is a task. */
import type { Brief, Foreign } from './import-tasks.ts'
import { cutTo, oneLine } from './one-line.ts'

type Heading = { level: number; text: string }
type Box = Foreign & { indent: number; headings: Heading[]; lines: string[] }
type Prose = { line: string; heading?: Heading }

/** Boxes under headings such as Optional, Future or Nice to Have come last. */
export function readBoxes(text: string): { tasks: Foreign[]; brief: Brief } {
  const { boxes, prose } = readLines(text)
  const title = titleOf(prose)
  const last = new Set(boxes.filter(({ headings }) => headings.some((heading) => OPTIONAL.test(heading.text))))
  const sorted = [...boxes.filter((box) => !last.has(box)), ...last]
  return {
    tasks: withIds(sorted).map((box) => toForeign(box, title)),
    brief: { title, text: withoutEmptySections(prose, title) },
  }
}

const BOX = /^(\s*)(?:[-*+]|\d{1,9}[.)])\s+\[([ xX/~]?)\]\s+(\S.*)$/
const BULLET = /^\s*(?:[-*+]|\d{1,9}[.)])\s/
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)(?:\s#+)?\s*$/
const FENCE = /^\s*(?:[-*+]\s+)?(`{3,}|~{3,})/
const RULE = /^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/
const OPTIONAL = /^\W*(?:optional|future|nice[ -]to[ -]have)\b/i

function readLines(text: string): { boxes: Box[]; prose: Prose[] } {
  const boxes: Box[] = []
  const prose: Prose[] = []
  let headings: Heading[] = []
  let open: Box[] = [] // the box of the line before, and those it is nested in
  let until: RegExp | undefined // what ends a fence or a comment, in which nothing is a box
  let afterBlank = true
  for (const line of text.split('\n')) {
    const hidden = until !== undefined
    until = until ? (until.test(line) ? undefined : until) : opens(line)
    const heading = hidden ? undefined : parseHeading(line)
    const box = hidden ? undefined : parseBox(line, `box ${boxes.length + 1}`, headings)
    if (heading) {
      headings = [...headings.filter(({ level }) => level < heading.level), heading]
      open = []
      prose.push({ line, heading })
    } else if (box) {
      open = [...open.filter(({ indent }) => indent < box.indent), box]
      open.at(-2)?.dependsOn.push(box.key)
      boxes.push(box)
    } else if (!hidden && RULE.test(line)) open = []
    else {
      const continues = hidden || (!afterBlank && !BULLET.test(line)) || line.trim() === ''
      const owner = continues ? open.at(-1) : open.findLast(({ indent }) => indent < indentOf(line))
      if (owner) owner.lines.push(line)
      else {
        open = []
        prose.push({ line })
      }
    }
    afterBlank = line.trim() === ''
  }
  return { boxes, prose }
}

function opens(line: string): RegExp | undefined {
  const fence = FENCE.exec(line)?.[1]
  if (fence) return new RegExp(`^\\s*${fence[0]}{${fence.length},}\\s*$`)
  return /^\s*<!--(?!.*-->)/.test(line) ? /-->/ : undefined
}

function parseHeading(line: string): Heading | undefined {
  const [, marks, words = ''] = HEADING.exec(line) ?? []
  return marks === undefined ? undefined : { level: marks.length, text: oneLine(words) }
}

function parseBox(line: string, key: string, headings: Heading[]): Box | undefined {
  const [whole, , mark = '', words = ''] = BOX.exec(line) ?? []
  const title = oneLine(words)
  if (whole === undefined || title === '') return undefined
  const status = /x/i.test(mark) ? 'completed' : mark.trim() ? 'in_progress' : 'pending'
  const indent = indentOf(line)
  return { key, id: undefined, title, description: '', status, dependsOn: [], indent, headings, lines: [] }
}

function indentOf(line: string): number {
  return (/^\s*/.exec(line)?.[0] ?? '').replaceAll('\t', '    ').length
}

/** `T1: title` and `**US-001**: title` name the task, unless another has the same name. */
function withIds(boxes: readonly Box[]): Box[] {
  const named = boxes.map(({ title }) => /^(\**)([A-Za-z]+-?\d[\w.-]*)(?:\1:|:\1)\s+(\S.*)$/.exec(title) ?? [])
  const times = new Map<string, number>()
  for (const [, , id = ''] of named) times.set(id, (times.get(id) ?? 0) + 1)
  return boxes.map((box, index) => {
    const [, , id = '', title = ''] = named[index] ?? []
    return id && times.get(id) === 1 ? { ...box, id, title } : box
  })
}

const LONGEST_TITLE = 120

function toForeign({ key, id, title, status, dependsOn, headings, lines }: Box, document: string): Foreign {
  const short = cutTo(title, LONGEST_TITLE)
  const sections = headings.map(({ text }) => text).filter((text) => text && text !== document)
  return {
    key,
    id,
    title: short,
    description: [
      short === title ? '' : title,
      outdent(lines),
      sections.length > 0 ? `Part of: ${sections.join(' / ')}` : '',
    ]
      .filter(Boolean)
      .join('\n\n'),
    status,
    dependsOn,
  }
}

function outdent(lines: readonly string[]): string {
  const spaces = lines.filter((line) => line.trim()).map((line) => line.length - line.trimStart().length)
  const least = spaces.reduce((a, b) => Math.min(a, b), Number.MAX_SAFE_INTEGER)
  const text = lines.map((line) => line.slice(least).trimEnd()).join('\n')
  return text.trim()
}

/** A single first-level heading is the document's title. */
function titleOf(prose: readonly Prose[]): string {
  const [first, second] = prose.filter(({ heading }) => heading?.level === 1)
  return second ? '' : (first?.heading?.text ?? '')
}

/** The prose around the boxes. Works from the end, because a heading stays only if text is left below it. */
function withoutEmptySections(prose: readonly Prose[], title: string): string {
  const kept: string[] = []
  let below = 0 // the level of the heading that has text below it: its parents stay as well
  for (const { line, heading } of prose.toReversed()) {
    if (!heading) {
      if (line.trim()) below = 7
      kept.push(line)
    } else if (heading.level < below) {
      below = heading.level
      if (heading.level > 1 || heading.text !== title) kept.push('', line, '')
    }
  }
  return kept
    .reverse()
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}

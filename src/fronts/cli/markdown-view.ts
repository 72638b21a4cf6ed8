/** A loop as a pull request description: what it proved, what each iteration did, and how to repeat the proof. */
import type { Verdict } from '../../engine/loop.ts'
import { harmless } from '../../formats/harmless.ts'
import { code, fenced, prose } from '../../formats/markdown.ts'
import { cutTo, oneLine } from '../../formats/one-line.ts'
import { findingLines, gradeWords, ranWords } from '../../formats/proof-words.ts'
import { escapeHtml } from '../../formats/report-html.ts'
import { money } from '../../formats/spent-words.ts'
import type { Iteration } from '../../operations/iteration-view.ts'
import { isGitTree } from '../../operations/statement.ts'
import type { LoopSummary } from '../../operations/summarize-loop.ts'
import { checkRows } from './proof-view.ts'
import { changedWords, gradeOf, iterationMark, iterationSentence, settledOf } from './story.ts'
import { clock, count } from './text.ts'

/** GitHub rejects descriptions longer than 65,536 characters. */
const MOST_BYTES = 60_000

/** The most important parts come first; the rest is cut, with a note. */
export function printMarkdown(summary: LoopSummary): string {
  const sections = [
    heading(summary),
    checks(summary),
    iterations(summary),
    again(summary),
    noticed(summary),
    ...outputs(summary),
  ].filter(Boolean)
  const kept = fitting(sections, MOST_BYTES - ROOM_FOR_NOTE)
  const left = sections.length - kept.length
  if (left === 0) return kept.join('\n')
  const note = `${count(left, 'more part')} did not fit. ${code(`ralph show ${summary.loop.id}`)} shows everything.\n`
  return [...kept, note].join('\n')
}

const ROOM_FOR_NOTE = 300
const ROOM_FOR_LIST = 15_000

function heading({ loop, status, standing, proof, last }: LoopSummary): string {
  const { next, tally, spec } = loop
  const title = cutTo(oneLine(harmless(spec.prompt)), 100)
  const end = last.at(-1)?.endedAt
  const facts = [
    next.kind === 'complete' ? `proof: ${gradeWords(next)}` : status.replace('-', ' '),
    count(tally.iteration, 'iteration'),
    ...(end === undefined ? [] : [clock(end - tally.startedAt - tally.restedMs)]),
    ...(tally.costUsd > 0 ? [money(tally.costUsd)] : []),
    ...new Set(last.map(({ agent }) => code(agentName(agent)))),
  ]
  const sentence = next.kind === 'complete' ? proof.sentence : standing.sentence
  return `## ${prose(title) || 'A loop'}\n\n**${facts[0]}** · ${facts.slice(1).join(' · ')}\n\n${words(sentence, 600)}\n`
}

/** A custom program is named by its file, without the folder. */
function agentName(agent: string): string {
  return agent.replace(/:.*\//s, ':')
}

function checks({ proof }: LoopSummary): string {
  if (proof.checks.length === 0) return "No check: nothing proves the agent's claim.\n"
  const [head = [], ...found] = checkRows(proof.checks)
  const rows = found.map(([check = '', ...cells]) => row([code(cutTo(harmless(check), 200)), ...cells]))
  const kept = fitting(rows, ROOM_FOR_LIST)
  const left = rows.length - kept.length
  return `${table(head, kept)}${left > 0 ? `\n${count(left, 'more check')} did not fit.\n` : ''}`
}

/** The last iterations that fit. */
function iterations({ loop, last }: LoopSummary): string {
  if (last.length === 0) return ''
  const pending = loop.next.kind === 'check' || loop.next.kind === 'prove'
  const rows = last.map((one) => {
    const isLast = one === last.at(-1)
    const grade = isLast ? gradeOf(loop) : undefined
    const settled = settledOf(one, grade ? undefined : one.refused)
    const sentence = iterationSentence(settled, grade, isLast && pending)
    const cost = money(one.costUsd ?? 0)
    const mark = iterationMark(settled, grade)
    return row([`${one.n} ${mark}`, words(sentence, 160, code), changedWords(one), clock(one.durationMs), cost])
  })
  const kept = fitting(rows.reverse(), ROOM_FOR_LIST).toReversed()
  const left = (last.at(-1)?.n ?? 0) - kept.length
  const note =
    left > 0 ? `\n${left === 1 ? 'The first iteration is' : `The first ${left} iterations are`} not shown.\n` : ''
  return `${table(['iteration', 'outcome', 'changed', 'time', 'cost'], kept)}${note}`
}

function noticed({ proof }: LoopSummary): string {
  const lines = findingLines(proof.findings).map((line) => `- ${words(line, 300)}\n`)
  if (lines.length === 0) return ''
  const kept = fitting(lines, ROOM_FOR_LIST)
  const left = lines.length - kept.length
  return `ralph noticed:\n\n${kept.join('')}${left > 0 ? `- and ${left} more\n` : ''}`
}

function again({ loop, proof }: LoopSummary): string {
  return proof.checks.length > 0 && proof.seen && isGitTree(proof.seen.tree)
    ? `Repeat the proof where the loop ran: ${code(`ralph proof ${loop.id} --again`)}\n`
    : ''
}

const MOST_OUTPUTS = 10

/** The output of failing checks, newest first. */
function outputs({ last }: LoopSummary): string[] {
  return last
    .toReversed()
    .flatMap((row) => row.verdicts.filter(({ result }) => result !== 'pass').map((verdict) => output(row, verdict)))
    .slice(0, MOST_OUTPUTS)
}

function output({ n }: Iteration, verdict: Verdict): string {
  const said = escapeHtml(cutTo(oneLine(harmless(ranWords(verdict))), 200))
  const lines = harmless(verdict.tail).trimEnd() || '(no output)'
  return `<details><summary>Iteration ${n}: <code>${said}</code></summary>\n\n${fenced(lines)}\n</details>\n`
}

/** Text that grows a lot when escaped is cut shorter, so that it does not take all the room. */
function words(text: string, most: number, as?: (text: string) => string): string {
  const plain = oneLine(harmless(text))
  const printed = prose(cutTo(plain, most), as)
  return printed.length <= 2 * most ? printed : prose(cutTo(plain, Math.ceil(most / 5)), as)
}

function table(head: readonly string[], rows: readonly string[]): string {
  return [row(head), row(head.map(() => '---')), ...rows].join('')
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |\n`
}

/** As many of the first parts as fit. */
function fitting(parts: readonly string[], room: number): readonly string[] {
  let used = 0
  const over = parts.findIndex((part) => {
    used += Buffer.byteLength(part) + 1
    return used > room
  })
  return over < 0 ? parts : parts.slice(0, over)
}

/** results.md: the outcome of a project, for the user to read in the morning. */

import { count } from '../engine/limits.ts'
import { type Finding, GRADES, type Grade } from '../engine/loop.ts'
import { listed } from '../engine/proof-words.ts'
import { dollars, duration } from './amounts.ts'
import { code, fenced, inline } from './markdown.ts'
import type { Obstacle } from './obstacles.ts'
import { cutTo, oneLine } from './one-line.ts'
import type { Entry } from './progress.ts'
import { findingLines, GRADE_MEANINGS } from './proof-words.ts'
import type { Task } from './tasks.ts'

export type Results = {
  project: string
  /** Why it stopped, in a word ('completed', 'max-attempts', 'blocked', …) and in a sentence. */
  reason: string
  sentence: string
  tasks: readonly Task[]
  entries: readonly Entry[]
  obstacles: readonly Obstacle[]
  /** Checks that keep open tasks from being completed. */
  failing: readonly Failing[]
  /** On the branch since the project started; undefined: no git. Newest last. */
  commits: readonly { id: string; subject: string }[] | undefined
  files: readonly { path: string; added: number | undefined; removed: number | undefined }[] | undefined
  /** The proof of each completed task. */
  proofs: readonly TaskProof[]
  iterations: number
  tokens: number
  costUsd: number
  elapsedMs: number
  at: number
  /** What the user can do now, as Markdown sentences written by ralph. */
  next: readonly string[]
}

/** `tail`: the end of its last output, in that iteration. */
export type Failing = { task_id: string; check: string; times: number; iteration: number; tail: string }

/** `proof_sentence`: null if an older ralph or the user marked it completed. */
export type TaskProof = { task_id: string; proof: Grade; proof_sentence: string | null; findings: Finding[] }

export function printResults(results: Results): string {
  const { project, reason, sentence, at, next } = results
  return [
    `# Results of ${inline(project)}`,
    `**${reason === 'completed' ? 'Completed' : `Stopped: ${inline(reason)}`}.** ${inline(sentence)}`,
    `Written ${new Date(at).toISOString()}.`,
    ...done(results),
    ...remaining(results),
    ...failingChecks(results),
    ...commits(results),
    ...files(results),
    ...obstacles(results),
    ...spent(results),
    ...section('What to do next', list(next.map(oneLine))),
  ]
    .map((block) => `${block}\n`)
    .join('\n')
}

/** Empty sections are left out. */
function section(title: string, ...blocks: string[]): string[] {
  const filled = blocks.filter(Boolean)
  return filled.length > 0 ? [`## ${title}`, ...filled] : []
}

function list(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join('\n')
}

function done({ tasks, entries, ...results }: Results): string[] {
  const proofs = new Map(results.proofs.map((proof) => [proof.task_id, proof]))
  const completed = tasks.filter(({ status }) => status === 'completed')
  const summaries = lastSummaries(entries)
  const lines = completed.map(({ id, title }) => {
    const proof = proofs.get(id) ?? { task_id: id, proof: 'claimed', proof_sentence: null, findings: [] }
    return `${named(id, title)} (${gradeWith(proof)})${says(summaries.get(id))}${grounds(proof)}`
  })
  const grades = GRADES.filter((grade) => results.proofs.some(({ proof }) => proof === grade))
  const words = grades.some((grade) => grade !== 'verified') ? grades.map((grade) => GRADE_MEANINGS[grade]) : []
  return section(
    `Done: ${completed.length} of ${tasks.length}`,
    list(lines) || 'No task is completed.',
    words.join(' '),
  )
}

/** An altered proof names the files it depends on. */
function gradeWith({ proof, findings }: TaskProof): string {
  const paths = [...new Set(findings.map(({ path }) => path).filter(Boolean))]
  return proof === 'altered' && paths.length > 0 ? `altered: ${inline(listed(paths))}` : proof
}

function grounds({ proof, proof_sentence, findings }: TaskProof): string {
  const sentence = proof_sentence ? [proof_sentence] : []
  const noticed = findingLines(findings)
  const lines = proof === 'altered' ? [...noticed, ...sentence] : [...sentence, ...noticed]
  return lines.map((line) => `\n  - ${inline(line)}`).join('')
}

function remaining({ tasks, entries }: Results): string[] {
  const completed = new Set(tasks.filter(({ status }) => status === 'completed').map(({ id }) => id))
  const summaries = lastSummaries(entries)
  const tried = new Set(entries.map(({ task_id }) => task_id))
  const lines = tasks
    .filter(({ id }) => !completed.has(id))
    .map(({ id, title, blocked, attempts, max_attempts, dependencies }) => {
      const before = dependencies.filter((other) => !completed.has(other))
      const facts = [
        ...(blocked ? ['blocked'] : []),
        ...(attempts > 0 || tried.has(id)
          ? [`${attempts} of ${count(max_attempts, 'attempt')} used`]
          : ['not tried yet']),
        ...(before.length > 0 ? [`waiting for ${before.map(inline).join(', ')}`] : []),
      ]
      return `${named(id, title)} (${facts.join('; ')})${says(summaries.get(id))}`
    })
  return section('What remains', list(lines))
}

function failingChecks({ failing }: Results): string[] {
  const lines = failing.map(({ task_id, check, times, iteration, tail }) => {
    const often = times > 1 ? `${times} times, the last time` : 'once,'
    const output = fenced(tail)
      .trimEnd()
      .replace(/^(?=.)/gm, '  ')
    return `**${inline(task_id)}**: ${code(check)} failed ${often} in iteration ${iteration}. Its output ends with:\n\n${output}`
  })
  return section('Failing checks', list(lines))
}

function lastSummaries(entries: readonly Entry[]): Map<string, string> {
  return new Map(entries.filter(({ summary }) => summary.trim()).map(({ task_id, summary }) => [task_id, summary]))
}

function named(id: string, title: string): string {
  return `**${inline(id)}: ${inline(title)}**`
}

function says(summary: string | undefined): string {
  return summary === undefined ? '' : `: ${inline(summary)}`
}

const MOST_LINES = 200

function commits({ commits: made }: Results): string[] {
  if (made === undefined) return section('Commits', 'This folder is not a git repository, so its changes are unknown.')
  const earlier = made.length - MOST_LINES
  const lines = made.slice(-MOST_LINES).map(({ id, subject }) => `${code(id)} ${inline(subject)}`)
  return section('Commits', earlier > 0 ? `${earlier} earlier ones, then:` : '', list(lines) || 'None.')
}

function files({ files: changed }: Results): string[] {
  if (!changed || changed.length === 0) return []
  const more = changed.length - MOST_LINES
  const rows = changed
    .slice(0, MOST_LINES)
    .map(({ path, added, removed }) => `| ${code(path)} | ${lineCount(added)} | ${lineCount(removed)} |`)
  return section(
    `Files: ${changed.length} changed, ${count(total(changed, 'added'), 'line')} added, ${total(changed, 'removed')} removed`,
    ['| file | added | removed |', '|---|--:|--:|', ...rows].join('\n'),
    more > 0 ? `and ${more} more.` : '',
  )
}

// git counts no lines in binary files.
function lineCount(lines: number | undefined): string {
  return lines === undefined ? '-' : String(lines)
}

function total(changed: NonNullable<Results['files']>, kind: 'added' | 'removed'): number {
  return changed.reduce((sum, file) => sum + (file[kind] ?? 0), 0)
}

function obstacles({ obstacles: met }: Results): string[] {
  const lines = (resolved: boolean) =>
    list(
      met
        .filter((obstacle) => obstacle.resolved === resolved)
        .map(({ id, task_id, message, iteration }) => {
          const where = [task_id && `task ${inline(task_id)}`, iteration > 0 && `iteration ${iteration}`].filter(
            Boolean,
          )
          return `${id ? `**${inline(id)}** ` : ''}${where.length > 0 ? `(${where.join(', ')}) ` : ''}${inline(cutTo(oneLine(message), 300))}`
        }),
    )
  return [...section('Open obstacles', lines(false)), ...section('Resolved obstacles', lines(true))]
}

function spent({ iterations, elapsedMs, tokens, costUsd }: Results): string[] {
  return section(
    'Cost and time',
    list([
      `Iterations: ${iterations}`,
      `Time: ${duration(elapsedMs)}`,
      `Tokens: ${tokens > 0 ? tokens.toLocaleString('en-US') : 'not reported'}`,
      `Cost: ${costUsd > 0 ? dollars(costUsd) : 'not reported'}`,
    ]),
  )
}

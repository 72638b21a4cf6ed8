/** Imports prd.json: user stories with acceptance criteria, a priority and `passes`, as several tools write it. */
import type { Brief, Foreign } from './import-tasks.ts'
import { isObject, isTexts, type Json, quote } from './json-file.ts'
import { oneLine } from './one-line.ts'
import type { TaskStatus } from './tasks.ts'

/** The tasks in order of priority, or all problems. */
export function readPrd(
  prd: Json,
  stories: readonly unknown[],
): { tasks: Foreign[]; brief: Brief } | { problems: string[] } {
  const problems = stories.flatMap((story, index) => storyProblems(story, index + 1))
  if (problems.length > 0) return { problems }
  const sorted = (stories as Json[])
    .map((story, index) => ({ task: toForeign(story, index + 1), priority: priorityOf(story.priority) }))
    .sort((a, b) => a.priority - b.priority)
    .map(({ task }) => task)
  const keys = new Set<string>()
  for (const { key } of sorted) {
    if (keys.has(key)) return { problems: [`two stories have the id ${quote(key)}. Ids must be unique.`] }
    keys.add(key)
  }
  return { tasks: sorted, brief: { title: line(prd.project ?? prd.name), text: words(prd.description) } }
}

const isText = (value: unknown) => typeof value === 'string'

const FIELDS: readonly (readonly [field: string, fits: (value: unknown) => boolean, expected: string])[] = [
  ['id', (value) => isText(value) || Number.isFinite(value), 'a string such as "US-001"'],
  ['title', (value) => line(value) !== '', 'a string'],
  ['description', isText, 'a string'],
  ['acceptanceCriteria', (value) => isText(value) || isTexts(value), 'a list of strings'],
  ['priority', (value) => Number.isFinite(priorityOf(value)), 'a number, or one of high, medium, low'],
  ['passes', (value) => typeof value === 'boolean', 'true or false'],
  ['status', (value) => statusOf(value) !== undefined, 'one of pending, in_progress, completed, blocked'],
  ['dependsOn', isTexts, 'a list of ids'],
  ['dependencies', isTexts, 'a list of ids'],
  ['notes', isText, 'a string'],
]

function storyProblems(story: unknown, place: number): string[] {
  if (!isObject(story)) return [`story ${place} must be an object, got ${quote(story)}.`]
  const name = line(story.id) ? `story ${line(story.id)}` : `story ${place} of the list`
  return FIELDS.flatMap(([field, fits, expected]) => {
    const value = story[field] ?? undefined
    if ((value === undefined && field !== 'title') || fits(value)) return []
    return [`${name}: ${field} must be ${expected}, got ${quote(value)}.`]
  })
}

const WORDS: Readonly<Record<string, number>> = { critical: 0, urgent: 0, high: 1, medium: 2, normal: 2, low: 3 }

/** The lowest comes first; stories without a priority come last. */
function priorityOf(value: unknown): number {
  if (value === undefined || value === null) return Number.MAX_VALUE
  if (typeof value !== 'string') return Number(value)
  const word = value.trim().toLowerCase()
  const [, digits] = /^p?(\d+)$/.exec(word) ?? []
  return digits === undefined ? (WORDS[word] ?? Number.NaN) : Number(digits)
}

const STATUSES: readonly (readonly [TaskStatus, RegExp])[] = [
  ['completed', /^(completed?|done|passe[sd]|passing|finished|closed|merged|shipped)$/],
  ['blocked', /^blocked$/],
  [
    'pending',
    /^(pending|open|to-?do|new|backlog|ready|planned|not-?started|in-?progress|doing|active|started|failed)$/,
  ],
]

/** For tools without `passes`. Work in progress there starts over here. */
function statusOf(value: unknown): TaskStatus | undefined {
  const word =
    typeof value === 'string'
      ? value
          .trim()
          .toLowerCase()
          .replace(/[\s_]+/g, '-')
      : ''
  return STATUSES.find(([, words]) => words.test(word))?.[0]
}

// Every field has been checked.
function toForeign(story: Json, place: number): Foreign {
  const id = line(story.id)
  const criteria = [(story.acceptanceCriteria ?? []) as string | string[]].flat().map(line).filter(Boolean)
  return {
    key: id || `story ${place}`,
    id: id || undefined,
    title: line(story.title),
    description: [
      words(story.description),
      criteria.length > 0 ? ['Acceptance criteria:', ...criteria.map((text) => `- ${text}`)].join('\n') : '',
      words(story.notes) && `Notes: ${words(story.notes)}`,
    ]
      .filter(Boolean)
      .join('\n\n'),
    status:
      typeof story.passes === 'boolean'
        ? story.passes
          ? 'completed'
          : 'pending'
        : (statusOf(story.status) ?? 'pending'),
    dependsOn: ((story.dependsOn ?? story.dependencies ?? []) as string[]).map(line),
  }
}

function words(value: unknown): string {
  return typeof value === 'string' ? value.trim() : ''
}

function line(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? oneLine(String(value)) : ''
}

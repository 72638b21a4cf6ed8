/** What a loop did to the means of proof: changed, deleted, added, skipped. */
import type { Finding, FindingKind } from '../engine/loop.ts'
import type { Means, Role } from './means.ts'
import { extractPart } from './means-parts.ts'
import { countAssertions, findWeakenings } from './weakenings.ts'

/** The file at the start and now; undefined: it does not exist. `mark`: identifies the part that counts now. */
export type MeansChange = {
  path: string
  means: Means
  before: string | undefined
  after: string | undefined
  mark: string
}

export const MOST_FINDINGS = 40

/** One per path and kind, the most serious first; beyond forty, the last one says how many more there are. */
export function readFindings(changes: readonly MeansChange[]): Finding[] {
  const rank = ({ kind }: Finding) => ORDER.indexOf(kind)
  return limitFindings(changes.flatMap(markedFindings).sort((one, other) => rank(one) - rank(other)))
}

/** The same for changes that --may-change allows, one per path. Limited separately, so they hide no other kind. */
export function excusedFindings(changes: readonly MeansChange[]): Finding[] {
  return limitFindings(
    changes.flatMap((change) => {
      const found = findingsOf(change)
      if (found.length === 0) return []
      const { path, mark } = change
      return [{ kind: 'may-change', path, words: `${found.map(({ words }) => words).join(', ')}; ${EXCUSED}`, mark }]
    }),
  )
}

export const EXCUSED = 'allowed by --may-change'

const ORDER: readonly FindingKind[] = [
  'unreadable',
  'runner-changed',
  'not-separable', // any of these three alone decides the grade, so none may be cut off
  'tests-skipped',
  'tests-deleted',
  'means-deleted',
  'means-changed',
  'tests-changed',
  'means-added',
  'tests-added',
]

function limitFindings(findings: readonly Finding[]): Finding[] {
  if (findings.length <= MOST_FINDINGS) return [...findings]
  const more = findings.length - MOST_FINDINGS
  return [...findings.slice(0, MOST_FINDINGS), { kind: 'noted', path: '', words: `and ${more} more` }]
}

function markedFindings(change: MeansChange): Finding[] {
  return findingsOf(change).map((finding) => ({ ...finding, mark: change.mark }))
}

/** None if the part that counts is unchanged. */
function findingsOf({ path, means, before, after }: Omit<MeansChange, 'mark'>): Finding[] {
  if (before === after) return []
  const [old, now] = [before, after].map((text) => (text === undefined ? '' : extractPart(means.part, text)))
  if (old === undefined || now === undefined) {
    if (means.role === 'shadow') return [{ kind: 'runner-changed', path, words: MAY_SHADOW }]
    return [{ kind: 'not-separable', path, words: 'its tests cannot be told apart from the work' }]
  }
  const isWhole = means.part === 'whole'
  if (old === now && !(isWhole && (before === undefined || after === undefined))) return []
  const happened = statusOf(isWhole ? before : old || undefined, isWhole ? after : now || undefined)
  const added = newLines(old, now)
  const weaker = happened === 'deleted' ? [] : findWeakenings(added, SCRIPTS.has(means.role))
  const empty = happened === 'changed' && countAssertions(old) > 0 && countAssertions(now) === 0 && isTest(means.role)
  const skips = [...weaker, ...(empty ? ['it no longer asserts anything'] : [])]
  return [
    ...(skips.length > 0 ? [{ kind: 'tests-skipped' as const, path, words: skips.slice(0, 3).join(', ') }] : []),
    { kind: kindOf(means.role, happened), path, words: wordsOf(means, happened, old, now) },
  ]
}

const MAY_SHADOW = 'it has the name of a standard Python module and may replace it in the test runner'

const SCRIPTS: ReadonlySet<Role> = new Set<Role>(['script', 'ci', 'config', 'protected'])

type Happened = 'changed' | 'deleted' | 'added'

function statusOf(before: string | undefined, after: string | undefined): Happened {
  if (before === undefined) return 'added'
  return after === undefined ? 'deleted' : 'changed'
}

function isTest(role: Role): boolean {
  return role === 'test' || role === 'snapshot'
}

function kindOf(role: Role, happened: Happened): FindingKind {
  if (role === 'shadow') return 'runner-changed'
  return isTest(role) ? `tests-${happened}` : `means-${happened}`
}

function wordsOf({ role, part }: Means, happened: Happened, old: string, now: string): string {
  if (role === 'shadow') return `${NOUNS.shadow} was ${happened}`
  if (happened === 'added') return `${NOUNS[role]} is new`
  if (happened === 'deleted') return `${NOUNS[role]} was deleted`
  const [added, gone] = [newLines(old, now), newLines(now, old)]
  if (part !== 'whole' && part.kind === 'json') return `${keysIn([...added, ...gone]).join(', ')} changed`
  const detail = detailOf(added, gone)
  return `${NOUNS[role]} was changed${detail && ` (${detail})`}`
}

const NOUNS: Readonly<Record<Role, string>> = {
  test: 'the test',
  snapshot: 'the snapshot',
  setup: 'the test setup',
  script: 'a script that the checks run',
  config: 'the check configuration',
  ci: 'the CI file',
  shadow: 'a file that replaces the test runner',
  protected: 'a protected file',
}

function keysIn(lines: readonly string[]): string[] {
  return [...new Set(lines.map((line) => line.slice(0, line.indexOf(': '))))]
}

function detailOf(added: readonly string[], gone: readonly string[]): string {
  const fewer = countAssertions(gone.join('\n')) - countAssertions(added.join('\n'))
  if (fewer > 0) return fewer === 1 ? 'an assertion was removed' : `${fewer} assertions were removed`
  if (gone.length === 0) return added.length === 0 ? 'lines were reordered' : 'lines were added'
  return added.length === 0 ? 'lines were removed' : ''
}

/** The lines of `after` that are not in `before`, with multiplicity. */
function newLines(before: string, after: string): string[] {
  const left = new Map<string, number>()
  for (const line of before.split('\n')) left.set(line, (left.get(line) ?? 0) + 1)
  return after.split('\n').filter((line) => {
    const count = left.get(line) ?? 0
    left.set(line, count - 1)
    return count <= 0 && line.trim() !== ''
  })
}

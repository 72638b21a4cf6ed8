/** Trees for experiments: the files of one state with the means of proof of another. Only objects are written. */
import { rmSync } from 'node:fs'
import type { Means } from '../formats/means.ts'
import { type Mixed, mix } from '../formats/means-parts.ts'
import { must, type Repository } from './git.ts'
import { AS_STORED, type Difference, type Entry, listDifferences, readObjects } from './means.ts'

export type Mixing = {
  /** The tree whose files are kept. */
  base: string
  /** The tree whose means of proof replace theirs. */
  from: string
  /** The means of both states. */
  means: ReadonlyMap<string, Means>
  /** Paths that a person has allowed: they stay as in `base`. */
  allowed?: readonly string[]
  /** An index file that nobody else uses; it is removed afterwards. */
  index: string
}

/** `changed`: how many paths differ from `base`. */
export type Built = { tree: string; changed: number } | { cannot: string; paths: string[] }

/** Sealed: `base` is now and `from` the start. Reversed: the other way round. */
export async function buildTree(repo: Repository, { base, from, means, allowed = [], index }: Mixing): Promise<Built> {
  const differences = await listDifferences(repo, base, from)
  if (!differences) return { cannot: 'git cannot read one of the states', paths: [] }
  const touched = differences.filter(({ path }) => means.has(path) && !allowed.includes(path))
  const parts = touched.filter(({ path }) => means.get(path)?.part !== 'whole')
  const texts = await readObjects(
    repo,
    parts.flatMap(({ before, after }) => [before, after].flatMap((one) => one?.id ?? [])),
  )
  if (!texts) return { cannot: 'git cannot read one of the states', paths: [] }
  const textOf = (one: Entry | undefined) => (one ? texts.get(one.id)?.toString('utf8') : undefined)
  const mixed = new Map<string, Mixed>()
  for (const { path, before, after } of parts) {
    const part = means.get(path)?.part ?? 'whole'
    mixed.set(path, mix(part, { rest: textOf(before), means: textOf(after) }))
  }
  const stuck = parts.filter(({ path }) => mixed.get(path) === 'not-separable').map(({ path }) => path)
  if (stuck.length > 0) return { cannot: 'tests and work cannot be separated', paths: stuck }
  const entries = await Promise.all(touched.map((one) => entryFor(repo, one, mixed.get(one.path), textOf(one.before))))
  const lines = entries.filter((line) => line !== undefined)
  if (lines.length === 0) return { tree: base, changed: 0 }
  return { tree: await writeTree(repo, base, lines, index), changed: lines.length }
}

/** A line for `git update-index --index-info`; undefined: the path stays as it is. */
async function entryFor(
  repo: Repository,
  { raw, before, after }: Difference,
  mixed: Mixed | undefined,
  text: string | undefined,
): Promise<string | undefined> {
  if (mixed === undefined && after) return `${after.mode} ${after.id}\t${raw}`
  if (mixed === undefined || mixed === 'absent') return before && gone(raw, before)
  if (typeof mixed === 'string' || mixed.text === text) return undefined
  const id = must(await repo.ask(['hash-object', '-w', '-t', 'blob', '--no-filters', '--stdin'], { stdin: mixed.text }))
  return `${(before ?? after)?.mode} ${id}\t${raw}`
}

/** git wants a hash of the repository's own length, although there is no such object. */
function gone(raw: string, { id }: Entry): string {
  return `0 ${'0'.repeat(id.length)}\t${raw}`
}

async function writeTree(repo: Repository, base: string, lines: readonly string[], index: string): Promise<string> {
  const env = { ...AS_STORED, GIT_INDEX_FILE: index }
  try {
    must(await repo.ask(['read-tree', base], { env }))
    // Removals go first: a folder may come where a file was.
    const ordered = [...lines].sort((one, other) => Number(other.startsWith('0 ')) - Number(one.startsWith('0 ')))
    const stdin = Buffer.from(ordered.map((line) => `${line}\0`).join(''), 'latin1')
    must(await repo.ask(['update-index', '-z', '--index-info'], { env, stdin }))
    return must(await repo.ask(['write-tree'], { env }))
  } finally {
    for (const file of [index, `${index}.lock`]) rmSync(file, { force: true })
  }
}

/** The means of proof between two states of a repository, and states combined from both, as git trees. */
import { hash } from 'node:crypto'
import type { MeansChange } from '../formats/findings.ts'
import {
  asModule,
  type Files,
  findMeans,
  isExcused,
  type Means,
  type Part,
  type Proving,
  unionMeans,
} from '../formats/means.ts'
import { followChecks } from '../formats/means-follow.ts'
import { isHelper, mayBeHelper } from '../formats/means-helpers.ts'
import { extractPart } from '../formats/means-parts.ts'
import { isOrdinaryModule } from '../formats/means-python.ts'
import { isUnclear } from '../formats/means-unclear.ts'
import { LARGEST_TEXT, readOutside } from './disk-files.ts'
import { type Repository, readable } from './git.ts'
import { addRepointed } from './repointed.ts'

/**
 * A path whose entry differs between two trees; undefined: it does not exist there. `raw` is the path with one
 * character per byte.
 */
export type Difference = { path: string; raw: string; before: Entry | undefined; after: Entry | undefined }
export type Entry = { mode: string; id: string }

export type MeansBetween = {
  /** The means of both states, as far as they differ. */
  means: ReadonlyMap<string, Means>
  /** Of the paths that differ, those that are means; `excused` are those that --may-change names. */
  changes: MeansChange[]
  excused: MeansChange[]
  /** Of the others, those that seem to be test helpers. */
  helpers: Marked[]
  /** And those that the checks run, or may run, without clearly being work or means. */
  unclear: Marked[]
  /** The checks run more than is followed, so there may be others. */
  isCut: boolean
}

/** Undefined if git cannot read one of the trees. */
export async function readMeansBetween(
  repo: Repository,
  start: string,
  now: string,
  proving: Omit<Proving, 'top'>,
): Promise<MeansBetween | undefined> {
  const [differences, old, present] = await Promise.all([
    listDifferences(repo, start, now),
    openState(repo, start),
    openState(repo, now),
  ])
  if (!differences || !old || !present) return undefined
  const asked = { ...proving, top: repo.top }
  const only = new Set(differences.map(({ path }) => path))
  const [was, is] = await Promise.all([followChecks(old, asked), followChecks(present, asked)])
  const [one, other] = await Promise.all([findMeans(old, asked, only, was), findMeans(present, asked, only, is)])
  const means = unionMeans(one, other)
  for (const { path, before } of differences) {
    const known = means.get(path)
    if (before && known?.role === 'shadow' && isOrdinaryModule(path)) means.set(path, asModule(known))
  }
  await addRepointed(old, present, asked, { paths: only, means })
  const changed = differences.flatMap((difference) => {
    const known = means.get(difference.path)
    return known ? [{ ...difference, means: known }] : []
  })
  const isFree = ({ path }: { path: string }) => isExcused(path, proving)
  const unknown = differences.filter(({ path }) => isWork(means.get(path)))
  const others = unknown.filter(({ path, before }) => before && mayBeHelper(path))
  const odd = unknown.filter(({ path, before, after }) =>
    isUnclear(was.unclear, path, [before, after].some(isExecutable)),
  )
  const texts = await readObjects(repo, [
    ...changed.flatMap(({ before, after }) => [before, after].flatMap(blobOf)),
    ...[...others, ...odd].flatMap((one) => (isFree(one) ? [one.before, one.after] : [one.before]).flatMap(blobOf)),
  ])
  if (!texts) return undefined
  const textOf = (entry: Entry | undefined) => entry && `${textIn(texts.get(entry.id)) ?? entry.id}`
  const helpers = others.filter(({ path, before }) => isHelper(path, textOf(before) ?? ''))
  // A possible helper cannot be told from the work; if it may be changed, it counts as one.
  const freeHelpers = [...new Set([...helpers, ...odd])].filter(isFree).map((one) => ({ ...one, means: HELPER }))
  for (const { path } of freeHelpers) means.set(path, HELPER)
  const certain = changed.filter(({ path }) => means.get(path) !== HELPER)
  const changes = [...certain, ...freeHelpers].map(({ path, means: known, before, after }) => ({
    path,
    means: known,
    before: textOf(before),
    after: afterText(known, { before, after }, textOf),
    mark: markOf(known.part, after, textOf(after)),
  }))
  return {
    means,
    isCut: was.isCut || is.isCut,
    helpers: helpers.filter((one) => !isFree(one)).map(marked),
    unclear: odd.filter((one) => !isFree(one)).map(marked),
    changes: changes.filter((one) => !isFree(one)),
    excused: changes.filter(isFree),
  }
}

/** With a mark that shows whether it was changed again. */
type Marked = { path: string; mark: string }

function marked({ path, after }: Difference): Marked {
  return { path, mark: markOf('whole', after, undefined) }
}

const HELPER: Means = { role: 'setup', part: 'whole' }

/** If only a part of a file counts, other work in it does not change its mark. */
function markOf(part: Part, entry: Entry | undefined, text: string | undefined): string {
  if (!entry) return ''
  const counts = part === 'whole' || text === undefined ? undefined : extractPart(part, text)
  return counts === undefined ? `${entry.mode} ${entry.id}` : hash('sha1', counts)
}

/** A source whose only tests are examples in its texts is work, and so is the config.yaml of another program. */
function isWork(known: Means | undefined): boolean {
  return known === undefined || (known.part !== 'whole' && ['examples', 'ralph'].includes(known.part.kind))
}

function textIn(bytes: Buffer | undefined): string | undefined {
  return bytes && bytes.length <= LARGEST_TEXT ? bytes.toString('utf8') : undefined
}

function afterText(
  { part }: Means,
  { before, after }: Pick<Difference, 'before' | 'after'>,
  textOf: (entry: Entry | undefined) => string | undefined,
): string | undefined {
  const text = textOf(after)
  // Bytes that are not text read the same, and so does an executable file or a link: it is a different file
  // nevertheless.
  return part === 'whole' && before && after && text === textOf(before) ? `${text}\n(${after.mode} ${after.id})` : text
}

function blobOf(entry: Entry | undefined): string[] {
  return entry && entry.mode !== SUBMODULE ? [entry.id] : []
}

function isExecutable(entry: Entry | undefined): boolean {
  return entry?.mode === EXECUTABLE
}

const EXECUTABLE = '100755'
const SUBMODULE = '160000'
const LINK = '120000'

/** `readAll`: the texts of those that can be read. */
export type State = Files & { readAll(paths: readonly string[]): Promise<string[]> }

/** The files of a tree; they are read when needed. */
async function openState(repo: Repository, tree: string): Promise<State | undefined> {
  const listed = await repo.list(['ls-tree', '-r', '-z', '--full-tree', tree], { env: AS_STORED })
  if (!listed) return undefined
  const ids = new Map<string, string>()
  const links = new Set<string>()
  for (const line of listed) {
    const [, mode, id = '', path = ''] = /^(\d+) \w+ (\w+)\t(.*)$/s.exec(line) ?? []
    if (mode === SUBMODULE) continue
    ids.set(readable(path), id)
    if (mode === LINK) links.add(readable(path))
  }
  const texts = new Map<string, Promise<string | undefined>>()
  const readText = async (id: string) => textIn((await readObjects(repo, [id]))?.get(id))
  return {
    paths: new Set(ids.keys()),
    links,
    readOutside,
    async read(path) {
      const id = ids.get(path)
      if (id === undefined) return undefined
      const text = texts.get(id) ?? readText(id)
      texts.set(id, text)
      return text
    },
    async readAll(paths) {
      const found = await readObjects(
        repo,
        paths.flatMap((path) => ids.get(path) ?? []),
      )
      return [...(found?.values() ?? [])].flatMap((bytes) => textIn(bytes) ?? [])
    },
  }
}

/** Undefined if git cannot read one of the trees. */
export async function listDifferences(
  repo: Repository,
  before: string,
  after: string,
): Promise<Difference[] | undefined> {
  const how = ['diff-tree', '-r', '-z', '--no-renames', '--raw', '--no-abbrev', before, after]
  const fields = await repo.list(how, { env: AS_STORED })
  if (!fields) return undefined
  return fields.flatMap((field, at) => {
    const [, oldMode = '', mode = '', oldId = '', id = ''] = /^:(\d+) (\d+) (\w+) (\w+) \w/.exec(field) ?? []
    if (at % 2 !== 0 || mode === '') return []
    const raw = fields[at + 1] ?? ''
    return [{ path: readable(raw), raw, before: entry(oldMode, oldId), after: entry(mode, id) }]
  })
}

function entry(mode: string, id: string): Entry | undefined {
  return mode === '000000' ? undefined : { mode, id }
}

/** Objects as they were stored, whatever `git replace` says today. */
export const AS_STORED = { GIT_NO_REPLACE_OBJECTS: '1' }

/** The bytes of several objects, read by one git; missing ones are left out. Undefined if git fails. */
export async function readObjects(repo: Repository, ids: readonly string[]): Promise<Map<string, Buffer> | undefined> {
  const found = new Map<string, Buffer>()
  if (ids.length === 0) return found
  const bytes = await repo.bytes(['cat-file', '--batch'], { env: AS_STORED, stdin: `${ids.join('\n')}\n` })
  if (!bytes) return undefined
  let at = 0
  for (const id of ids) {
    const end = bytes.indexOf(10, at)
    const size = /^\w+ \w+ (\d+)$/.exec(bytes.toString('latin1', at, end))?.[1]
    at = end + 1
    if (size === undefined) continue // "missing"
    found.set(id, bytes.subarray(at, at + Number(size)))
    at += Number(size) + 1
  }
  return found
}

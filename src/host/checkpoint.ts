/**
 * Checkpoints: commit objects below `refs/ralph/<loop>/`, which no ref of the person points to. Number 0 is the start,
 * number n the state after iteration n. Parents are HEAD and, as a separate commit, the index; the message names them.
 */
import { copyFileSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Diff } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { stampOf } from './files.ts'
import { type Answer, must, type Repository } from './git.ts'
import { noteCommits, notedCommits, repairRefs } from './kept-commits.ts'
import type { Snapshot, Snapshots } from './snapshot.ts'

/** A ref of a loop: the state after an iteration, before a rollback, or before that was undone. */
export function refOf(loop: string, name: number | string): string {
  return `refs/ralph/${loop}/${name}`
}

/** What a checkpoint holds besides files. `refs` are branches that a rollback to it sets; undefined removes them. */
export type Kept = {
  commit: string
  tree: string
  head: string | undefined
  branch: string | undefined
  index: string | undefined
  /** The state this one came from: the previous iteration, or the one it was rolled back to. */
  since: string | undefined
  /** An unfinished merge or the like. */
  underWay: string | undefined
  /** Kept before a rollback: the state it went to. */
  to?: string | undefined
  refs: Refs
}

/** Branches and their commits; undefined: no such branch. */
export type Refs = ReadonlyMap<string, string | undefined>

export type Keeper = { repo: Repository; snapshots: Snapshots; loop: string }

/** `refs` are current values of branches that must not be lost; `mark` is another name for it. */
type Keeping = { refs?: Refs; to?: string; mark?: string | undefined }

/** Writes a checkpoint. */
export function openKeeper({
  repo,
  snapshots,
  loop,
}: Keeper): (name: number | string, snapshot: Snapshot, keeping?: Keeping) => Promise<void> {
  let known: { stamp: string; commit: string | undefined } | undefined

  /** The index is kept both as a file and as a tree, so that git does not prune what only the index holds. */
  async function keepIndex(): Promise<string | undefined> {
    const stamp = stampOf(repo.index)
    if (known?.stamp === stamp) return known.commit
    const copy = `${snapshots.env.GIT_INDEX_FILE}.copy`
    const commit = stamp === '' ? undefined : await commitIndex(copy).finally(() => rmSync(copy, { force: true }))
    known = { stamp, commit }
    return commit
  }

  async function commitIndex(copy: string): Promise<string> {
    try {
      copyFileSync(repo.index, copy)
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : cause
      throw new RalphError('git-failed', `The index ${repo.index} cannot be copied: ${why}`, { cause })
    }
    const [blob, staged] = await Promise.all([
      repo.ask(['hash-object', '-w', '--no-filters', '--', copy]),
      repo.ask(['write-tree'], { env: { GIT_INDEX_FILE: copy } }), // fails during an unresolved merge
    ])
    const entries = [`100644 blob ${must(blob)}\tindex`, ...(staged.ok ? [`040000 tree ${staged.out}\tstaged`] : [])]
    const tree = must(await repo.ask(['mktree'], { stdin: `${entries.join('\n')}\n` }))
    return must(await repo.ask(['commit-tree', tree, '-m', 'ralph: an index'], { env: WRITER }))
  }

  return async (name, { tree, head, branch }, { refs = new Map(), to, mark } = {}) => {
    const [index, since] = await Promise.all([keepIndex(), lastKept(repo, loop)])
    const commit = await writeCheckpoint(repo, {
      loop,
      name,
      tree,
      head,
      branch,
      index,
      since,
      underWay: underWay(repo),
      to,
      refs,
    })
    const names = [name, ...(typeof name === 'number' ? [NOW] : []), ...(mark === undefined ? [] : [mark])]
    must(
      await setRefs(
        repo,
        names.map((each) => refOf(loop, each)),
        commit,
      ),
    )
  }
}

type Writing = Omit<Kept, 'commit'> & { loop: string; name: number | string }

/** Only writes the commit object; the caller sets the refs. */
export async function writeCheckpoint(repo: Repository, { loop, name, tree, refs, ...kept }: Writing): Promise<string> {
  const { head, index } = kept
  const parents = [head, index, ...refs.values()].flatMap((commit) => (commit ? ['-p', commit] : []))
  const message = [
    `ralph: loop ${loop}, ${typeof name === 'number' ? `after iteration ${name}` : name}\n`,
    `branch: ${kept.branch ?? 'detached'}`,
    `head: ${head ?? 'none'}`,
    `index: ${index ?? 'none'}`,
    `since: ${kept.since ?? 'none'}`,
    `under-way: ${kept.underWay ?? 'none'}`,
    ...(kept.to === undefined ? [] : [`to: ${kept.to}`]),
    ...[...refs].map(([ref, commit]) => `ref: ${ref} ${commit ?? 'none'}`),
  ].join('\n')
  return must(await repo.ask(['commit-tree', tree, ...parents, '-F', '-'], { env: WRITER, stdin: message }))
}

/** `now` is the last known state, whichever it was: a deleted worktree is rebuilt from it. */
export const NOW = 'now'

/** `unfinished` exists while files are restored: whoever finds it knows that the last restore was interrupted. */
export const UNFINISHED = 'unfinished'

/** The commit of the last state; undefined before the first one. */
export async function lastKept(repo: Repository, loop: string): Promise<string | undefined> {
  const noted = notedCommits(repo).get(refOf(loop, NOW))
  if (noted !== undefined) return noted
  const answer = await repo.ask(['rev-parse', '--verify', '--quiet', refOf(loop, NOW)])
  return answer.ok ? answer.out : undefined
}

/** All of them or none. `gone` are removed, and must exist. */
export async function setRefs(
  repo: Repository,
  refs: readonly string[],
  commit: string,
  gone: readonly string[] = [],
): Promise<Answer> {
  noteCommits(repo, { refs, commit, gone })
  const updates = [...refs.map((ref) => `update ${ref}\0${commit}\0\0`), ...gone.map((ref) => `delete ${ref}\0\0`)]
  return repo.ask(['update-ref', '--stdin', '-z'], { stdin: updates.join('') })
}

export const WRITER: Record<string, string> = {
  GIT_AUTHOR_NAME: 'ralph',
  GIT_AUTHOR_EMAIL: 'ralph@localhost',
  GIT_COMMITTER_NAME: 'ralph',
  GIT_COMMITTER_EMAIL: 'ralph@localhost',
}

/** Undefined if there is no such checkpoint. */
export async function readCheckpoint(repo: Repository, ref: string): Promise<Kept | undefined> {
  const answer = await repo.ask(['show', '--no-patch', '--format=%H%n%T%n%B', ref, '--'])
  if (!answer.ok) return undefined
  const [commit = '', tree = '', ...lines] = answer.out.split('\n')
  const value = (key: string) => {
    const found = lines.find((line) => line.startsWith(`${key}: `))?.slice(key.length + 2)
    return found === 'none' || found === 'detached' ? undefined : found
  }
  const refs = lines.flatMap((line) => {
    const [, name, commit] = /^ref: (\S+) (\S+)$/.exec(line) ?? []
    return name ? [[name, commit === 'none' ? undefined : commit] as const] : []
  })
  return {
    commit,
    tree,
    head: value('head'),
    branch: value('branch'),
    index: value('index'),
    since: value('since'),
    underWay: value('under-way'),
    to: value('to'),
    refs: new Map(refs),
  }
}

/** The operation that git has started here and not finished. */
export function underWay({ gitDir }: Repository): string | undefined {
  return Object.entries(UNDER_WAY).find(([file]) => existsSync(join(gitDir, file)))?.[1]
}

const UNDER_WAY = {
  'rebase-merge': 'rebase',
  'rebase-apply': 'rebase',
  MERGE_HEAD: 'merge',
  CHERRY_PICK_HEAD: 'cherry-pick',
  REVERT_HEAD: 'revert',
}

/** The names of a loop's checkpoints below `refs/ralph/<loop>/`; refs that somebody moved or removed are restored. */
export async function listCheckpoints(repo: Repository, loop: string): Promise<string[]> {
  const prefix = refOf(loop, '')
  const answer = await repo.ask(['for-each-ref', '--format=%(refname) %(objectname)', prefix])
  const lines = answer.ok ? answer.out.split('\n').map((line) => line.split(' ')) : []
  const found = new Map(lines.flatMap(([ref, commit]) => (ref && commit ? [[ref, commit]] : [])))
  return [...(await repairRefs(repo, found)).keys()].map((ref) => ref.slice(prefix.length))
}

/** The size of the difference between two trees or commits; undefined if git does not know them. */
export async function readDiff(repo: Repository, from: string, to: string): Promise<Diff | undefined> {
  const answer = await repo.ask(['diff-tree', '-r', '--no-renames', '--shortstat', from, to, '--'])
  if (!answer.ok) return undefined
  const number = (what: RegExp) => Number(what.exec(answer.out)?.[1] ?? 0)
  return { files: number(/(\d+) files? changed/), added: number(/(\d+) insertion/), removed: number(/(\d+) deletion/) }
}

/** The commits of these checkpoints of a loop, by number, as far as they exist. */
export async function listCommits(
  repo: Repository,
  loop: string,
  numbers: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  if (numbers.length === 0) return new Map()
  const refs = numbers.map((n) => refOf(loop, n))
  const answer = await repo.ask(['for-each-ref', '--format=%(refname) %(objectname)', ...refs])
  const lines = answer.ok ? answer.out.split('\n').filter(Boolean) : []
  return new Map(
    lines.map((line) => {
      const [ref = '', commit = ''] = line.split(' ')
      return [Number(ref.slice(refOf(loop, '').length)), commit]
    }),
  )
}

/** `path`: only this file. */
export type Between = { from: string; to: string; path?: string | undefined }

/** What changed between two states, for a person to read; undefined if git does not know them. */
export async function printDiff(repo: Repository, { from, to, path }: Between): Promise<string | undefined> {
  const how = [
    '--no-ext-diff',
    '--no-textconv',
    '--no-color',
    '--submodule=short',
    '--src-prefix=a/',
    '--dst-prefix=b/',
  ]
  const paths = path === undefined ? [] : [`:(top,literal)${path}`]
  const answer = await repo.ask(['diff', ...how, from, to, '--', ...paths])
  return answer.ok ? answer.out : undefined
}

/** Removes all checkpoints of these loops whose last one is that old; git prunes what only they held. */
export async function dropCheckpoints(repo: Repository, loops: ReadonlySet<string>, before: number): Promise<number> {
  const answer = await repo.ask(['for-each-ref', '--format=%(refname) %(committerdate:unix)', 'refs/ralph/'])
  const found = (answer.ok ? answer.out.split('\n') : []).flatMap((line) => {
    const [ref = '', seconds] = line.split(' ')
    const loop = ref.split('/')[2] ?? ''
    return loops.has(loop) ? [{ ref, loop, at: Number(seconds) * 1_000 }] : []
  })
  const young = new Set(found.filter(({ at }) => at >= before).map(({ loop }) => loop))
  const refs = found.filter(({ loop }) => !young.has(loop)).map(({ ref }) => ref)
  if (refs.length === 0) return 0
  const dropped = await repo.ask(['update-ref', '--stdin', '-z'], {
    stdin: refs.map((ref) => `delete ${ref}\0\0`).join(''),
  })
  return dropped.ok ? refs.filter((ref) => !ref.endsWith(`/${NOW}`)).length : 0
}

/** What happened to the means of proof, as findings: what git shows, and what it may have been kept from showing. */
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Finding, Loop } from '../engine/loop.ts'
import { allChecks } from '../engine/stages.ts'
import { EXCUSED } from '../formats/findings.ts'
import { isExcused, type Proving } from '../formats/means.ts'
import { meansByName } from '../formats/means-names.ts'
import { makePrivateFolder, pathBelow, writeWhole } from '../host/files.ts'
import { findFindings } from '../host/findings.ts'
import { compareFingerprints, type Fingerprint, marksFile, takeFingerprint } from '../host/fingerprint.ts'
import { listPaths, type Repository, readable } from '../host/git.ts'
import { listDifferences } from '../host/means.ts'
import { INSTALLED } from '../host/proof-links.ts'
import { takesPlace } from '../host/runner-packages.ts'
import { treeIn } from '../host/tree.ts'
import { mayBeBuilt } from './built-files.ts'
import type { Checking } from './check-hands.ts'
import { type Earlier, findEarlier } from './earlier.ts'

type Looking = Pick<Checking, 'home' | 'tree' | 'store' | 'env'>

/** Since the start. */
export async function lookAtMeans(bench: Looking, loop: Loop, tree: string | undefined): Promise<Finding[]> {
  const start = startOf(loop)
  // If nobody looked before the work, as with a task that somebody else works on, nothing was promised.
  const isBlind = start === undefined && loop.tally.before !== undefined && !('none' in bench.tree.checkpoints)
  const seen = isBlind ? [UNREADABLE] : await findFindings(filesOf(bench, loop), start, tree, provingOf(loop))
  return [...seen, ...(await lookAtDisk(bench, loop, tree)), ...lookAtRepository(bench)]
}

/**
 * Changes to the repository itself decide nothing, since ralph uses its recorded state; but readers of the proof should
 * know.
 */
function lookAtRepository({ tree: { checkpoints } }: Pick<Looking, 'tree'>): Finding[] {
  if ('none' in checkpoints) return []
  return [...checkpoints.noticed].map((words) => ({ kind: 'noted', path: '', words }))
}

function filesOf({ tree: { checkpoints } }: Pick<Looking, 'tree'>, { spec }: Loop): { dir: string; repo?: Repository } {
  const { dir } = spec.work
  return 'none' in checkpoints ? { dir } : { dir, repo: checkpoints.repo }
}

const UNREADABLE: Finding = { kind: 'unreadable', path: '', words: 'git could not read the files at the start' }

/** What was already wrong when the loop began: it is reported, and nobody is to blame. */
export async function lookAtStart({ store, tree }: Looking, loop: Loop): Promise<Finding[]> {
  const { spec, tally } = loop
  const files = filesOf({ tree }, loop)
  const proving = provingOf(loop)
  const earlier = forkedFrom(loop) ?? (await findEarlier(store, spec, tally.startTree))
  const left = earlier ? await findFindings(files, earlier.base, tally.startTree, proving) : []
  const head = 'none' in tree.checkpoints ? undefined : await tree.checkpoints.repo.ask(['rev-parse', 'HEAD^{tree}'])
  const own = head?.ok ? await findFindings(files, `${head.out} HEAD`, tally.startTree, proving) : []
  const inherited = new Map<string, Finding>()
  for (const { path } of own.filter(({ path }) => path))
    inherited.set(path, { kind: 'inherited', path, words: 'differs from the last commit' })
  for (const { path } of left.filter(({ path }) => path))
    inherited.set(path, {
      kind: 'inherited',
      path,
      words: earlier?.same
        ? `was changed by loop ${earlier.loop}${spec.work.parent?.loop === earlier.loop ? ', which this one continues' : ', which did not finish'}`
        : `has changed since the start of loop ${earlier?.loop}, which did not finish`,
    })
  // A command that already passes must not do so because of tests changed since the state it is measured against.
  const changed = spec.until ? await findFindings(files, spec.work.proofBase, tally.startTree, proving) : []
  return [...inherited.values(), ...changed]
}

/** A fork works in its own folder, so no earlier loop is found there. */
function forkedFrom({ spec }: Loop): Pick<Earlier, 'loop' | 'base' | 'same'> | undefined {
  const { parent, worktree, proofBase: base } = spec.work
  return parent && worktree && base !== undefined ? { loop: parent.loop, base, same: true } : undefined
}

/** The state that tests and configuration are compared with. */
export function startOf({ spec, tally }: Loop): string | undefined {
  return spec.work.proofBase ?? tally.startTree
}

export function provingOf({ spec }: Loop): Pick<Proving, 'checks' | 'protect' | 'mayChange'> {
  const { protect, mayChange } = spec
  return { checks: allChecks(spec), ...(protect ? { protect } : {}), ...(mayChange ? { mayChange } : {}) }
}

/** Records the means of proof on disk, outside the worktree, and returns a hash of the record. */
export async function keepMarks(bench: Looking, loop: Loop): Promise<string> {
  const around = { inGit: await shownNow(bench), home: bench.env.HOME }
  const text =
    (await marksOfEarlier(bench, loop)) ??
    JSON.stringify(await takeFingerprint(placeOf(bench, loop), undefined, around))
  makePrivateFolder(join(bench.home, 'proof'))
  writeWhole(marksFile(bench.home, loop.id), text)
  return hash('sha256', text)
}

/** A loop that continues unfinished work is measured from the start of that work, including what git does not see. */
async function marksOfEarlier(bench: Looking, { spec, tally }: Loop): Promise<string | undefined> {
  if (spec.work.proofBase === undefined) return undefined
  const earlier = await findEarlier(bench.store, spec, tally.startTree)
  if (earlier?.base !== spec.work.proofBase) return undefined
  return readMarks(bench, await bench.store.load(earlier.loop))
}

async function shownNow({ tree }: Pick<Looking, 'tree'>): Promise<ReadonlySet<string>> {
  if ('none' in tree.checkpoints) return new Set()
  const listed = await listPaths(tree.checkpoints.repo, ['--cached', '--others', '--exclude-standard'])
  return new Set(listed?.map(readable))
}

function placeOf({ tree }: Looking, loop: Loop): Proving {
  const { dir } = loop.spec.work
  const top = 'none' in tree.checkpoints ? dir : tree.checkpoints.repo.top
  return { ...provingOf(loop), top, dir: pathBelow(top, dir) ?? '' }
}

/** Only a loop with a baseline has something to compare with. */
async function lookAtDisk(bench: Looking, loop: Loop, tree: string | undefined): Promise<Finding[]> {
  if (loop.tally.marks === undefined) return []
  const noted = readMarks(bench, loop)
  if (noted === undefined) return [{ kind: 'unreadable', path: '', words: "ralph's record from the start is missing" }]
  const before: Fingerprint = JSON.parse(noted)
  const place = placeOf(bench, loop)
  const now = await takeFingerprint(place, before, { home: bench.env.HOME })
  const { changed, deleted, added } = compareFingerprints(before, now)
  const marked = (finding: Finding): Finding => ({ ...finding, mark: now.files[finding.path]?.hash ?? '' })
  const isFree = (path: string) => mayBeExcused(path) && isExcused(path, place)
  if ('none' in bench.tree.checkpoints) return withoutGit({ changed, deleted, added }, isFree).map(marked)
  const { repo } = bench.tree.checkpoints
  const touched = [...changed, ...deleted]
  const shown = touched.length > 0 ? await shownBy(repo, startOf(loop), tree) : new Set()
  const hidden = touched.filter((path) => !shown.has(path))
  const built = new Set(await builtAmong(repo, loop, hidden, tree))
  const known = Object.keys(before.files)
  const found = [
    ...hidden.map(
      (path): Finding => ({
        // An experiment does not need what the checks build themselves.
        kind: built.has(path) ? 'means-changed' : 'runner-changed',
        path,
        words: 'has changed since the start, and git does not show it',
      }),
    ),
    ...(await notIn(repo, tree, added)).map(
      (path): Finding =>
        takesPlace(path, known)
          ? { kind: 'runner-changed', path, words: 'is new, and replaces what the checks used at the start' }
          : { kind: 'means-added', path, words: 'was installed or created during the loop' },
    ),
  ]
  return found.map((finding) => (isFree(finding.path) ? excused(finding) : finding)).map(marked)
}

/** Globs do not cover installed programs or settings outside the repository. */
function mayBeExcused(path: string): boolean {
  return !path.endsWith('/') && !path.split('/').some((name) => ['', '..', ...INSTALLED].includes(name))
}

function excused({ path, words }: Finding): Finding {
  return { kind: 'may-change', path, words: `${words}; ${EXCUSED}` }
}

async function builtAmong(repo: Repository, { spec, tally }: Loop, paths: readonly string[], tree = '') {
  const trees = [tally.startTree ?? '', tree].map((state) => treeIn(state))
  const { proofFiles } = spec.work
  return mayBeBuilt(repo, paths, { trees, ...(proofFiles ? { copied: proofFiles } : {}) })
}

function readMarks(bench: Looking, loop: Loop): string | undefined {
  try {
    const text = readFileSync(marksFile(bench.home, loop.id), 'utf8')
    return hash('sha256', text) === loop.tally.marks ? text : undefined
  } catch {
    return undefined // reported as a finding
  }
}

/** What git shows anyway is not news. */
async function shownBy(repo: Repository, start = '', now = ''): Promise<ReadonlySet<string>> {
  const differences = await listDifferences(repo, treeIn(start), treeIn(now))
  return new Set(differences?.map(({ path }) => path))
}

/** What git ignores or is too large to keep is not in the tree of the experiments. */
async function notIn(repo: Repository, tree = '', added: readonly string[]): Promise<string[]> {
  if (added.length === 0) return []
  const listed = await repo.list(['ls-tree', '-r', '-z', '--name-only', '--full-tree', treeIn(tree)])
  const seen = new Set(listed?.map(readable))
  return added.filter((path) => !seen.has(path))
}

function withoutGit(
  { changed, deleted, added }: ReturnType<typeof compareFingerprints>,
  isFree: (path: string) => boolean,
): Finding[] {
  const what = (path: string) => (meansByName(path, new Set())?.role === 'test' ? 'tests' : 'means')
  const found = [
    ...changed.map((path): Finding => ({ kind: `${what(path)}-changed`, path, words: 'was changed' })),
    ...deleted.map((path): Finding => ({ kind: `${what(path)}-deleted`, path, words: 'was deleted' })),
    ...added.map((path): Finding => ({ kind: `${what(path)}-added`, path, words: 'is new' })),
  ]
  return found.map((finding) => (isFree(finding.path) ? excused(finding) : finding))
}

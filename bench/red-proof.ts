/**
 * `node bench/red-proof.ts [COMMITS]`: tries the reversed experiment on the history of this repository. For each of the last
 * commits with tests, it restores the sources from before and keeps the tests: they must fail.
 */
import { delimiter, dirname, resolve } from 'node:path'
import { redKind } from '../src/formats/red-kind.ts'
import { runCheck } from '../src/host/check.ts'
import { openRepository, type Repository } from '../src/host/git.ts'
import { readMeansBetween } from '../src/host/means.ts'
import { buildTree } from '../src/host/mixed-tree.ts'
import { openProofPlace, type ProofPlace } from '../src/host/proof-place.ts'
import { inTemporaryFolder } from './leftovers.ts'

const ROOT = resolve(import.meta.dirname, '..')
const MINUTES = 5
/** The programs there also run on this Node. */
const ENV = { ...process.env, CI: '1', PATH: [dirname(process.execPath), process.env.PATH].join(delimiter) }
const TEST = /^src\/.*\.test\.ts$/
const SOURCE = /^src\/.*(?<!\.test|\.test-support|\.d)\.ts$/

const OUTCOMES = ['proven by an assertion', 'proven by loading only', 'not discriminating', 'not tried'] as const

type Outcome = (typeof OUTCOMES)[number]
type Tried = { outcome: Outcome; ms: number; why?: string }
type Commit = { id: string; subject: string; tests: string[]; sources: number }

const asked = Number(process.argv[2] ?? 20)
const repo = await openRepository(ROOT)
if ('none' in repo) throw new Error(repo.none)
await inTemporaryFolder((home) => tryCommits(repo, home, asked))

async function tryCommits(repo: Repository, home: string, most: number): Promise<void> {
  const stop = new AbortController()
  process.once('SIGINT', () => stop.abort())
  const place = await openProofPlace({ repo, home, loop: 'red-proof', dir: repo.top, env: ENV, signal: stop.signal })
  if ('cannot' in place) throw new Error(place.cannot)
  const all: Tried[] = []
  try {
    for (const commit of await suitableCommits(repo, most)) {
      const tried = await tryCommit(repo, { place, home, signal: stop.signal }, commit)
      all.push(tried)
      const { outcome, ms, why } = tried
      const size = `${commit.sources} sources, ${commit.tests.length} tests`
      console.log(
        `${commit.id.slice(0, 9)} ${outcome.padEnd(23)} ${(ms / 1_000).toFixed(1).padStart(6)} s  ${size.padEnd(20)} ${commit.subject}${why ? ` (${why})` : ''}`,
      )
    }
  } finally {
    await place.remove()
  }
  for (const outcome of OUTCOMES) console.log(`${all.filter((one) => one.outcome === outcome).length} ${outcome}`)
  const ms = all.reduce((sum, one) => sum + one.ms, 0)
  console.log(`${all.length} commits, ${(ms / 1_000 / Math.max(1, all.length)).toFixed(1)} s each`)
}

/** No merges; with sources and tests, of which at least one is new or changed. */
async function suitableCommits(repo: Repository, most: number): Promise<Commit[]> {
  const listed = await repo.ask(['log', '--no-merges', '--max-count=400', '--format=%H %s', 'HEAD'])
  if (!listed.ok) throw new Error(listed.says)
  const found: Commit[] = []
  for (const line of listed.out.split('\n')) {
    if (found.length >= most) break
    const [id = '', ...words] = line.split(' ')
    const changed = (await repo.list(['diff-tree', '-r', '-z', '--name-status', '--no-renames', `${id}^`, id])) ?? []
    const paths = changed.flatMap((path, at) => (at % 2 === 1 && changed[at - 1] !== 'D' ? [path] : []))
    const tests = paths.filter((path) => TEST.test(path))
    const sources = changed.filter((path) => SOURCE.test(path)).length
    if (tests.length > 0 && sources > 0) found.push({ id, subject: words.join(' '), tests, sources })
  }
  return found
}

type Trying = { place: ProofPlace; home: string; signal: AbortSignal }

/** The same steps as for a loop: the means of proof of the commit on the files of its parent, and a control. */
async function tryCommit(repo: Repository, trying: Trying, { id, tests }: Commit): Promise<Tried> {
  const began = performance.now()
  const ended = (outcome: Outcome, why?: string): Tried => ({
    outcome,
    ms: performance.now() - began,
    ...(why === undefined ? {} : { why }),
  })
  const check = ['node_modules/.bin/vitest', 'run', '--maxWorkers=1', ...tests].join(' ')
  const [before, after] = [await treeOf(repo, `${id}^`), await treeOf(repo, id)]
  const between = await readMeansBetween(repo, before, after, { checks: [check], dir: '' })
  if (!between) return ended('not tried', 'git cannot read it')
  const index = resolve(trying.home, 'index')
  const built = await buildTree(repo, { base: before, from: after, means: between.means, index })
  if ('cannot' in built) return ended('not tried', built.cannot)
  const reversed = await runThere(trying, built.tree, check)
  if (typeof reversed === 'string') return ended('not tried', reversed)
  if (reversed.result === 'pass') return ended('not discriminating')
  const control = await runThere(trying, after, check)
  if (typeof control === 'string') return ended('not tried', control)
  if (control.result !== 'pass') return ended('not tried', 'the commit itself does not pass there')
  return ended(redKind(reversed.tail) === 'load' ? 'proven by loading only' : 'proven by an assertion')
}

async function treeOf(repo: Repository, commit: string): Promise<string> {
  const asked = await repo.ask(['rev-parse', `${commit}^{tree}`])
  if (!asked.ok) throw new Error(asked.says)
  return asked.out
}

async function runThere(
  { place, signal }: Trying,
  tree: string,
  check: string,
): Promise<{ result: string; tail: string } | string> {
  const shown = await place.show(tree)
  if ('cannot' in shown) return shown.cannot
  const env = { ...ENV, ...place.env }
  const verdict = await runCheck(check, { dir: shown.dir, env, minutes: MINUTES, signal })
  return verdict ?? 'it was interrupted'
}

/** Asks git about a folder or a repository. */
import { join, resolve } from 'node:path'
import { RalphError } from '../error.ts'
import { mayBeRepository, NO_REPOSITORY } from './folder.ts'
import { type Asking, type Bytes, callGit, type Failed } from './git-call.ts'
import { holding, type Site, siteAt } from './git-site.ts'

export type { Asking }

export type Answer = { ok: true; out: string } | Failed

/** What git prints, without the last line break. */
export async function askGit(dir: string, args: readonly string[], asking?: Asking): Promise<Answer> {
  return inText(await callGit(dir, args, { asking }))
}

function inText(answer: Bytes): Answer {
  return answer.ok ? { ok: true, out: answer.bytes.toString('utf8').replace(/\n$/, '') } : answer
}

/** What git prints; undefined if it fails or is not installed. */
export async function git(dir: string, args: readonly string[], asking?: Asking): Promise<string | undefined> {
  const answer = await askGit(dir, args, asking)
  return answer.ok ? answer.out : undefined
}

/** A worktree and its git folder. `ask` sticks to both: if `.git` disappears, no other one further up replaces it. */
export type Repository = Site & {
  /** The person's own index. */
  index: string
  ask(args: readonly string[], asking?: Asking): Promise<Answer>
  /** What it prints, split at NUL bytes, one character per byte; undefined if it fails. */
  list(args: readonly string[], asking?: Asking): Promise<string[] | undefined>
  /** The bytes of an object. */
  read(name: string): Promise<Buffer>
  /** What it prints, byte for byte; undefined if it fails. */
  bytes(args: readonly string[], asking?: Asking): Promise<Buffer | undefined>
}

/** `none` says why there is no repository here. */
export async function openRepository(dir: string): Promise<Repository | { none: string }> {
  const held = siteAt(dir)
  if (held) return openSite(held)
  if (!mayBeRepository(dir)) return { none: NO_REPOSITORY }
  const found = await findSite(dir)
  return 'none' in found ? found : openSite(found)
}

export function openSite(site: Site): Repository {
  const { top, gitDir } = site
  const call = (args: readonly string[], asking?: Asking) => callGit(top, args, { asking, known: site })
  const bytes = async (args: readonly string[], asking?: Asking) => {
    const answer = await call(args, asking)
    return answer.ok ? answer.bytes : undefined
  }
  return {
    ...site,
    index: join(gitDir, 'index'),
    ask: async (args, asking) => inText(await call(args, asking)),
    bytes,
    list: async (args, asking) => (await bytes(args, asking))?.toString('latin1').split('\0').filter(Boolean),
    async read(name) {
      const answer = await call(['cat-file', 'blob', name])
      return answer.ok ? answer.bytes : fail(answer)
    },
  }
}

const POINTS = ['--show-toplevel', '--absolute-git-dir', '--git-common-dir']

/** The repository that git finds for a folder, as it is now. */
export function findSite(dir: string): Promise<Site | { none: string }> {
  return holding([], () => find(dir))
}

async function find(dir: string): Promise<Site | { none: string }> {
  const asked = await askGit(dir, ['rev-parse', ...POINTS])
  if (!asked.ok) return { none: whyNone(asked.says, dir) }
  const lines = asked.out.split('\n')
  // A folder may have a line break in its name; then each path is asked for separately.
  const paths = lines.length === POINTS.length ? lines : await Promise.all(POINTS.map((point) => onePath(dir, point)))
  const [top = '', gitDir = '', common = ''] = paths
  return { top, gitDir, commonDir: resolve(dir, common) }
}

async function onePath(dir: string, point: string): Promise<string> {
  return must(await askGit(dir, ['rev-parse', point]))
}

function whyNone(says: string, dir: string): string {
  if (/not a git repository/.test(says)) return NO_REPOSITORY
  if (/must be run in a work tree/.test(says)) return 'this is inside a git folder, not a worktree'
  if (/dubious ownership/.test(says))
    return `git does not trust this repository, because it belongs to another user (to trust it: git config --global --add safe.directory ${dir})`
  return firstLine(says)
}

/** What `git ls-files` lists. Each character is one byte, because a file name need not be valid text. */
export async function listPaths(
  repo: Repository,
  how: readonly string[],
  env: Record<string, string> = {},
): Promise<string[] | undefined> {
  return repo.list(['ls-files', '-z', ...how], { env })
}

/** A path of such a list, readable for people. */
export function readable(path: string): string {
  return Buffer.from(path, 'latin1').toString('utf8')
}

/** A list of paths as git reads it from standard input. */
export function inBytes(paths: readonly string[]): Buffer {
  return Buffer.from(paths.join('\0'), 'latin1')
}

/** What git printed; a failure is thrown for a person to see. */
export function must(answer: Answer): string {
  return answer.ok ? answer.out : fail(answer)
}

function fail({ says }: Failed): never {
  throw new RalphError('git-failed', `git failed: ${firstLine(says)}`)
}

/** The first line of what git says, without its "fatal: ". */
function firstLine(says: string): string {
  return (says.split('\n')[0] ?? '').replace(/^(fatal|error): /, '')
}

/** All that git says, as one sentence. */
export function inOneLine(says: string): string {
  const line = says.replace(/\s+/g, ' ').trim().slice(0, 300)
  return /[.!?]$/.test(line) ? line : `${line}.`
}

/** Git, asked directly: never through a shell, and without the repository's hooks unless they are asked for. */
import type { ExecFileException } from 'node:child_process'
import { resolve } from 'node:path'
import { RalphError } from '../error.ts'
import { mayBeRepository, NO_REPOSITORY } from './folder.ts'

/** `says` is what git printed about its failure; `code` is undefined when git is not there or did not end in time. */
export type Answer = { ok: true; out: string } | { ok: false; code: number | undefined; says: string }

/** `hooks`: those of the repository run, as when the person did this. */
export type Asking = {
  env?: Record<string, string>
  stdin?: string | Buffer
  minutes?: number
  hooks?: true
  signal?: AbortSignal
}

/** What git prints, without the last line break. */
export async function askGit(dir: string, args: readonly string[], asking?: Asking): Promise<Answer> {
  const answer = await askForBytes(dir, args, asking)
  return answer.ok ? { ok: true, out: answer.bytes.toString('utf8').replace(/\n$/, '') } : answer
}

type Bytes = { ok: true; bytes: Buffer } | Extract<Answer, { ok: false }>

function askForBytes(dir: string, args: readonly string[], asking: Asking = {}): Promise<Bytes> {
  const { promise, resolve: answer } = Promise.withResolvers<Bytes>()
  // Node would start it all the same, and what it does before it is ended stays.
  if (asking.signal?.aborted) return Promise.resolve({ ok: false, code: undefined, says: INTERRUPTED })
  // Loaded when git is first asked: a hook in a folder without one never does, and its start counts.
  const { execFile } = process.getBuiltinModule('node:child_process')
  const child = execFile(
    'git',
    [...SETTINGS, ...(asking.hooks ? [] : NO_HOOKS), ...args],
    {
      cwd: dir,
      env: {
        ...withoutGit(process.env),
        GIT_NO_REPLACE_OBJECTS: '1', // an agent's `git replace` must not change what ralph sees
        GIT_OPTIONAL_LOCKS: '0',
        GIT_TERMINAL_PROMPT: '0',
        LC_ALL: 'C',
        ...asking.env,
      },
      encoding: 'buffer',
      maxBuffer: 256 * 1024 * 1024,
      timeout: (asking.minutes ?? 2) * 60_000,
      ...(asking.signal ? { signal: asking.signal } : {}),
    },
    (failure, out, err) => {
      if (!failure) return answer({ ok: true, bytes: out })
      const code = typeof failure.code === 'number' ? failure.code : undefined
      const says = `${err}`.trim() || `${out}`.trim()
      const answered = () => answer({ ok: false, code, says: whyEnded(failure) ?? says })
      // An interruption is reported before git is gone, which may still be clearing up.
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) answered()
      else child.once('exit', answered)
    },
  )
  child.stdin?.on('error', () => {}) // it may end without reading
  child.stdin?.end(asking.stdin ?? '')
  return promise
}

const INTERRUPTED = 'it was interrupted'

/** Undefined when git has ended by itself, and so has said why. */
function whyEnded({ code, killed }: ExecFileException): string | undefined {
  if (code === 'ENOENT') return 'git was not found, or the folder is gone'
  if (code === 'ABORT_ERR') return INTERRUPTED
  return killed ? 'it did not end in time' : undefined
}

// No watcher of the repository's is started, and a checkpoint is no reason to complain about line endings.
const SETTINGS = [
  'core.fsmonitor=false',
  'core.safecrlf=false',
  'core.quotePath=false',
  'maintenance.auto=false', // clearing up is for when a person works here
  'gc.auto=0',
].flatMap((set) => ['-c', set])
const NO_HOOKS = ['-c', 'core.hooksPath=/dev/null']

/** The folder tells which repository is meant, not what a hook or a script has left in the environment. */
function withoutGit(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !POINTERS.has(name)))
}

const POINTERS = new Set(
  ['DIR', 'WORK_TREE', 'INDEX_FILE', 'COMMON_DIR', 'OBJECT_DIRECTORY', 'NAMESPACE', 'PREFIX'].map(
    (name) => `GIT_${name}`,
  ),
)

/** What git prints; undefined when it fails: no git, no repository, or one that git cannot read. */
export async function git(dir: string, args: readonly string[], asking?: Asking): Promise<string | undefined> {
  const answer = await askGit(dir, args, asking)
  return answer.ok ? answer.out : undefined
}

/** A work tree and the git folder that belongs to it. `ask` holds on to both: when `.git` goes, no other one further up is taken for it. */
export type Repository = {
  top: string
  gitDir: string
  /** The person's own index. */
  index: string
  ask(args: readonly string[], asking?: Asking): Promise<Answer>
  /** What it prints between zeros, a character a byte; undefined when it fails. */
  list(args: readonly string[], asking?: Asking): Promise<string[] | undefined>
  /** The bytes of an object. */
  read(name: string): Promise<Buffer>
  /** What it prints, byte for byte; undefined when it fails. */
  bytes(args: readonly string[], asking?: Asking): Promise<Buffer | undefined>
}

/** `none` says why there is no repository here. */
export async function openRepository(dir: string): Promise<Repository | { none: string }> {
  if (!mayBeRepository(dir)) return { none: NO_REPOSITORY }
  const asked = await askGit(dir, ['rev-parse', '--show-toplevel', '--absolute-git-dir', '--git-path', 'index'])
  if (!asked.ok) return { none: whyNone(asked.says, dir) }
  const [top = '', gitDir = '', index = ''] = asked.out.split('\n')
  const env = { GIT_DIR: gitDir, GIT_WORK_TREE: top }
  const bytes = async (args: readonly string[], asking?: Asking) => {
    const answer = await askForBytes(top, args, { ...asking, env: { ...env, ...asking?.env } })
    return answer.ok ? answer.bytes : undefined
  }
  return {
    top,
    gitDir,
    index: resolve(dir, index),
    ask: (args, asking) => askGit(top, args, { ...asking, env: { ...env, ...asking?.env } }),
    bytes,
    list: async (args, asking) => (await bytes(args, asking))?.toString('latin1').split('\0').filter(Boolean),
    async read(name) {
      const answer = await askForBytes(top, ['cat-file', 'blob', name], { env })
      return answer.ok ? answer.bytes : fail(answer)
    },
  }
}

function whyNone(says: string, dir: string): string {
  if (/not a git repository/.test(says)) return NO_REPOSITORY
  if (/must be run in a work tree/.test(says)) return 'this is the inside of a git repository, without files'
  if (/dubious ownership/.test(says))
    return `git does not trust this repository, because it belongs to another user (git config --global --add safe.directory ${dir} would change that)`
  return firstLine(says)
}

/** What `git ls-files` lists. Every character is one byte, because a file may have a name that is no text. */
export async function listPaths(
  repo: Repository,
  how: readonly string[],
  env: Record<string, string> = {},
): Promise<string[] | undefined> {
  return repo.list(['ls-files', '-z', ...how], { env })
}

/** A path of such a list as people read it. */
export function readable(path: string): string {
  return Buffer.from(path, 'latin1').toString('utf8')
}

/** A list of paths as git reads it from its standard input. */
export function inBytes(paths: readonly string[]): Buffer {
  return Buffer.from(paths.join('\0'), 'latin1')
}

/** What git printed, where a failure is one that a person must hear of. */
export function must(answer: Answer): string {
  return answer.ok ? answer.out : fail(answer)
}

function fail({ says }: Extract<Answer, { ok: false }>): never {
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

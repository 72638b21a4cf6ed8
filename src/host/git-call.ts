/** One call of git: never through a shell, and without the repository's hooks unless requested. */
import type { ExecFileException } from 'node:child_process'
import { delimiter } from 'node:path'
import { RalphError } from '../error.ts'
import { workTreeOf } from './folder.ts'
import { environmentOf, type Site, siteAt } from './git-site.ts'
import { findOwnProgram, ownFolders } from './own-program.ts'
import { isShortage } from './plain-words.ts'
import { startWhenRoom } from './shortage.ts'

/** `hooks`: those of the repository run, as if the person did this. */
export type Asking = {
  env?: Record<string, string>
  stdin?: string | Buffer
  minutes?: number
  hooks?: true
  signal?: AbortSignal
}

/** `says` is what git printed about its failure; `code` is undefined if git is not installed or was interrupted. */
export type Failed = { ok: false; code: number | undefined; says: string }
export type Bytes = { ok: true; bytes: Buffer } | Failed

/** `known`: where git works, whatever it would find in the folder itself. */
export function callGit(
  dir: string,
  args: readonly string[],
  { asking = {}, known }: { asking?: Asking | undefined; known?: Site } = {},
): Promise<Bytes> {
  // Node would start it anyway, and what it does before it is killed stays.
  if (asking.signal?.aborted) return Promise.resolve({ ok: false, code: undefined, says: INTERRUPTED })
  const site = known ?? siteAt(dir)
  const hooks = asking.hooks === true && site?.pinned === undefined
  const path = asking.env?.PATH ?? process.env.PATH ?? ''
  const tree = site?.top ?? workTreeOf(dir)
  const program = findOwnProgram('git', tree, path)
  if (program === undefined) return Promise.resolve({ ok: false, code: undefined, says: MISSING })
  const env = {
    ...withoutGit(process.env),
    ...OWN,
    // A hook is the person's own, and gets their environment.
    ...(hooks ? {} : { PATH: ownFolders(tree, path).join(delimiter) }),
    ...whereabouts(args, { known, site, hooks }),
    ...asking.env,
  }
  const words = [...SETTINGS, ...(hooks ? [] : ALONE), ...inHere(args)]
  // Only an exit code is an answer of git. A git that could not start is started again; a killed one has not answered.
  return startWhenRoom(() => start(program, words, { dir, env, asking, command: commandIn(args) }), {
    signal: asking.signal,
  })
}

/** Hooks find the repository as they do when a person commits. */
function whereabouts(
  args: readonly string[],
  { known, site, hooks }: { known: Site | undefined; site: Site | undefined; hooks: boolean },
): Record<string, string> {
  if (hooks) return known ? { GIT_DIR: known.gitDir, GIT_WORK_TREE: known.top } : {}
  return site ? environmentOf(site, commandIn(args)) : {}
}

/** A nested repository is only looked at from outside: its own configuration names programs too. */
function inHere(args: readonly string[]): readonly string[] {
  const at = args.indexOf(commandIn(args))
  return ['diff', 'status'].includes(args[at] ?? '') ? args.toSpliced(at + 1, 0, '--ignore-submodules=dirty') : args
}

function commandIn(args: readonly string[]): string {
  return args.find((arg, at) => !arg.startsWith('-') && args[at - 1] !== '-c') ?? ''
}

type Starting = { dir: string; env: NodeJS.ProcessEnv; asking: Asking; command: string }

async function start(
  program: string,
  args: readonly string[],
  { dir, env, asking, command }: Starting,
): Promise<Bytes> {
  const { promise, resolve: answer, reject } = Promise.withResolvers<Bytes>()
  // Loaded when git is first called: a hook in a folder without a repository never needs it, and its startup time
  // counts.
  const { execFile } = process.getBuiltinModule('node:child_process')
  const child = execFile(
    program,
    args,
    {
      cwd: dir,
      env,
      encoding: 'buffer',
      maxBuffer: 256 * 1024 * 1024,
      timeout: (asking.minutes ?? 2) * 60_000,
      ...(asking.signal ? { signal: asking.signal } : {}),
    },
    (failure, out, err) => {
      if (!failure) return answer({ ok: true, bytes: out })
      const code = typeof failure.code === 'number' ? failure.code : undefined
      const says = `${err}`.trim() || `${out}`.trim()
      const answered = () => {
        const none = noAnswer(failure, { dir, command, says, mayRepeat: !asking.hooks })
        if (none) reject(none)
        else answer({ ok: false, code, says: whyNotAsked(failure) ?? says })
      }
      // An interruption is reported before git has exited, which may still be cleaning up.
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) answered()
      else child.once('exit', answered)
    },
  )
  child.stdin?.on('error', () => {}) // it may exit without reading
  child.stdin?.end(asking.stdin ?? '')
  return promise
}

const INTERRUPTED = 'it was interrupted'
const MISSING = 'git or the folder was not found'

/** Undefined if git exited by itself and so has said why. */
function whyNotAsked({ code }: ExecFileException): string | undefined {
  if (code === 'ENOENT') return MISSING
  return code === 'ABORT_ERR' ? INTERRUPTED : undefined
}

type Asked = { dir: string; command: string; says: string; mayRepeat: boolean }

/** Why a failed git is not an answer; a shortage of the machine is waited for. */
function noAnswer(failure: ExecFileException, { dir, command, says, mayRepeat }: Asked): Error | undefined {
  const { code, killed, signal } = failure
  if (typeof code === 'number') {
    const short = code === 128 && mayRepeat ? SHORT.exec(says)?.[1] : undefined
    return short ? Object.assign(new Error(says), { code: SHORTAGES[short] }) : undefined
  }
  if (isShortage(failure)) return failure
  if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ABORT_ERR') return undefined
  // This is how git dies on a machine that is out of memory. If a person killed it, it is called again as well.
  if (signal === 'SIGKILL' && !killed && mayRepeat) return Object.assign(new Error(says), { code: 'ENOMEM' })
  const why = code ?? (killed ? 'it timed out' : `it was killed by ${signal}`)
  return new RalphError('git-failed', `git ${command} in ${dir} did not finish: ${why}.`, { cause: failure })
}

// What git prints if it cannot open a file or start a process. Its language is fixed.
const SHORTAGES: Readonly<Record<string, string>> = {
  'Too many open files': 'EMFILE',
  'Too many open files in system': 'ENFILE',
  'Resource temporarily unavailable': 'EAGAIN',
}
const SHORT = new RegExp(`: (${Object.keys(SHORTAGES).join('|')})$`, 'm')

/** Ignores what an agent wrote next to the objects to make git see others in their place. */
const OWN = {
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_GRAFT_FILE: '/dev/null/none',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_TERMINAL_PROMPT: '0',
  LC_ALL: 'C',
}

// Starts no file system monitor of the repository, and a checkpoint is no reason to complain about line endings.
const SETTINGS = [
  'core.fsmonitor=false',
  'core.safecrlf=false',
  'core.quotePath=false',
  'core.useReplaceRefs=false', // a configuration that says otherwise would override the environment
  'core.commitGraph=false', // it says which files a commit has, and nothing verifies that
  'maintenance.auto=false', // housekeeping is for when a person works here
  'gc.auto=0',
].flatMap((set) => ['-c', set])

/** For ralph's own calls. */
const ALONE = ['core.hooksPath=/dev/null', 'log.showSignature=false', 'submodule.recurse=false'].flatMap((set) => [
  '-c',
  set,
])

/** The folder decides which repository is meant, not what a hook or a script left in the environment. */
function withoutGit(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !POINTERS.has(name)))
}

const POINTERS = new Set(
  [
    ...['DIR', 'WORK_TREE', 'INDEX_FILE', 'COMMON_DIR', 'OBJECT_DIRECTORY', 'NAMESPACE', 'PREFIX'],
    ...['ALTERNATE_OBJECT_DIRECTORIES', 'REPLACE_REF_BASE', 'SHALLOW_FILE', 'ATTR_SOURCE', 'EXTERNAL_DIFF'],
  ].map((name) => `GIT_${name}`),
)

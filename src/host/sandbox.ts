/**
 * A sandbox of bubblewrap for agents: the whole machine can be read, only the work tree, the agent's own settings and a
 * temporary folder that goes afterwards can be written. The network stays, since agents need their model.
 */
import { existsSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter } from 'node:path'
import { RalphError } from '../error.ts'
import { findOwnProgram } from './own-program.ts'
import { findProgram, runProgram } from './process.ts'
import type { GitPlaces } from './sandbox-git.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** What an agent keeps about itself: paths (`~` is the home folder), and variables that name others. */
export type OwnPlaces = { paths: readonly string[]; variables: readonly string[] }

/** `program` is what will be run; `git` what of the repository can be written; `folder` the one lent for this turn. */
export type Sandboxed = {
  program: string
  dir: string
  git: GitPlaces
  env: Environment
  own: OwnPlaces
  folder: string | undefined
}

/** The command line that runs another one inside. */
export function sandboxFor({ program, dir, git, env, own, folder }: Sandboxed): string[] {
  const home = env.HOME ?? homedir()
  const settings = [
    ...own.paths.map((path) => path.replace(/^~/, home)),
    ...own.variables.flatMap((name) => env[name] ?? []),
  ]
  const writable = [...git.writable, ...settings, ...(folder === undefined ? [] : [folder])]
  return [
    ...bwrap(dir, env),
    ...programPlaces(program, dir, env).flatMap((path) => ['--ro-bind', path, path]),
    ...realPaths(git.visible).flatMap((path) => ['--ro-bind', path, path]),
    ...realPaths(writable).flatMap((path) => ['--bind', path, path]),
    ...realPaths(git.readOnly).flatMap((path) => ['--ro-bind', path, path]),
    '--setenv',
    'TMPDIR',
    '/tmp',
    '--setenv',
    'XDG_CACHE_HOME',
    '/tmp/.cache',
    '--setenv',
    'npm_config_cache',
    '/tmp/.npm',
    '--chdir',
    dir,
    '--',
  ]
}

// Its processes are in a namespace of their own, so none of them outlives it.
// Without capabilities root is as fenced in as anybody.
function bwrap(dir: string, env: Environment): string[] {
  // Looked up before the agent can write one of that name; what lies in the work tree is none.
  const program = findOwnProgram('bwrap', dir, SYSTEM_PATH) ?? findOwnProgram('bwrap', dir, env.PATH) ?? 'bwrap'
  const alone = ['--die-with-parent', '--unshare-pid', '--cap-drop', 'ALL']
  return [program, ...alone, '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp']
}

const SYSTEM_PATH = ['/usr/bin', '/bin', '/usr/local/bin'].join(delimiter)

/** Programs may lie in the temporary folder, which is another one inside. */
function programPlaces(program: string, dir: string, env: Environment): string[] {
  const found = findProgram(program, dir, env.PATH)
  const paths = [...(env.PATH ?? '').split(delimiter), ...(found ? [found, realpathSync(found)] : [])]
  const folders = paths.flatMap((path) => /^\/tmp\/[^/]+/.exec(path) ?? [])
  return [...new Set(folders)].filter((folder) => existsSync(folder))
}

/** A link is seen through the machine's own files; what it leads to is what must be bound. */
function realPaths(paths: readonly string[]): string[] {
  return [...new Set(paths.filter((path) => existsSync(path)).map((path) => realpathSync(path)))]
}

/** Refuses, with what to do, where there can be no sandbox. */
export async function mustHaveSandbox(dir: string, env: Environment): Promise<void> {
  if (process.platform !== 'linux') throw missing('it works on Linux only')
  if (!findOwnProgram('bwrap', dir, env.PATH))
    throw missing('bubblewrap (bwrap) was not found on PATH; install it, for instance with `apt install bubblewrap`')
  let says = ''
  const onPiece = (text: string) => {
    says = `${says}${text}`.slice(0, 300)
  }
  const { code } = await runProgram({
    argv: [...bwrap(dir, env), '--', 'true'],
    dir,
    env,
    stdin: '',
    graceMs: 500,
    deadlineMs: 10_000,
    onPiece,
  })
  if (code !== 0) throw missing(`bubblewrap does not run here: ${says.trim() || `exit code ${code}`}`)
}

function missing(why: string): RalphError {
  return new RalphError(
    'sandbox-missing',
    `--sandbox is not available: ${why}. Without --sandbox the agent could write everywhere you can.`,
  )
}

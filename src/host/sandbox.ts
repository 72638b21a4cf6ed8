/**
 * A sandbox of bubblewrap for agents: the whole machine can be read, only the work tree, the agent's own settings and a
 * temporary folder that goes afterwards can be written. The network stays, since agents need their model.
 */
import { existsSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, resolve } from 'node:path'
import { RalphError } from '../error.ts'
import { openRepository } from './git.ts'
import { findProgram, runProgram } from './process.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** What an agent keeps about itself: paths (`~` is the home folder), and variables that name others. */
export type OwnPlaces = { paths: readonly string[]; variables: readonly string[] }

/** `program` is what will be run; `folder` the one lent for this turn. */
export type Sandboxed = { program: string; dir: string; env: Environment; own: OwnPlaces; folder: string | undefined }

/** The command line that runs another one inside. */
export async function sandboxFor({ program, dir, env, own, folder }: Sandboxed): Promise<string[]> {
  const home = env.HOME ?? homedir()
  const settings = [
    ...own.paths.map((path) => path.replace(/^~/, home)),
    ...own.variables.flatMap((name) => env[name] ?? []),
  ]
  const writable = [...(await workPlaces(dir)), ...settings, ...(folder === undefined ? [] : [folder])]
  return [
    ...BWRAP,
    ...programPlaces(program, dir, env).flatMap((path) => ['--ro-bind', path, path]),
    ...[...new Set(writable)].filter((path) => existsSync(path)).flatMap((path) => ['--bind', path, path]),
    ...['--setenv', 'TMPDIR', '/tmp', '--setenv', 'XDG_CACHE_HOME', '/tmp/.cache'],
    ...['--setenv', 'npm_config_cache', '/tmp/.npm', '--chdir', dir, '--'],
  ]
}

// Its processes are in a namespace of their own, so none of them outlives it.
const BWRAP = [
  'bwrap',
  '--die-with-parent',
  '--unshare-pid',
  '--ro-bind',
  '/',
  '/',
  '--dev',
  '/dev',
  '--proc',
  '/proc',
  '--tmpfs',
  '/tmp',
]

/** Programs may lie in the temporary folder, which is another one inside. */
function programPlaces(program: string, dir: string, env: Environment): string[] {
  const found = findProgram(program, dir, env.PATH)
  const paths = [...(env.PATH ?? '').split(delimiter), ...(found ? [found, realpathSync(found)] : [])]
  const folders = paths.flatMap((path) => /^\/tmp\/[^/]+/.exec(path) ?? [])
  return [...new Set(folders)].filter((folder) => existsSync(folder))
}

/** The files of the repository, and its git folder where that lies elsewhere, as it does for a linked work tree. */
async function workPlaces(dir: string): Promise<string[]> {
  const repo = await openRepository(dir)
  if ('none' in repo) return [dir]
  const common = await repo.ask(['rev-parse', '--git-common-dir'])
  return [repo.top, ...(common.ok ? [resolve(repo.top, common.out)] : [])]
}

/** Refuses, with what to do, where there can be no sandbox. */
export async function mustHaveSandbox(dir: string, env: Environment): Promise<void> {
  if (process.platform !== 'linux') throw missing('it works on Linux only')
  if (!findProgram('bwrap', dir, env.PATH))
    throw missing('bubblewrap (bwrap) was not found on PATH; install it, for instance with `apt install bubblewrap`')
  let says = ''
  const onPiece = (text: string) => {
    says = `${says}${text}`.slice(0, 300)
  }
  const { code } = await runProgram({
    argv: [...BWRAP, '--', 'true'],
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
    `--sandbox cannot be had: ${why}. Without --sandbox the agent could write everywhere you can.`,
  )
}

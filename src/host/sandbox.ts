/**
 * A bubblewrap sandbox for agents and, on request, for checks: the machine is readable except ralph's own files and the
 * sockets of services; only the worktree, the agent's own settings and a temporary folder are writable.
 */
import { existsSync, lstatSync, realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { Work } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { findSite } from './git.ts'
import { type Environment, hideServices, isBelow } from './hidden-services.ts'
import { findOwnProgram } from './own-program.ts'
import { findProgram, runProgram } from './process.ts'
import { type GitPlaces, gitPlaces } from './sandbox-git.ts'

/**
 * What an agent keeps about itself: paths (`~` is the home folder), and variables that name others, or folders in
 * those.
 */
export type OwnPlaces = { paths: readonly string[]; variables: readonly string[] }

/** `program` is what will be run. `home`: ralph's own folder. `allowed`: services that stay reachable. */
export type Sandboxed = {
  program: string
  dir: string
  /** What is writable in the repository. */
  git: GitPlaces
  env: Environment
  home: string
  allowed: readonly string[]
  own?: OwnPlaces | undefined
  /** A temporary folder for this turn. */
  folder?: string | undefined
  /** Without a network. */
  offline?: boolean
}

/** The command line that runs another one inside, and the variables that must be removed from its environment. */
export type Fenced = { argv: string[]; env: Record<string, undefined> }

export function sandboxFor({ program, dir, git, env, home, allowed, own, folder, offline }: Sandboxed): Fenced {
  const person = env.HOME ?? homedir()
  const settings = [
    ...(own?.paths ?? []).map((path) => path.replace(/^~/, person)),
    ...(own?.variables ?? []).flatMap((name) => namedBy(name, env)),
  ]
  const writable = realPaths([...git.writable, ...settings, ...(folder === undefined ? [] : [folder])])
  const secret = realPaths([home])
  const isSecret = (path: string) => secret.some((one) => isBelow(path, one))
  const services = hideServices({ env, home: person, allowed, own: writable })
  const back = [...KEPT, ...programPlaces(program, dir, env), ...nameServers(), ...services.shown]
  const isSeen = (path: string) => [...back, ...writable].some((one) => isBelow(path, one)) || !isCovered(path)
  const argv = [
    ...bwrap(dir, env, offline),
    ...back.filter(isCovered).flatMap((path) => ['--ro-bind-try', path, path]),
    ...realPaths(git.visible).flatMap((path) => ['--ro-bind', path, path]),
    ...writable.filter((path) => !isSecret(path)).flatMap((path) => ['--bind', path, path]),
    ...secret.flatMap((path) => ['--tmpfs', path]),
    ...writable.filter(isSecret).flatMap((path) => ['--bind', path, path]),
    ...secret.flatMap((path) => ['--remount-ro', path]),
    ...realPaths(git.readOnly).flatMap((path) => ['--ro-bind', path, path]),
    ...services.hidden.filter((path) => isSeen(path) && !isSecret(path)).flatMap(coverUp),
    ...['--setenv', 'TMPDIR', '/tmp', '--setenv', 'XDG_CACHE_HOME', '/tmp/.cache'],
    ...['--setenv', 'npm_config_cache', '/tmp/.npm', '--chdir', dir, '--'],
  ]
  return { argv, env: Object.fromEntries(services.variables.map((name) => [name, undefined])) }
}

/**
 * Runs a program of the worktree inside, if the loop asks for that. `online`: with the network, as an installation
 * needs it.
 */
export type Fence = (what: { program: string; dir: string; env: Environment; online?: boolean }) => Promise<Fenced>

/** For whatever ralph itself runs on the work of an agent. Undefined: it runs outside. */
export function fenceOf(home: string, { sandbox, sandboxAllow: allowed = [], worktree }: Work): Fence | undefined {
  if (sandbox !== 'strict') return undefined
  return async ({ online = false, ...what }) => {
    const site = await findSite(what.dir)
    const git = gitPlaces(what.dir, 'none' in site ? undefined : site, worktree)
    return sandboxFor({ ...what, git, home, allowed, offline: !online })
  }
}

/** `NAME`, or `NAME/folder` if the variable names a folder that others use as well. */
function namedBy(name: string, env: Environment): string[] {
  const [variable = '', ...folders] = name.split('/')
  const value = env[variable]
  return value ? [join(value, ...folders)] : []
}

// Its processes are in their own namespace, so none of them outlives it. Without capabilities root is as restricted as
// any user, except for kernel files that only check the user id.
function bwrap(dir: string, env: Environment, offline = false): string[] {
  // Looked up before the agent can write one of that name; a file in the worktree does not count.
  const program = findOwnProgram('bwrap', dir, SYSTEM_PATH) ?? findOwnProgram('bwrap', dir, env.PATH) ?? 'bwrap'
  // In a user namespace root is an ordinary user to the kernel outside, with other keys.
  const alone = ['--die-with-parent', '--unshare-user-try', '--unshare-pid', '--unshare-ipc', '--cap-drop', 'ALL']
  const kernel = KERNEL.flatMap((path) => ['--ro-bind-try', path, path])
  const empty = COVERED.filter(isRealFolder).flatMap((path) => ['--tmpfs', path])
  const machine = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', ...kernel, ...empty]
  return [program, ...alone, ...(offline ? ['--unshare-net'] : []), ...machine]
}

const SYSTEM_PATH = ['/usr/bin', '/bin', '/usr/local/bin'].join(delimiter)

/** What root may write there would apply to the whole machine. */
const KERNEL = ['sys', 'sysrq-trigger', 'acpi', 'asound', 'fs', 'mtrr', 'scsi'].map((name) => `/proc/${name}`)

/** Folders that are replaced inside: programs put their sockets here. */
const COVERED = ['/tmp', '/run', '/var/run']

/** What is below them without being a service: programs of NixOS, disks, and name resolution. */
const KEPT = [
  ...['/run/current-system', '/run/booted-system', '/run/wrappers', '/run/opengl-driver', '/run/opengl-driver-32'],
  ...['/run/media', '/run/nscd'],
]

function isCovered(path: string): boolean {
  return COVERED.some((folder) => isBelow(path, folder))
}

function isRealFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

/** Programs may be in folders that are replaced inside. */
function programPlaces(program: string, dir: string, env: Environment): string[] {
  const found = findProgram(program, dir, env.PATH)
  const paths = [...(env.PATH ?? '').split(delimiter), ...(found ? [found, realpathSync(found)] : [])]
  const folders = paths.flatMap((path) => /^\/tmp\/[^/]+/.exec(path) ?? (path.startsWith('/run/') ? path : []))
  return [...new Set(folders)].filter((folder) => existsSync(folder))
}

function nameServers(): string[] {
  return realPaths(['/etc/resolv.conf']).filter(isCovered)
}

/** Replaces a service with something that cannot be connected to, opened or listed. */
function coverUp(path: string): string[] {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory()
    ? ['--tmpfs', path, '--remount-ro', path]
    : ['--ro-bind', '/dev/null', path]
}

/** A link is resolved through the machine's own files; its target is what must be bound. */
function realPaths(paths: readonly string[]): string[] {
  return [...new Set(paths.filter((path) => existsSync(path)).map((path) => realpathSync(path)))]
}

/** Refuses, with what to do, if a sandbox is not possible. */
export async function mustHaveSandbox(dir: string, env: Environment, kind: Work['sandbox']): Promise<void> {
  if (process.platform !== 'linux') throw missing('it works on Linux only')
  if (!findOwnProgram('bwrap', dir, env.PATH))
    throw missing('bubblewrap (bwrap) was not found on PATH; install it, for instance with `apt install bubblewrap`')
  let says = ''
  const onPiece = (text: string) => {
    says = `${says}${text}`.slice(0, 300)
  }
  const { code } = await runProgram({
    argv: [...bwrap(dir, env, kind === 'strict'), '--', 'true'],
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

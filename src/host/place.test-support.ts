/**
 * What the tests of the doors build on: temporary folders, small disks, real child processes, and a look at what still
 * runs.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll } from 'vitest'

const folders: string[] = []
const disks: string[] = []
const children = new Set<ChildProcess>()

afterAll(clearAway)

/**
 * If test files share a process, only the first one loads this module: `test/clear-away.ts` calls this after each of
 * them.
 */
export function clearAway(): void {
  for (const child of children) child.kill('SIGKILL')
  // A program that is scanning all disks must not keep the folder.
  for (const disk of disks.splice(0)) succeeds('umount', '--lazy', disk)
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}

/** A new folder that is removed after the tests of the file. */
export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-test-')))
  folders.push(folder)
  return folder
}

/** Asks again until the answer is defined; one that never comes fails the waiting test. */
export async function eventually<Answer>(
  ask: () => Answer | Promise<Answer>,
  ms = 50_000,
): Promise<NonNullable<Answer>> {
  for (const end = performance.now() + ms; performance.now() < end; await sleep(10)) {
    const answer = await ask()
    if (answer) return answer
  }
  throw new Error(`No answer in ${ms} ms: ${ask}`)
}

/** Whether this machine lets the tests mount file systems: only root may, and not in every container. */
export const canMount: boolean = looksMountable(temporaryMountPoint())

/** A file system in memory. It is soon full, or read-only on request. */
export function smallDisk(options: string): { path: string; remount(options: string): void } {
  const path = temporaryMountPoint()
  if (!tryMount(path, options)) throw new Error(`A disk with ${options} cannot be mounted.`)
  return {
    path,
    remount: (changed) => {
      if (!succeeds('mount', '-o', `remount,${changed}`, path)) throw new Error(`${path} cannot be made ${changed}.`)
    },
  }
}

function temporaryMountPoint(): string {
  const path = join(temporaryFolder(), 'disk')
  mkdirSync(path)
  return path
}

function tryMount(path: string, options: string): boolean {
  const mounted = succeeds('mount', '-t', 'tmpfs', '-o', options, 'tmpfs', path)
  if (mounted) disks.push(path)
  return mounted
}

function looksMountable(path: string): boolean {
  return succeeds('mount', '-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', path) && succeeds('umount', path)
}

function succeeds(program: string, ...args: string[]): boolean {
  return spawnSync(program, args).status === 0
}

/** The processes whose environment contains this text, except zombies. */
export function running(marker: string): number[] {
  return readdirSync('/proc').flatMap((name) =>
    /^\d+$/.test(name) && carries(Number(name), marker) ? [Number(name)] : [],
  )
}

export function isAlive(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false // no process with that id
  }
}

/** A process has no environment for a moment while it execs, so an empty one is looked at again. */
function carries(pid: number, marker: string): boolean {
  try {
    for (let look = 0; look < 50; look++) {
      const environment = readFileSync(`/proc/${pid}/environ`, 'latin1')
      if (environment) return environment.includes(marker) && isAlive(pid)
      if (!isAlive(pid) || isOfTheKernel(pid)) return false
    }
  } catch {
    // it has ended meanwhile, or belongs to another user
  }
  return false
}

function isOfTheKernel(pid: number): boolean {
  return /\) \S 2 /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
}

/** A file of ours, as a program in another process imports it. */
export function source(name: string): string {
  return JSON.stringify(new URL(`../${name}`, import.meta.url).href)
}

export type Child = { pid: number; lines(): string[]; ended: Promise<Result>; write(text: string): void }
export type Result = { code: number | null; signal: string | null; out: string; err: string }

/** Runs lines of TypeScript in a separate Node. `through`: a program that execs that Node. */
export function startScript(code: string, env: Record<string, string> = {}, through: readonly string[] = []): Child {
  const node = [process.execPath, '--disable-warning=ExperimentalWarning', '--input-type=module-typescript']
  const [program = '', ...words] = [...through, ...node, '--eval', code]
  const child = spawn(program, words, { env: { ...process.env, ...env }, stdio: 'pipe' })
  children.add(child)
  let out = ''
  let err = ''
  child.stdout.setEncoding('utf8').on('data', (text) => (out += text))
  child.stderr.setEncoding('utf8').on('data', (text) => (err += text))
  child.stdin.on('error', () => {}) // it may be killed before it has read everything
  const ended = once(child, 'close').then(([exit, signal]): Result => {
    children.delete(child)
    return { code: exit, signal, out, err }
  })
  return {
    pid: child.pid ?? 0,
    lines: () => out.split('\n').filter(Boolean),
    ended,
    write: (text) => child.stdin.write(text),
  }
}

/** What every command works with: the machine's clock, environment and streams, and the store behind them. */
import { existsSync, realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { ended } from '../../engine/loop.ts'
import { RalphError } from '../../error.ts'
import { type LocalStore, openStore } from '../../host/sqlite.ts'
import { listProjects, openProject, type Project } from '../../project/folder.ts'
import { loopsOf } from '../../project/record.ts'
import type { CommandSpec } from './args.ts'
import { type Output, openOutput } from './text.ts'

/** The process that a command line runs in, in Node's words. */
export type Machine = {
  env: Readonly<Record<string, string | undefined>>
  cwd(): string
  stdin: Readable & { isTTY?: boolean }
  stdout: Writable & { isTTY?: boolean; columns?: number }
  stderr: Writable
}

export type Context = {
  env: Machine['env']
  cwd: string
  home: string
  version: string
  /** Where ralph is installed. */
  root: string
  out: Output
  /** Beside what is printed for programs. */
  err: Pick<Output, 'write'>
  machine: Machine
  now: () => number
  /** Opened when first asked for; closed at the end. */
  store(): LocalStore
}

/** A command: its table for help and parsing, and what it does. The number is the exit code. */
export type Command = {
  spec: CommandSpec
  /** Where its first word says what it does: the table of each. */
  verbs?: Readonly<Record<string, CommandSpec>>
  run(argv: readonly string[], context: Context): Promise<number>
}

/** The table that these words of a command line are read by. */
export function specFor({ spec, verbs = {} }: Command, [verb = '']: readonly string[]): CommandSpec {
  return (Object.hasOwn(verbs, verb) && verbs[verb]) || spec
}

export function openContext(
  { root, version }: Pick<Context, 'root' | 'version'>,
  machine: Machine,
): Context & { close(): Promise<void> } {
  const { env } = machine
  const home = resolve(env.RALPH_HOME || join(homedir(), '.ralph'))
  const now = Date.now
  let store: LocalStore | undefined
  return {
    env,
    get cwd() {
      return whereWeStand(machine)
    },
    home,
    version,
    root,
    out: openOutput(machine),
    err: { write: (text) => void machine.stderr.write(text) },
    machine,
    now,
    store: () => (store ??= openStore(home, now)),
    close: async () => store?.close(),
  }
}

function whereWeStand({ cwd }: Machine): string {
  try {
    return cwd()
  } catch (cause) {
    throw new RalphError('home-unusable', 'The folder this was started in is gone. Go to one that exists.', { cause })
  }
}

/** The command line of one of ralph's own programs. */
export function selfIn(root: string): (program: string) => string[] {
  return (program) => [process.execPath, join(root, 'dist', `${program}.mjs`)]
}

/** The folder to work in, as it really is. */
export function workFolder(context: Context, dir: string | undefined): string {
  const path = resolve(context.cwd, dir ?? '.')
  if (!existsSync(path) || !statSync(path).isDirectory())
    throw new RalphError('usage', `${path} is not a folder. Give --dir an existing one.`)
  return realpathSync(path)
}

/** The project of that name in this folder, if there is one. */
export function findProject({ cwd }: Context, name: string): Project | undefined {
  return listProjects(cwd).includes(name) ? openProject(cwd, name) : undefined
}

async function isOpen(store: LocalStore, id: string): Promise<boolean> {
  const loop = await store.load(id).catch(() => undefined) // it was never made, or was pruned
  return loop !== undefined && !ended(loop)
}

/** The loop that an id, a beginning of one, a project or nothing at all stands for: the newest that is open of the project, or the newest of this folder. */
export async function findLoop(context: Context, name: string | undefined): Promise<string> {
  const store = context.store()
  const project = name === undefined ? undefined : findProject(context, name)
  const loops = project ? loopsOf(project, store).reverse() : []
  for (const id of loops) if (await isOpen(store, id)) return id
  if (loops[0] !== undefined) return loops[0]
  if (name !== undefined) return store.find(name)
  const [newest] = await store.list({ dir: realpathSync(context.cwd), limit: 1 })
  if (!newest)
    throw new RalphError(
      'loop-unknown',
      'No loop was ever started in this folder. Name one; `ralph status` lists them.',
    )
  return newest.id
}

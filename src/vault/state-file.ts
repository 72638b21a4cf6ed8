/** The files of a task in the vault's state folder: its state for people and programs, and a few lines for the Stop hook. */
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Loop } from '../engine/loop.ts'
import { allChecks } from '../engine/stages.ts'
import { parseTaskState, printTaskState, type TaskState } from '../formats/task-state.ts'
import { brokenName, realFolder } from '../host/files.ts'
import { isGone } from '../host/pid.ts'
import type { VaultDesk } from './desk.ts'
import { StateFileError } from './errors.ts'
import { isFinal } from './lifecycle.ts'
import { isTaskId, mustBePresent, namesIn, prepareFolders } from './place.ts'
import type { VaultTask } from './vault-task.ts'
import { vaultOf } from './vault-task.ts'

type Place = { vault: string; settings: Pick<VaultDesk['settings'], 'stateDir'> }

/** As the API shows it: relative to the vault. */
export function stateFileOf({ settings }: Pick<Place, 'settings'>, id: string): string {
  return `${settings.stateDir}/${id}.json`
}

/** The tasks with a state file, including those that the database does not know. */
export function stateFilesIn({ vault, settings }: Place): string[] {
  return namesIn(join(vault, settings.stateDir))
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.slice(0, -'.json'.length))
    .filter((id) => isTaskId(id) && isState({ vault, settings }, id))
}

/** Unreadable ones are reported when that task is requested. */
function isState(place: Place, id: string): boolean {
  try {
    return typeof readState(place, id) === 'object'
  } catch (cause) {
    if (cause instanceof StateFileError) return false
    throw cause
  }
}

/** `damaged`: something is there that is not a state. */
export function readState({ vault, settings }: Place, id: string): TaskState | 'damaged' | undefined {
  const path = join(vault, stateFileOf({ settings }, id))
  try {
    return parseTaskState(readFileSync(path, 'utf8')) ?? 'damaged'
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : ''
    if (code === 'ENOENT') return undefined
    if (code === 'EISDIR') return 'damaged'
    throw new StateFileError(id, `${path} cannot be read. Make it readable, then try again.`, { cause })
  }
}

/** Keeps a damaged file under another name, which is returned. Undefined: another process was faster. */
export function putAside({ vault, settings }: Place, id: string, at: number): string | undefined {
  const path = join(vault, stateFileOf({ settings }, id))
  const aside = brokenName(stateFileOf({ settings }, id), at)
  try {
    renameSync(path, join(vault, aside))
    return aside
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined
    throw new StateFileError(id, `${path} is damaged and cannot be renamed. Move it away, then try again.`, { cause })
  }
}

export async function writeState({ vault, settings }: VaultDesk, state: TaskState): Promise<void> {
  const path = join(vault, stateFileOf({ settings }, state.task_id))
  try {
    mustBePresent(vault, settings.doneFolder) // so that an unavailable vault is not recreated empty
    await mkdir(join(vault, settings.stateDir), { recursive: true })
    await writeWhole(path, printTaskState(state))
  } catch (cause) {
    throw new StateFileError(state.task_id, `${path} cannot be written. Make its folder writable, then try again.`, {
      cause,
    })
  }
}

/** Checked before any change: a later error would come after counting, and a retry would count twice. */
export function mustBeWritable({
  path: vault,
  state,
  done,
  id,
}: Pick<VaultTask, 'path' | 'state' | 'done' | 'id'>): void {
  try {
    mustBePresent(vault, done)
    prepareFolders(vault, [state])
  } catch (cause) {
    throw unwritable({ vault, state, id }, cause)
  }
}

/** Prepares the state folder for a task that is about to start. */
export function prepareState({ vault, settings }: Place, id: string): void {
  try {
    prepareFolders(vault, [settings.stateDir])
  } catch (cause) {
    throw unwritable({ vault, state: settings.stateDir, id }, cause)
  }
}

function unwritable(
  { vault, state, id }: { vault: string; state: string; id: string },
  cause: unknown,
): StateFileError {
  const folder = join(vault, state)
  return new StateFileError(
    id,
    `${join(folder, `${id}.json`)} cannot be written, so nothing was counted or changed. Make ${folder} a writable folder in the vault, then try again.`,
    { cause },
  )
}

let writes = 0

/** Atomic, without blocking anyone. */
async function writeWhole(path: string, text: string): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.${process.pid}.${++writes}.tmp`)
  try {
    const file = await open(temporary, 'w', 0o644)
    try {
      await file.writeFile(text)
      await file.datasync()
    } finally {
      await file.close()
    }
    await rename(temporary, path)
  } catch (cause) {
    await rm(temporary, { force: true }).catch(() => {}) // its folder is not writable, which is reported
    throw cause
  }
}

/** Removes what killed processes left next to a file of the task. */
export function removeHalves(folder: string, name: string): void {
  for (const half of namesIn(folder)) {
    const pid = half.startsWith(`.${name}.`) ? /\.(\d+)\.\d+\.tmp$/.exec(half)?.[1] : undefined
    if (pid !== undefined && isGone(Number(pid))) rmSync(join(folder, half), { force: true })
  }
}

function hookFolder({ path, state }: Pick<VaultTask, 'path' | 'state'>): string {
  return join(path, state, '.hook')
}

/** What the Stop hook needs, for a shell: the file name, and whether it has checks. Then whose task it is. */
export async function writeHookFiles(loop: Loop, home: string, session: string | undefined): Promise<void> {
  const task = vaultOf(loop)
  const folder = hookFolder(task)
  try {
    mustBePresent(task.path, task.done)
    await mkdir(folder, { recursive: true })
    const lines = [task.file, allChecks(loop.spec).length > 0 ? 'checks' : '', realFolder(home)]
    await writeWhole(join(folder, task.id), `${lines.join('\n')}\n`)
    if (session !== undefined) await writeWhole(join(folder, `session.${session}`), `${task.id}\n`)
  } catch (cause) {
    throw new StateFileError(task.id, `${folder} cannot be written. Make it writable, then try again.`, { cause })
  }
}

export function hasHookFile(task: VaultTask): boolean {
  return existsSync(join(hookFolder(task), task.id))
}

/** An open task that another ralph keeps in its own home, as long as that home exists: its home and its file. */
export function otherKeeper(
  { vault, settings, home }: VaultDesk,
  id: string,
): { home: string; file: string } | undefined {
  const [file = '', , owner = ''] = linesOf(join(hookFolder({ path: vault, state: settings.stateDir }), id))
  if (owner === '' || owner === realFolder(home) || !existsSync(join(owner, 'ralph.db'))) return undefined
  const state = readState({ vault, settings }, id)
  return typeof state === 'object' && isFinal(state.status) ? undefined : { home: owner, file }
}

/** An ended task blocks nobody. */
export function removeHookFiles(task: VaultTask): void {
  const folder = hookFolder(task)
  const sessions = namesIn(folder).filter(
    (name) => name.startsWith('session.') && linesOf(join(folder, name))[0] === task.id,
  )
  try {
    for (const name of [task.id, ...sessions]) rmSync(join(folder, name), { force: true })
    removeHalves(folder, task.id)
    removeHalves(join(task.path, task.state), `${task.id}.json`)
  } catch (cause) {
    throw new StateFileError(task.id, `${folder} cannot be cleared. Make it writable, then try again.`, { cause })
  }
}

function linesOf(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n')
  } catch {
    return [] // there is none, or another process was faster
  }
}

/** A vault on disk: its folders, and the files in it that can be tasks. */
import {
  accessSync,
  constants,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs'
import { basename, dirname, extname, isAbsolute, join, resolve } from 'node:path'
import { RalphError } from '../error.ts'
import { isFolder, pathBelow } from '../host/files.ts'
import { TaskNotFoundError } from './errors.ts'
import type { VaultSettings } from './settings.ts'
import { PENDING, statOf } from './where.ts'

export const NEEDS_ACTION = 'Needs_Action'
export const FAILED = 'Failed'

const OWN_FOLDERS: ReadonlySet<string> = new Set([NEEDS_ACTION, FAILED, PENDING, 'Done', 'Ralph_State'])

/** The real path of the folder. */
export function openVault(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (!stat?.isDirectory())
    throw new RalphError(
      'usage',
      stat ? `The vault ${path} is not a folder.` : `Vault folder not found: ${path}. Create it, or check the path.`,
    )
  const vault = realpathSync(path)
  if (OWN_FOLDERS.has(basename(vault)) && isFolder(join(dirname(vault), NEEDS_ACTION)))
    throw new RalphError('usage', `${vault} is a folder inside a vault. Use the vault itself: ${dirname(vault)}.`)
  return vault
}

/** Whether its folders exist. An unmounted disk leaves an empty folder, where nothing may be created or missed. */
export function isPresent(vault: string, done: string): boolean {
  return [NEEDS_ACTION, PENDING, done].some((folder) => hasFolder(join(vault, folder)))
}

export function mustBePresent(vault: string, done: string): void {
  if (!isPresent(vault, done))
    throw new RalphError('file-unusable', `The folders of the vault ${vault} were not found; is the disk mounted?`)
}

/** Also false if it is not accessible. */
function hasFolder(path: string): boolean {
  try {
    return isFolder(path)
  } catch {
    return false
  }
}

/** The vault that contains a path: the nearest folder above it with one of a vault's folders. */
export function findVault(path: string, { stateDir }: Pick<VaultSettings, 'stateDir'>): string | undefined {
  const marks = [NEEDS_ACTION, stateDir]
  for (let folder = resolve(path); ; folder = dirname(folder)) {
    if (marks.some((name) => hasFolder(join(folder, name)))) return folder
    if (dirname(folder) === folder) return undefined
  }
}

/** The file name without its last extension. */
export function taskIdOf(file: string): string {
  return basename(file, extname(file))
}

/** Whether it can be a task id: it becomes a file name, next to the `session.…` files of the Stop hook. */
export function isTaskId(id: string): boolean {
  return /^(?!session\.)[^./\\\p{Cc}][^/\\\p{Cc}]*$/u.test(id) && id.isWellFormed() && Buffer.byteLength(id) <= 200
}

/** `from` is its path relative to the vault, `others` are the inodes of files of that name elsewhere in it. */
export type TaskFile = {
  id: string
  file: string
  from: string
  text: string
  inode: string
  bornAt: number
  others: number[]
}

export const MOST_BYTES: number = 1 << 20

/** A file that can be worked on. `base` resolves relative paths that are not found in the vault. */
export function readTaskFile(vault: string, settings: VaultSettings, given: string, base: string = vault): TaskFile {
  const path = locate(vault, given, base)
  const file = basename(path)
  const id = taskIdOf(file)
  const from = whereBelow(vault, path, given)
  const stat = statOf(path)
  if (!stat) throw new TaskNotFoundError(id, `Task file not found: ${path}. Give the path of a file in ${vault}.`)
  // The note about it has a longer name.
  if (!isTaskId(id) || /\p{Cc}/u.test(file) || Buffer.byteLength(file) > 230)
    throw invalid(
      path,
      'has an invalid name. Use one of at most 200 bytes, on one line, without a backslash, that does not start with a dot or "session."',
    )
  const kept = [settings.doneFolder, settings.stateDir, PENDING, FAILED].find((name) => from.startsWith(`${name}/`))
  if (kept !== undefined)
    throw invalid(path, `is in ${kept}, where no task can start. Move it to ${NEEDS_ACTION} first`)
  for (const [folder, meaning] of [
    [settings.doneFolder, 'count as done'],
    [PENDING, 'wait for approval'],
  ])
    if (statOf(join(vault, `${folder}/${file}`)))
      throw invalid(
        path,
        `cannot be started: ${folder}/${file} already exists, so it would ${meaning} at once. Rename one of the two`,
      )
  const others = namesakes(vault, file).filter((inode) => inode !== stat.ino)
  return { id, file, from, text: readText(path), inode: inodeOf(stat), bornAt: stat.birthtimeMs, others }
}

function namesakes(vault: string, file: string): number[] {
  return ['.', ...namesIn(vault)].flatMap((folder) => statOf(join(vault, folder, file))?.ino ?? [])
}

function locate(vault: string, given: string, base: string): string {
  if (!given || given.includes('\0')) throw new RalphError('input-invalid', 'The task file must be the path of a file.')
  if (isAbsolute(given)) return resolve(given)
  const [inside, here] = [resolve(vault, given), resolve(base, given)]
  return statOf(here) && !statOf(inside) ? here : inside
}

function whereBelow(vault: string, path: string, given: string): string {
  let folder: string
  try {
    folder = realpathSync(dirname(path))
  } catch (cause) {
    throw new TaskNotFoundError(taskIdOf(path), `Task file not found: ${path}. Its folder does not exist.`, { cause })
  }
  const below = pathBelow(vault, join(folder, basename(path)))
  if (below === undefined || below === '')
    throw new RalphError('input-invalid', `The task file ${given} is outside the vault ${vault}. Move it there.`)
  return below
}

function refuseKind(path: string, stat: Stats): void {
  if (stat.isSymbolicLink()) throw invalid(path, 'is a link. Use the file itself')
  if (stat.isDirectory()) throw invalid(path, 'is a folder. A task is one file')
  if (!stat.isFile()) throw invalid(path, 'is not a regular file. A task is a text file')
  if (stat.size > MOST_BYTES)
    throw invalid(
      path,
      `is ${Math.ceil((stat.size * 10) / MOST_BYTES) / 10} MB; the limit is 1 MB. Put the material next to it and mention it in the task`,
    )
}

/** The text of a task file; throws if it cannot be one. */
export function readText(path: string): string {
  const stat = statOf(path)
  if (!stat) throw new TaskNotFoundError(taskIdOf(path), `Task file not found: ${path}.`)
  refuseKind(path, stat)
  if (stat.size === 0) throw invalid(path, 'is empty. Write the task into it')
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path))
  } catch (cause) {
    if (cause instanceof TypeError) throw invalid(path, BINARY)
    throw new RalphError('input-invalid', `The task file ${path} cannot be read. Make it readable.`, { cause })
  }
  if (text.includes('\0')) throw invalid(path, BINARY)
  return text
}

const BINARY = 'is not UTF-8 text. Describe the task in a text file that mentions this one'

function invalid(path: string, what: string): RalphError {
  return new RalphError('input-invalid', `The task file ${path} ${what}.`)
}

/** The path of the file with this inode and creation time: a new file may reuse the inode of a deleted one. */
export function findInode(vault: string, inode: string, bornAt: number): string | undefined {
  for (const folder of ['.', ...readdirSync(vault)])
    for (const name of namesIn(join(vault, folder))) {
      const stat = statOf(join(vault, folder, name))
      if (stat?.isFile() && inodeOf(stat) === inode && stat.birthtimeMs === bornAt)
        return folder === '.' ? name : `${folder}/${name}`
    }
  return undefined
}

/** Empty if there is no folder, or no readable one. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

export function inodeOf({ dev, ino }: Stats): string {
  return `${dev}:${ino}`
}

/** The agent must be able to move the file there. */
export function prepareFolders(vault: string, folders: readonly string[]): void {
  if (!isFolder(vault)) throw new RalphError('file-unusable', `Vault folder not found: ${vault}; is the disk mounted?`)
  for (const folder of folders) {
    const path = join(vault, folder)
    try {
      mkdirSync(path, { recursive: true })
      accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
    } catch (cause) {
      throw new RalphError(
        'file-unusable',
        `${path} must be a readable and writable folder, or no task could ever end there. Fix it, then try again.`,
        { cause },
      )
    }
    if (pathBelow(vault, realpathSync(path)) === undefined)
      throw new RalphError('file-unusable', `${path} leads outside the vault. Replace it with a folder.`)
  }
}

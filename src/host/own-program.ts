/** Programs that ralph runs for itself, such as git: never one in a place where an agent may have put it. */
import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { delimiter, dirname, isAbsolute, join, relative } from 'node:path'

/**
 * Looked up outside `dir`, the folder that an agent works in; inside only if it is nowhere else, as with a home folder
 * in git.
 */
export function findOwnProgram(name: string, dir: string, path: string = process.env.PATH ?? ''): string | undefined {
  const inEach = (folders: readonly string[]) => folders.map((folder) => join(folder, name))
  // A link may still lead into it.
  const isOwn = (file: string) => isExecutable(file) && isOutside(dir, realpathSync.native(dirname(file)))
  return inEach(ownFolders(dir, path)).find(isOwn) ?? inEach(namedInFull(path)).find(isExecutable)
}

/**
 * The folders of PATH into which no agent working in `dir` can have put a program: none below it, and none like "" or
 * ".".
 */
export function ownFolders(dir: string, path: string): string[] {
  const folders = namedInFull(path)
  const outside = folders.filter((folder) => isOutside(dir, folder))
  return outside.length > 0 ? outside : folders
}

function isOutside(dir: string, folder: string): boolean {
  return relative(dir, folder).split('/')[0] === '..'
}

/** Any other depends on the folder that a program is started in. */
function namedInFull(path: string): string[] {
  return path.split(delimiter).filter((folder) => isAbsolute(folder))
}

export function isExecutable(path: string): boolean {
  try {
    // Called first, since it does not throw: most folders of PATH do not have the program.
    if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return false
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false // missing, or not executable for us
  }
}

/** Where a project lives: `.artefacts/<name>/` in its working folder, and the files in it. */
import { lstatSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { RalphError } from '../error.ts'
import { nearest } from '../formats/nearest.ts'
import { isFolder, pathBelow, writeWhole } from '../host/files.ts'
import { inPlainWords } from '../host/plain-words.ts'

export const ARTEFACTS = '.artefacts'

/** `dir` is where the code is, `folder` where the files of the project are. */
export type Project = { name: string; dir: string; folder: string }

const FACES = ['spec.md', 'tasks.json', 'state.json', 'obstacles.json', 'results.md', 'done.md'] as const

export type FaceName = (typeof FACES)[number]

/** A project by name, whether it exists or not. `dir` must be a folder. */
export function projectAt(dir: string, name: string): Project {
  checkName(name)
  const place = realpathSync(dir)
  const project = { name, dir: place, folder: join(place, ARTEFACTS, name) }
  refuseOutside(project)
  return project
}

/** An existing project. */
export function openProject(dir: string, name: string): Project {
  const project = projectAt(dir, name)
  if (isFolder(project.folder)) return project
  const known = listProjects(dir)
  const close = nearest(name, known)
  const above = projectAbove(project.dir, name)
  const hint = above
    ? ` There is one in ${above}: cd there, or use --dir.`
    : known.length > 0
      ? ` Projects here: ${known.slice(0, 20).join(', ')}.${close ? ` Did you mean "${close}"?` : ''}`
      : ''
  throw new RalphError(
    'project-unknown',
    `No project "${name}" in ${project.dir}.${hint} Create it with: ralph init ${name}`,
  )
}

/** The names of the projects in a folder. */
export function listProjects(dir: string): string[] {
  const folder = join(dir, ARTEFACTS)
  if (!isFolder(folder)) return []
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && NAME.test(entry.name) && entry.name.toLowerCase() !== 'templates')
    .map(({ name }) => name)
    .sort()
}

const NAME = /^[\p{L}\p{N}](?:[\p{L}\p{N}._-]{0,62}[\p{L}\p{N}_-])?$/u

function checkName(name: string): void {
  if (name.toLowerCase() === 'templates')
    throw new RalphError(
      'usage',
      `A project cannot be named "${name}": ${ARTEFACTS}/templates holds your own prompt templates.`,
    )
  if (!NAME.test(name))
    throw new RalphError(
      'usage',
      `${JSON.stringify(name.slice(0, 80))} is not a valid project name. Use up to 64 letters and digits, with . _ - between them.`,
    )
}

/** A link out of the folder would make ralph write elsewhere. */
function refuseOutside({ dir, folder }: Project): void {
  for (const path of [dirname(folder), folder]) {
    if (!lstatSync(path, { throwIfNoEntry: false })) continue
    const real = realPath(path)
    if (real === undefined) throw new RalphError('usage', `${path} is a broken link. Replace it with a folder.`)
    if (pathBelow(dir, real) === undefined)
      throw new RalphError('usage', `${path} is a link to ${real}, outside ${dir}. Replace it with a folder.`)
    if (!isFolder(path)) throw new RalphError('usage', `${path} must be a folder, but is a file. Move or rename it.`)
  }
}

/** Undefined for a broken or circular link. */
function realPath(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}

function projectAbove(dir: string, name: string): string | undefined {
  const above = dirname(dir)
  if (above === dir) return undefined
  return isFolder(join(above, ARTEFACTS, name)) ? above : projectAbove(above, name)
}

/** Removes what an agent put in place of the folder or one of its files, so that it can be restored. */
export function clearWay({ folder }: Pick<Project, 'folder'>): void {
  const dir = realPath(dirname(dirname(folder)))
  if (dir === undefined) return // a worktree that was deleted as a whole
  const isInside = (path: string) => pathBelow(dir, realPath(path) ?? '') !== undefined
  for (const path of [dirname(folder), folder])
    if (!isFolder(path) || !isInside(path)) rmSync(path, { recursive: true, force: true })
  for (const path of FACES.map((name) => join(folder, name)))
    if (!isFile(path) || !isInside(path)) rmSync(path, { recursive: true, force: true })
}

/** Reading a non-file, such as a pipe, might never end. */
function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}

/** Undefined if it does not exist. */
export function readFace({ folder }: Pick<Project, 'folder'>, name: FaceName): string | undefined {
  const path = join(folder, name)
  const real = realPath(path)
  const dir = dirname(dirname(folder))
  if (real !== undefined && pathBelow(realpathSync(dir), real) === undefined)
    throw new RalphError('input-invalid', `${path} is a link to ${real}, outside ${dir}. Replace it with a file.`)
  if (real !== undefined && !isFile(path))
    throw new RalphError('input-invalid', `${path} is not a file. Replace it with a readable text file.`)
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && (cause.code === 'ENOENT' || cause.code === 'ENOTDIR'))
      return undefined
    throw new RalphError('input-invalid', `${path} cannot be read. It must be a readable text file.`, { cause })
  }
}

/** Atomic. People and agents read it, so everyone may. */
export function writeFace({ folder }: Pick<Project, 'folder'>, name: string, text: string): void {
  const path = join(folder, basename(name))
  if (isFolder(path)) throw new RalphError('usage', `${path} must be a file, but is a folder. Move or rename it.`)
  try {
    mkdirSync(folder, { recursive: true })
    writeWhole(path, text, 0o644)
  } catch (cause) {
    throw aboutProject(cause, path)
  }
}

export function removeFace({ folder }: Pick<Project, 'folder'>, name: FaceName): void {
  const path = join(folder, name)
  try {
    rmSync(path, { recursive: true, force: true })
  } catch (cause) {
    throw aboutProject(cause, path)
  }
}

/** The same messages as for ralph's home, but without an alternative location. */
function aboutProject(cause: unknown, path: string): unknown {
  const error = cause instanceof RalphError ? cause : inPlainWords(cause, path)
  if (!(error instanceof RalphError) || error.code !== 'home-unusable') return error
  return new RalphError('home-unusable', `${path} cannot be written. Make its folder writable.`, { cause })
}

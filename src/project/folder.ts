/** Where a project lives: `.artefacts/<name>/` below the folder it is worked on in, and the files in it. */
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { RalphError } from '../error.ts'
import { nearest } from '../formats/nearest.ts'
import { inPlainWords, isFolder, pathBelow, writeWhole } from '../host/files.ts'

export const ARTEFACTS = '.artefacts'

/** `dir` is where the code is, `folder` where the files of the project are. */
export type Project = { name: string; dir: string; folder: string }

export type FaceName = 'spec.md' | 'tasks.json' | 'state.json' | 'obstacles.json' | 'results.md' | 'done.md'

/** A project by its name, whether it is there or not. `dir` must be a folder. */
export function projectAt(dir: string, name: string): Project {
  checkName(name)
  const place = realpathSync(dir)
  const project = { name, dir: place, folder: join(place, ARTEFACTS, name) }
  refuseStrange(project)
  return project
}

/** A project that is there. */
export function openProject(dir: string, name: string): Project {
  const project = projectAt(dir, name)
  if (isFolder(project.folder)) return project
  const known = listProjects(dir)
  const close = nearest(name, known)
  const above = projectAbove(project.dir, name)
  const hint = above
    ? ` There is one in ${above}: go there, or give --dir.`
    : known.length > 0
      ? ` Here ${known.length === 1 ? 'is' : 'are'}: ${known.slice(0, 20).join(', ')}.${close ? ` Did you mean "${close}"?` : ''}`
      : ''
  throw new RalphError(
    'project-unknown',
    `There is no project "${name}" in ${project.dir}.${hint} Begin one with: ralph init ${name}`,
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
      `A project cannot be named "${name}": ${ARTEFACTS}/templates is where your own prompt templates lie.`,
    )
  if (!NAME.test(name))
    throw new RalphError(
      'usage',
      `${JSON.stringify(name.slice(0, 80))} is not a name for a project. Use up to 64 letters, digits, and . _ - between them.`,
    )
}

/** A link that leads out of the folder would let ralph write somewhere else. */
function refuseStrange({ dir, folder }: Project): void {
  for (const path of [dirname(folder), folder]) {
    if (!existsSync(path)) continue
    const real = realpathSync(path)
    if (pathBelow(dir, real) === undefined)
      throw new RalphError('usage', `${path} is a link to ${real}, which lies outside ${dir}. Put a real folder there.`)
    if (!isFolder(path))
      throw new RalphError('usage', `${path} must be a folder, but a file is in the way. Move it away.`)
  }
}

function projectAbove(dir: string, name: string): string | undefined {
  const above = dirname(dir)
  if (above === dir) return undefined
  return isFolder(join(above, ARTEFACTS, name)) ? above : projectAbove(above, name)
}

/** Undefined when it is not there. */
export function readFace({ folder }: Pick<Project, 'folder'>, name: FaceName): string | undefined {
  const path = join(folder, name)
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && (cause.code === 'ENOENT' || cause.code === 'ENOTDIR'))
      return undefined
    throw new RalphError('input-invalid', `${path} cannot be read. It must be a readable text file.`, { cause })
  }
}

/** Whole or not at all. People and agents read it, so it is for everybody. */
export function writeFace({ folder }: Pick<Project, 'folder'>, name: string, text: string): void {
  const path = join(folder, basename(name))
  try {
    mkdirSync(folder, { recursive: true })
  } catch (cause) {
    throw inPlainWords(cause, folder)
  }
  writeWhole(path, text, 0o644)
}

export function removeFace({ folder }: Pick<Project, 'folder'>, name: FaceName): void {
  rmSync(join(folder, name), { recursive: true, force: true })
}

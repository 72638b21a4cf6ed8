/**
 * What an agent in a sandbox can write in a repository: what its work needs, and nothing that makes git outside run a
 * program.
 */
import { existsSync, lstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Worktree } from '../engine/loop.ts'
import { isFolder, readIfThere } from './files.ts'
import type { Site } from './git-site.ts'

/** Bound in this order, each over the ones before. */
export type GitPlaces = { visible: string[]; writable: string[]; readOnly: string[] }

/** `worktree`: the one that ralph created for the loop. Without a repository the folder is all there is. */
export function gitPlaces(dir: string, site: Site | undefined, worktree: Worktree | undefined): GitPlaces {
  // A repository that the agent has removed is not created again.
  if (!site || !isFolder(site.commonDir)) return { visible: [], writable: [dir], readOnly: [] }
  const { top, gitDir, commonDir } = site
  const isLinked = gitDir !== commonDir
  const links = [join(top, '.git'), join(gitDir, 'commondir'), join(gitDir, 'gitdir')].filter(isFile)
  if (isLinked && worktree)
    return {
      visible: [commonDir],
      writable: [top, gitDir, ...sharedBy(commonDir, worktree.branch)],
      readOnly: [...links, ...settingsOf(commonDir, gitDir)],
    }
  mkdirSync(join(commonDir, 'hooks'), { recursive: true })
  return {
    visible: [],
    // A folder that is itself bound cannot be moved away.
    writable: [top, commonDir, ...(isLinked ? [gitDir] : [])],
    readOnly: [...links, ...settingsOf(commonDir, gitDir), ...modulesOf(join(gitDir, 'modules'))],
  }
}

/**
 * A commit on the loop's own branch writes objects, that branch and its log. Other branches, including the person's,
 * are out of reach.
 */
function sharedBy(commonDir: string, branch: string): string[] {
  const folder = dirname(join('refs', 'heads', branch))
  const paths = [join(commonDir, 'objects'), join(commonDir, folder), join(commonDir, 'logs', folder)]
  for (const path of paths) mkdirSync(path, { recursive: true })
  // There all refs are in one place.
  const all = join(commonDir, 'reftable')
  return existsSync(all) ? [...paths, all] : paths
}

/** Config and hooks name programs that git runs. */
function settingsOf(commonDir: string, gitDir: string): string[] {
  const own = join(gitDir, 'config.worktree')
  const config = join(commonDir, 'config')
  // It must exist to be bound, wherever git would read it.
  if (!existsSync(own) && /worktreeConfig/i.test(readIfThere(config) ?? '')) writeFileSync(own, '')
  return [config, join(commonDir, 'hooks'), own]
}

/** The same for the repositories of submodules, which may be nested by name. */
function modulesOf(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (!entry.isDirectory()) return []
    if (!existsSync(join(path, 'HEAD'))) return modulesOf(path)
    mkdirSync(join(path, 'hooks'), { recursive: true })
    return [join(path, 'config'), join(path, 'hooks'), ...modulesOf(join(path, 'modules'))]
  })
}

function isFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true
}

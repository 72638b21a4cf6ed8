/** Keeps files out of commits that an installation creates in a project: they contain a path of this machine. */
import { realpathSync } from 'node:fs'
import { relative } from 'node:path'
import { excludeList, isTracked, patternFor } from '../host/exclude.ts'
import { pathBelow } from '../host/files.ts'
import { openRepository } from '../host/git.ts'
import { targetOf } from '../host/person-file.ts'
import type { Wanted } from './pieces.ts'

type Pathed = { path: string }

export type Exclusions = {
  /** The lines for the repository's own exclude list, if there is a repository. */
  wanted: Wanted[]
  /** Files that are already committed, relative to the project. */
  tracked: string[]
}

/** Leaves lines that another installation in the folder also needs. */
export async function exclusionsOf(
  project: string,
  files: readonly Pathed[],
  others: readonly Pathed[],
): Promise<Exclusions> {
  const repo = await openRepository(project)
  if ('none' in repo) return { wanted: [], tracked: [] }
  const lines = new Set<string>()
  const tracked: string[] = []
  for (const { path } of files.filter((file) => others.every((other) => other.path !== file.path))) {
    const way = pathBelow(realpathSync(repo.top), targetOf(path))
    if (way === undefined) continue // it is behind a link, outside
    if (await isTracked(repo, way)) tracked.push(relative(project, path))
    else lines.add(`/${together(patternFor(way))}`)
  }
  const list = await excludeList(repo)
  return { wanted: lines.size > 0 ? [{ kind: 'lines', path: list, lines: [...lines] }] : [], tracked }
}

/** One line for all of ralph's commands or skills. */
function together(way: string): string {
  return way
    .replace(/\/ralph\/[^/]+$/, '/ralph/')
    .replace(/\/ralph-\w+\/SKILL\.md$/, '/ralph-*/')
    .replace(/\/ralph-\w+\.md$/, '/ralph-*.md')
}

/** Which globs match no file of a folder, so that nobody believes something is protected that is not. */
import { isMatched } from '../formats/means.ts'
import { isLookedThrough, openDisk } from './disk-files.ts'
import { pathBelow } from './files.ts'
import { listPaths, openRepository, readable } from './git.ts'

/** As sentences. `whose`: how they were given. */
export async function unmatchedNotes(
  dir: string,
  globs: readonly string[] = [],
  whose = '--protect',
): Promise<string[]> {
  const asked = globs.filter(isLookedThrough)
  const onDisk = asked.length > 0 ? without(asked, openDisk(dir).paths, '') : []
  const left = onDisk.length > 0 ? await withoutInGit(onDisk, dir) : []
  return left.map((glob) => `${whose} "${glob}" matches no file here.`)
}

/** Files elsewhere in the repository are seen from its top. */
async function withoutInGit(globs: readonly string[], dir: string): Promise<readonly string[]> {
  const repo = await openRepository(dir)
  if ('none' in repo) return globs
  const listed = (await listPaths(repo, ['--cached', '--others', '--exclude-standard'])) ?? []
  return without(globs, listed.map(readable), pathBelow(repo.top, dir) ?? '')
}

function without(globs: readonly string[], paths: Iterable<string>, dir: string): string[] {
  const left = new Set(globs)
  for (const path of paths) for (const glob of left) if (isMatched(path, dir, [glob])) left.delete(glob)
  return [...left]
}

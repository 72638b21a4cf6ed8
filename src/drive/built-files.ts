/**
 * Build output that a check runs, such as a compiled test: git ignores it, and every build changes it. What the checks
 * create by themselves, in a clean place and from the original files, cannot have been planted by the agent.
 */
import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import type { Loop } from '../engine/loop.ts'
import type { Repository } from '../host/git.ts'
import { INSTALLED } from '../host/proof-links.ts'

/** The paths, among those that git does not show, that the place of the experiments gets from nowhere. */
export async function mayBeBuilt(
  repo: Repository,
  paths: readonly string[],
  { trees, copied = [] }: { trees: readonly string[]; copied?: readonly string[] },
): Promise<string[]> {
  const apart = paths.filter(
    (path) =>
      !path.endsWith('/') &&
      !path.split('/').some((name) => name === '..' || INSTALLED.includes(name)) &&
      !copied.some((name) => path === name || path.endsWith(`/${name}`) || `/${path}`.includes(`/${name}/`)),
  )
  if (apart.length === 0) return []
  const known = await Promise.all(
    trees.map((tree) =>
      repo.list(['ls-tree', '-r', '-z', '--full-tree', '--name-only', tree, '--', ...apart], {
        env: { GIT_LITERAL_PATHSPECS: '1' },
      }),
    ),
  )
  if (known.includes(undefined)) return [] // then there is no evidence for it
  const held = new Set(known.flat().map((path) => Buffer.from(path ?? '', 'latin1').toString('utf8')))
  return apart.filter((path) => !held.has(path))
}

/** Those that this loop's findings name: the place does not have them until a check creates them. */
export async function builtOf(repo: Repository, { spec, tally }: Loop, trees: readonly string[]): Promise<string[]> {
  const paths = tally.findings.flatMap(({ kind, path }) =>
    kind === 'means-changed' || kind === 'means-deleted' ? [path] : [],
  )
  const { proofFiles } = spec.work
  return mayBeBuilt(repo, paths, { trees, ...(proofFiles ? { copied: proofFiles } : {}) })
}

export function firstMissing(top: string, paths: readonly string[]): string | undefined {
  return paths.find((path) => !lstatSync(join(top, path), { throwIfNoEntry: false })?.isFile())
}

/** A place for experiments in a real repository, and a look at everything that the person has there. */
import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { runCheck } from './check.ts'
import { temporaryFolder } from './place.test-support.ts'
import { openProofPlace, type ProofOptions, type ProofPlace } from './proof-place.ts'
import type { TestRepository } from './repository.test-support.ts'

export const LOOP = 'abcdefgh'

/** `run` returns how a check ends there: pass, fail, broken; or why it was not tried. */
export type TestPlace = ProofPlace & { home: string; run(tree: string, check: string): Promise<string> }

export async function openPlace(main: TestRepository, options: Partial<ProofOptions> = {}): Promise<TestPlace> {
  const home = options.home ?? temporaryFolder()
  const place = await openProofPlace({
    repo: main.repo,
    home,
    loop: LOOP,
    dir: main.dir,
    env: process.env,
    signal: new AbortController().signal,
    ...options,
  })
  if ('cannot' in place) throw new Error(place.cannot)
  return {
    ...place,
    home,
    async run(tree, check) {
      const shown = await place.show(tree)
      if ('cannot' in shown) return shown.cannot
      const env = { ...process.env, ...place.env }
      const signal = new AbortController().signal
      const verdict = await runCheck(place.translate(check), { dir: shown.dir, env, minutes: 1, signal })
      return verdict?.result === 'pass' ? 'pass' : `${verdict?.result}: ${verdict?.tail}`
    },
  }
}

/** Where it is, or the reason why it is not. */
export async function shown(
  place: ProofPlace,
  tree: string,
  how?: { fresh?: boolean; minutes?: number },
): Promise<string> {
  const answer = await place.show(tree, how)
  return 'cannot' in answer ? answer.cannot : answer.dir
}

/** Everything below a folder, byte for byte and time for time; without git's objects, which only grow. */
export function everythingIn(dir: string, path = ''): string[] {
  return readdirSync(join(dir, path), { withFileTypes: true })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const below = join(path, entry.name)
      if (below === '.git/objects') return []
      const stat = lstatSync(join(dir, below))
      const time = /^\.git(\/worktrees)?$/.test(below) ? '' : stat.mtimeMs // something was created and removed there
      if (entry.isDirectory()) return [`${below}/ ${time}`, ...everythingIn(dir, below)]
      const content = entry.isSymbolicLink() ? readlinkSync(join(dir, below)) : readFileSync(join(dir, below))
      return [`${below} ${time} ${stat.mode} ${createHash('sha1').update(content).digest('hex')}`]
    })
}

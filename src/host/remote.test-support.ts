/** A remote repository on this disk, as workers on several machines see it. */
import { execFileSync } from 'node:child_process'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from './place.test-support.ts'
import { makeRepository } from './repository.test-support.ts'

export type Remote = {
  url: string
  git(...args: string[]): string
  /** The commit of a branch, or of any ref. */
  tip(ref: string): string
  /** All refs, without their commits. */
  refs(): string[]
  /** Somebody else pushes a commit with these files; returns its hash. */
  commit(files: Record<string, string>, branch?: string): string
  /** A file of a branch. */
  read(ref: string, path: string): string
}

export async function makeRemote(files?: Record<string, string>): Promise<Remote> {
  const person = await makeRepository(files)
  const url = join(temporaryFolder(), 'shop.git')
  person.git('clone', '--quiet', '--bare', person.dir, url)
  person.git('remote', 'add', 'origin', url)
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: url, encoding: 'utf8', stdio: 'pipe' }).replace(/\n$/, '')
  return {
    url,
    git,
    tip: (ref) => git('rev-parse', '--verify', ref),
    refs: () => git('for-each-ref', '--format=%(refname)').split('\n').filter(Boolean),
    commit(changed, branch = 'main') {
      person.git('fetch', '--quiet', 'origin', branch)
      person.git('checkout', '--quiet', '-B', branch, 'FETCH_HEAD')
      const commit = person.commit('Theirs', changed)
      person.git('push', '--quiet', 'origin', branch)
      return commit
    },
    read: (ref, path) => git('show', `${ref}:${path}`),
  }
}

/** As a power cut leaves them. */
export function damageObjects(gitDir: string): void {
  for (const entry of readdirSync(join(gitDir, 'objects'), { recursive: true, withFileTypes: true }))
    if (entry.isFile() && !entry.parentPath.endsWith('info')) {
      rmSync(join(entry.parentPath, entry.name))
      writeFileSync(join(entry.parentPath, entry.name), '')
    }
}

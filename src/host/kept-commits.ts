/**
 * Which commit each checkpoint of a loop is, recorded in ralph's own folder: anybody who works in the repository can
 * move or delete a ref. As long as the objects exist, the refs are restored from these records.
 */
import { appendFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { isFolder, readIfThere } from './files.ts'
import type { Repository } from './git.ts'

/** `gone` are removed on purpose. */
type Noting = { refs: readonly string[]; commit: string; gone: readonly string[] }

/** Called before the refs are set: if ralph is killed in between, they are set from the records. */
export function noteCommits({ commits }: Pick<Repository, 'commits'>, { refs, commit, gone }: Noting): void {
  if (commits === undefined || !isFolder(dirname(commits))) return
  const lines = [...refs.map((ref) => `${ref} ${commit}\n`), ...gone.map((ref) => `${ref} ${GONE}\n`)]
  appendFileSync(commits, lines.join(''), { mode: 0o600 })
}

const GONE = '-'

/** By their refs, as they were last recorded. */
export function notedCommits({ commits }: Pick<Repository, 'commits'>): Map<string, string> {
  const text = commits === undefined ? undefined : readIfThere(commits)
  const lines = (text ?? '').split('\n').map((line) => line.split(' '))
  const noted = new Map(lines.flatMap(([ref, commit]) => (ref && commit ? [[ref, commit]] : [])))
  return new Map([...noted].filter(([, commit]) => commit !== GONE))
}

/** Restores what was moved or deleted, as far as the objects exist. Returns the resulting refs. */
export async function repairRefs(repo: Repository, found: ReadonlyMap<string, string>): Promise<Map<string, string>> {
  const refs = new Map(found)
  for (const [ref, commit] of notedCommits(repo)) {
    if (refs.get(ref) === commit) continue
    const put = await repo.ask(['update-ref', ref, commit])
    if (put.ok) refs.set(ref, commit)
  }
  return refs
}

/** The files of a tree object in the place where ralph runs experiments, switched with as few writes as git can. */
import { rmSync } from 'node:fs'
import { RalphError } from '../error.ts'
import { type Answer, inOneLine, type Repository } from './git.ts'
import { findOwnProgram } from './own-program.ts'
import { EVERYWHERE } from './restore-files.ts'

/** `kept`: names of folders that are not cleaned although git does not ignore them. */
export type Showing = { loop: string; kept: readonly string[]; fresh: boolean; signal: AbortSignal }

/**
 * Files in both trees stay as they are, with their times, so that a build there only does what is new. What a check
 * left is removed, except what git ignores; `fresh` removes that as well.
 */
export async function showTree(repo: Repository, tree: string, { loop, kept, fresh, signal }: Showing): Promise<void> {
  const env = { RALPH_LOOP_ID: loop, GIT_NO_LAZY_FETCH: '1', ...(await filterSettings(repo)) }
  const ask = (args: readonly string[]) => repo.ask([...AS_IT_IS, ...args], { env, signal, minutes: 10 })
  const read = () => ask(['read-tree', '--reset', '-u', tree])
  const clean = ['clean', '--quiet', '--force', '--force', '-d']
  if (fresh || !(await read()).ok) {
    rmSync(repo.index, { force: true }) // it may be damaged; without an index every file is written
    if (fresh) mustShow(await ask([...clean, '-x']))
    mustShow(await read())
  }
  mustShow(await ask([...clean, ...kept.flatMap((name) => ['--exclude', name])]))
}

/** All files, including those that a sparse checkout hides, and those that somebody hid from git. */
const AS_IT_IS = [
  ...EVERYWHERE,
  ...['core.trustctime=true', 'core.checkStat=default', 'core.ignoreStat=false', 'submodule.recurse=false'].flatMap(
    (set) => ['-c', set],
  ),
]

/**
 * A filter is a program that changes files on checkout, and the agent can configure one. Only git-lfs is allowed, with
 * its own settings and if it is installed; otherwise its pointers stay pointers.
 */
async function filterSettings(repo: Repository): Promise<Record<string, string>> {
  const listed = (await repo.list(['config', '-z', '--name-only', '--get-regexp', '^filter\\.'])) ?? []
  const names = new Set(
    listed.map((key) => Buffer.from(key, 'latin1').toString('utf8').split('.').slice(1, -1).join('.')),
  )
  const settings = [...names].flatMap((name) => {
    const lfs = name === 'lfs' && findOwnProgram('git-lfs', repo.top) !== undefined
    return Object.entries(lfs ? LFS : OFF).map(([key, value]) => [`filter.${name}.${key}`, value] as const)
  })
  const theirs = Number(process.env.GIT_CONFIG_COUNT) || 0 // such as safe.directory
  return Object.fromEntries([
    ['GIT_CONFIG_COUNT', String(theirs + settings.length)],
    ...settings.flatMap(([key, value], at) => [
      [`GIT_CONFIG_KEY_${theirs + at}`, key],
      [`GIT_CONFIG_VALUE_${theirs + at}`, value],
    ]),
  ])
}

const OFF = { clean: '', smudge: '', process: '', required: 'false' }
const LFS = {
  clean: 'git-lfs clean -- %f',
  smudge: 'git-lfs smudge -- %f',
  process: 'git-lfs filter-process',
  required: 'false',
}

function mustShow(answer: Answer): void {
  if (answer.ok) return
  // git does not say why it could not write a file in a folder that it could write to.
  if (/No space left|quota exceeded|unable to write (new index )?file/i.test(answer.says)) throw noSpace(answer.says)
  throw new RalphError('git-failed', `git cannot check out the files: ${inOneLine(answer.says)}`)
}

export function noSpace(cause: unknown): RalphError {
  return new RalphError('disk-full', 'No space left for a worktree to run experiments in.', { cause })
}

/** Git, asked directly. */
import { execFile } from 'node:child_process'
import { copyFile, mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { readFindings } from '../formats/findings.ts'
import { pathBelow } from './files.ts'

const execute = promisify(execFile)

/** What git prints, without the last line break; undefined when it fails. */
export async function git(
  dir: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<string | undefined> {
  try {
    const { stdout } = await execute('git', ['-c', 'core.fsmonitor=false', ...args], {
      cwd: dir,
      env: { ...process.env, GIT_OPTIONAL_LOCKS: '0', LC_ALL: 'C', ...env },
      maxBuffer: 64 * 1024 * 1024,
      timeout: 120_000,
    })
    return stdout.replace(/\n$/, '')
  } catch {
    return undefined // no git, no repository, or one that git cannot read: the caller knows what that means for it
  }
}

/** A name for the state of a repository: its files, tracked or not but not ignored, and HEAD. Index and branches stay untouched. */
export type Snapshot = () => Promise<string | undefined>

/**
 * Undefined outside a work tree. `index` is a private index file, kept so that only changed files are read again;
 * `own` is a folder that is left out, wherever in the repository it lies.
 */
export async function openSnapshots(dir: string, index: string, own: string): Promise<Snapshot | undefined> {
  const paths = await git(dir, ['rev-parse', '--show-toplevel', '--absolute-git-dir'])
  const [top, gitDir] = paths?.split('\n') ?? []
  if (!top || !gitDir) return undefined
  await mkdir(dirname(index), { recursive: true })
  await rm(`${index}.lock`, { force: true }) // of a git that was killed; a loop has one driver at a time
  await copyFile(join(gitDir, 'index'), index).catch(() => {}) // a new repository has none
  const env = { GIT_INDEX_FILE: index }
  const leftOut = pathBelow(top, own)
  const pathspec = ['.', ...(leftOut === undefined ? [] : [`:(exclude,top,literal)${leftOut}`])]
  return async () => {
    const [added, head] = await Promise.all([
      git(top, ['add', '--all', '--', ...pathspec], env),
      git(top, ['rev-parse', '--verify', '--quiet', 'HEAD']),
    ])
    const tree = added === undefined ? undefined : await git(top, ['write-tree'], env)
    return tree && `${tree} ${head ?? 'no commit'}`
  }
}

/** What happened to the means of proof between two snapshots. Nothing where one of them is none of git's. */
export async function findFindings(
  dir: string,
  from: string | undefined,
  to: string | undefined,
  checks: readonly string[],
): Promise<string[]> {
  const [before, after] = [treeIn(from), treeIn(to)]
  if (!before || !after || before === after) return []
  const range = ['--no-renames', '--no-ext-diff', '--no-textconv', '--no-color', before, after]
  const [names, lines] = await Promise.all([
    git(dir, ['-c', 'core.quotePath=false', 'diff', '--name-status', '-z', ...range]),
    git(dir, ['-c', 'core.quotePath=false', 'diff', '--unified=0', '--diff-filter=AMT', ...range]),
  ])
  const fields = names?.split('\0') ?? []
  const files = fields.flatMap((status, at) =>
    at % 2 === 0 && fields[at + 1] ? [{ status: status.slice(0, 1), path: fields[at + 1] ?? '' }] : [],
  )
  return readFindings({ files, added: addedLines(lines ?? '') }, checks)
}

function treeIn(state: string | undefined): string | undefined {
  return /^([0-9a-f]{40,64}) /.exec(state ?? '')?.[1]
}

function addedLines(diff: string): Map<string, string[]> {
  const added = new Map<string, string[]>()
  let lines: string[] = []
  for (const line of diff.split('\n')) {
    const file = /^\+\+\+ b\/(.*)$/.exec(line)?.[1]
    if (file !== undefined) {
      lines = []
      added.set(file, lines)
    } else if (line.startsWith('+')) lines.push(line.slice(1))
  }
  return added
}

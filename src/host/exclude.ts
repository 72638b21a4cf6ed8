/** Keeps ralph's files out of commits, through the repository's own exclude list, which is never committed. */
import { appendFileSync, existsSync, mkdirSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { RalphError } from '../error.ts'
import { pathBelow } from './files.ts'
import { LOOP_FACES } from './folder.ts'
import { must, openRepository, type Repository } from './git.ts'

/** `excluded`: just now; `ignored`: before; `tracked`: somebody wants it in commits; `none`: there is no repository. */
export type Exclusion = 'excluded' | 'ignored' | 'tracked' | 'none'

/** `path` is a folder below `dir`. It need not exist yet. */
export async function excludeFromGit(dir: string, path: string): Promise<Exclusion> {
  const repo = await openRepository(dir)
  if ('none' in repo) return 'none'
  const way = pathBelow(repo.top, join(realpathSync(dir), path))
  if (way === undefined) return 'none'
  if (await isTracked(repo, way)) return 'tracked'
  if (await isIgnored(repo, way)) return 'ignored'
  return addLine(await excludeList(repo), `/${patternFor(way)}/`) ? 'excluded' : 'ignored'
}

/** Excludes the faces of loops in people's sessions, which are files below `folder`. If that fails, nothing is lost. */
export async function excludeFaces(dir: string, folder: string): Promise<void> {
  const repo = await openRepository(dir)
  const way = 'none' in repo ? undefined : pathBelow(repo.top, join(realpathSync(dir), folder))
  if ('none' in repo || way === undefined) return
  const face = `${way}/ralph-loop.local.md`
  if ((await isTracked(repo, face)) || (await repo.ask(['check-ignore', '--quiet', '--', face])).ok) return
  addLine(await excludeList(repo), `/${patternFor(way)}/${LOOP_FACES}`)
}

/** The repository's own exclude list. */
export async function excludeList(repo: Repository): Promise<string> {
  return resolve(repo.top, must(await repo.ask(['rev-parse', '--git-path', 'info/exclude'])))
}

/** Whether the repository has something at this path in its commits or its index. */
export async function isTracked(repo: Repository, way: string): Promise<boolean> {
  return must(await repo.ask(['--literal-pathspecs', 'ls-files', '--', way])) !== ''
}

/** Asks about something in the folder: git does not know that a path is a folder before it exists. */
async function isIgnored(repo: Repository, way: string): Promise<boolean> {
  return (await repo.ask(['check-ignore', '--quiet', '--', `${way}/any/thing`])).ok
}

/** The list cannot hold a line break; `?` matches any one character. */
export function patternFor(way: string): string {
  return way.replace(/[\\*?[\]]/g, '\\$&').replaceAll('\n', '?')
}

/** False if it is already there, but a rule of the repository overrides it. */
function addLine(list: string, line: string): boolean {
  try {
    const text = existsSync(list) ? readFileSync(list, 'utf8') : ''
    if (text.split('\n').includes(line)) return false
    mkdirSync(dirname(list), { recursive: true })
    appendFileSync(list, `${text === '' || text.endsWith('\n') ? '' : '\n'}${line}\n`)
    return true
  } catch (cause) {
    throw new RalphError('git-failed', `${list} cannot be written. Make it writable, or add the line ${line} to it.`, {
      cause,
    })
  }
}

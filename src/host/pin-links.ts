/**
 * The small files that point git from a worktree to its repository and to the configuration there. Whoever writes one
 * of them can point git to another configuration, so their content from the start of a loop is restored.
 */
import { cpSync, lstatSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { RalphError } from '../error.ts'
import { isFolder } from './files.ts'
import type { Site } from './git-site.ts'
import { codeOf } from './plain-words.ts'

/** `texts`: by path, of the files that existed; `absent`: must not exist; `head`: the content of HEAD. */
export type Links = { texts: Record<string, string>; absent: string[]; head: string }

export function readLinks({ top, gitDir, commonDir }: Site): Links {
  const isLinked = gitDir !== commonDir
  const paths = [join(top, '.git'), ...(isLinked ? ['commondir', 'gitdir'].map((name) => join(gitDir, name)) : [])]
  const texts = paths.map((path) => [path, textOf(path)] as const)
  return {
    texts: Object.fromEntries(texts.flatMap(([path, text]) => (text === undefined ? [] : [[path, text]]))),
    absent: isLinked ? [] : [join(gitDir, 'commondir')],
    head: textOf(join(gitDir, 'HEAD')) ?? '',
  }
}

/**
 * Returns what was repaired, in sentences. Looks at a few small files, and starts no program. A folder in the way goes
 * to `aside`.
 */
export function repairLinks({ gitDir }: Site, { texts, absent, head }: Links, aside: string): string[] {
  const repaired: string[] = []
  for (const path of absent)
    if (lstatSync(path, { throwIfNoEntry: false })) {
      replace(path, undefined, aside)
      repaired.push(
        `${path} was created during the loop and would have pointed git to another configuration. ralph removed it.`,
      )
    }
  for (const [path, text] of Object.entries(texts))
    if (isFolder(dirname(path)) && textOf(path) !== text) {
      replace(path, text, aside)
      repaired.push(`${path} was changed during the loop and would have pointed git elsewhere. ralph restored it.`)
    }
  const path = join(gitDir, 'HEAD')
  if (head !== '' && !isHead(textOf(path))) {
    replace(path, head, aside)
    repaired.push(`${path} was missing or damaged after a turn. ralph restored its original content: ${head.trim()}.`)
  }
  return repaired
}

function isHead(text: string | undefined): boolean {
  return text !== undefined && /^(ref: refs\/|[0-9a-f]{40})/.test(text)
}

/** Of a regular file: a link would point elsewhere, and a folder is something else. */
function textOf(path: string): string | undefined {
  try {
    return lstatSync(path).isFile() ? readFileSync(path, 'utf8') : undefined
  } catch (cause) {
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes(String(codeOf(cause)))) return undefined
    throw cause
  }
}

/** A folder in the way may be a repository that an agent made, with work in it. No text: nothing may be there. */
function replace(path: string, text: string | undefined, aside: string): void {
  try {
    if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory())
      cpSync(path, join(aside, `${basename(path)}-${Date.now()}`), { recursive: true })
    rmSync(path, { recursive: true, force: true })
    if (text !== undefined) writeFileSync(path, text)
  } catch (cause) {
    const right = text === undefined ? 'Remove it' : `Restore its content: ${text.trim()}`
    const why = cause instanceof Error ? cause.message : cause
    throw new RalphError(
      'git-failed',
      `${path} points git elsewhere, and ralph cannot change that: ${why}. ${right}.`,
      {
        cause,
      },
    )
  }
}

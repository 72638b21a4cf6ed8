/** Lists of files in shell scripts: from a pattern, `find`, `ls`, or one by one. */
import { isGlob, pathMatcher } from './glob.ts'
import type { Following } from './means-follow.ts'
import { join } from './means-paths.ts'

/** A pattern becomes its matches, relative to the folder; any other word stays as it is. */
export function globbed(following: Following, word: string, cwd: string): string[] {
  const whole = isGlob(word) ? join(cwd, word) : undefined
  if (whole === undefined) return [word]
  return pathsOf(following, pathMatcher(whole)).map((path) => seenFrom(following, path, cwd))
}

/** What `find` prints. */
export function filesFound(following: Following, args: readonly string[], cwd: string): string[] {
  const first = args.findIndex((word) => /^[-(!]/.test(word))
  const folders = (first < 0 ? args : args.slice(0, first)).map((word) => join(cwd, word))
  const patterns = args.flatMap((word, at) => (/^-i?name$/.test(args[at - 1] ?? '') ? [pathMatcher(word)] : []))
  const found = pathsOf(following, (path) => {
    if (!(folders.length === 0 ? [cwd] : folders).some((folder) => isBelow(path, folder))) return false
    const name = path.slice(path.lastIndexOf('/') + 1)
    return patterns.length === 0 || patterns.some((matches) => matches(name))
  })
  return found.map((path) => seenFrom(following, path, cwd))
}

/** What `ls`, `git ls-files`, `echo` and `printf` print, if it may be files; undefined for any other command. */
export function filesListed(following: Following, words: readonly string[], cwd: string): string[] | undefined {
  const [name = '', ...args] = words
  const plain = args.filter((word) => !word.startsWith('-'))
  if (name === 'echo' || name === 'printf') return plain.flatMap((word) => globbed(following, word, cwd))
  if (name === 'git' && plain[0] === 'ls-files')
    return plain
      .slice(1)
      .flatMap((word) => (isGlob(word) ? globbed(following, word, cwd) : inFolder(following, word, cwd)))
  if (name !== 'ls') return undefined
  return (plain.length === 0 ? ['.'] : plain).flatMap((word) => {
    if (isGlob(word)) return globbed(following, word, cwd)
    const names = inFolder(following, word, cwd).map((path) => path.slice(path.lastIndexOf('/') + 1))
    return names.length > 0 ? names : [word]
  })
}

function inFolder(following: Following, word: string, cwd: string): string[] {
  const folder = join(cwd, word)
  return pathsOf(following, (path) => isBelow(path, folder)).map((path) => seenFrom(following, path, cwd))
}

function isBelow(path: string, folder: string | undefined): boolean {
  return folder === '' || path === folder || path.startsWith(`${folder}/`)
}

function pathsOf({ files }: Following, isMeant: (path: string) => boolean): string[] {
  return [...files.paths].filter((path) => isMeant(path) && !/(^|\/)(node_modules|\.git)\//.test(path))
}

function seenFrom({ top }: Following, path: string, cwd: string): string {
  if (cwd === '') return path
  return path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : `${top}/${path}`
}

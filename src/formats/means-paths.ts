/** Which file a word of a command refers to. */
import type { Files } from './means.ts'
import type { Where } from './means-follow.ts'

/** The path that a word refers to; undefined: no known file. A leading variable may be any nearby folder. */
export function resolve(files: Files, top: string, word: string, where: Where): string | undefined {
  if (word === '') return undefined
  if (word.startsWith('/')) {
    const below = word.startsWith(`${top}/`) ? join('', word.slice(top.length + 1)) : undefined
    return below !== undefined && files.paths.has(below) ? below : undefined
  }
  const plain = withoutVariable(word)
  const folders = plain === word ? [where.cwd] : [where.beside, where.cwd, join(where.beside, '..') ?? '']
  return folders.map((folder) => join(folder, plain)).find((path) => path !== undefined && files.paths.has(path))
}

/** The absolute path of a word outside the repository; undefined: it is inside. */
export function resolveOutside(top: string, word: string, where: Where): string | undefined {
  if (word === '' || /^-/.test(word)) return undefined
  const plain = withoutVariable(word)
  if (plain !== word) return where.outside === undefined ? undefined : absolute(`${where.outside}/${plain}`)
  const path = absolute(word.startsWith('/') ? word : `${top}/${where.cwd}/${word}`)
  return path.startsWith(`${top}/`) ? undefined : path
}

function withoutVariable(word: string): string {
  return word.replace(/^.*\$(\{[^}]*\}|\(\)|\w+)\/*/s, '')
}

function absolute(path: string): string {
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return `/${parts.join('/')}`
}

/** Undefined: it is outside the repository. */
export function join(folder: string, path: string): string | undefined {
  const parts = folder === '' ? [] : folder.split('/')
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') parts.push(part)
    else if (parts.pop() === undefined) return undefined
  }
  return parts.join('/')
}

export function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

/** File name patterns as people write them: `*`, `**`, `?`, `[ab]` and `{a,b}`; a folder stands for everything below it. */

/** A pattern without a slash matches at any depth, as in .gitignore. */
export function matchesGlob(path: string, glob: string): boolean {
  const plain = glob.replace(/^(\.?\/)+/, '').replace(/\/+$/, '')
  if (plain === '' || plain === '.') return plain === '.' || glob === '/'
  const anywhere = plain.includes('/') ? '' : '(?:.*/)?'
  return new RegExp(`^${anywhere}${source(plain)}(?:/.*)?$`, 's').test(path)
}

/** The same with the stars of a shell or a runner: the whole path must match, and a folder stands only for itself. */
export function matchesPath(path: string, glob: string): boolean {
  return pathMatcher(glob)(path)
}

/** For many paths: the pattern is read once, and most paths are told by how it begins. */
export function pathMatcher(glob: string): (path: string) => boolean {
  const plain = glob.replace(/^(\.\/)+/, '')
  const [start = ''] = /^[^*?[{]*/.exec(plain) ?? []
  const whole = new RegExp(`^${source(plain)}$`, 's')
  return (path) => path.startsWith(start) && whole.test(path)
}

export function isGlob(text: string): boolean {
  return /[*?]|\{[^}]*,[^}]*\}|\[[^\]]+\]/.test(text)
}

/** Why it can mean no file of a folder; undefined: it may well. Whoever gives one to guard something must not guard nothing. */
export function globTrouble(glob: string): string | undefined {
  const plain = glob.replace(/\[[^\]/]*\]/g, '')
  if (glob.trim() === '') return 'is empty'
  if (/\p{Cc}/u.test(glob)) return 'has a control character'
  if (plain.includes('[')) return 'has a "[" that is never closed'
  if (plain.split('{').length > plain.split('}').length) return 'has a "{" that is never closed'
  if (!(glob.match(/\[[^\]/]+\]/g) ?? []).every((token) => isClass(classOf(token))))
    return 'has a range that ends before it begins'
  if (glob.split('/').includes('..')) return 'leads out of the folder with ".."'
  return undefined
}

/** What is said of a list of them that has one of no use. */
export const GLOBS_SUCH_AS = 'such as "test/**" (every bracket closed, no "..")'

const TOKEN = /\*\*\/|\*\*|\*|\?|\[[^\]/]+\]|[{},]|[^*?[{},]+|./gs

function source(glob: string): string {
  let open = 0
  const parts = (glob.match(TOKEN) ?? []).map((token) => {
    if (token === '**/') return '(?:.*/)?'
    if (token === '**') return '.*'
    if (token === '*') return '[^/]*'
    if (token === '?') return '[^/]'
    if (token === '{') {
      open++
      return '(?:'
    }
    if (token === '}' && open > 0) {
      open--
      return ')'
    }
    if (token === ',' && open > 0) return '|'
    if (/^\[.+\]$/.test(token) && isClass(classOf(token))) return classOf(token)
    return token.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  })
  return parts.join('') + ')'.repeat(open)
}

function classOf(token: string): string {
  return `[${token.slice(1, -1).replace(/^!/, '^').replaceAll('\\', '\\\\')}]`
}

function isClass(text: string): boolean {
  try {
    return new RegExp(text, 's').source !== ''
  } catch {
    return false // as [z-a]
  }
}

/** File name patterns as people write them: `*`, `**`, `?`, `[ab]` and `{a,b}`; a folder stands for everything below it. */

/** A pattern without a slash matches at any depth, as in .gitignore. */
export function matchesGlob(path: string, glob: string): boolean {
  const plain = plainGlob(glob)
  if (plain === '' || plain === '.') return plain === '.' || glob === '/'
  const anywhere = plain.includes('/') ? '' : '(?:.*/)?'
  return new RegExp(`^${anywhere}${source(plain)}(?:/.*)?$`, 's').test(path)
}

/** Strips a leading `./` and trailing slashes. */
export function plainGlob(glob: string): string {
  return glob.replace(/^(\.?\/)+/, '').replace(/\/+$/, '')
}

/** The same, as a shell or test runner matches: the whole path must match, and a folder stands only for itself. */
export function matchesPath(path: string, glob: string): boolean {
  return pathMatcher(glob)(path)
}

/** For many paths: the pattern is parsed once, and its literal prefix rules out most paths. */
export function pathMatcher(glob: string): (path: string) => boolean {
  const plain = glob.replace(/^(\.\/)+/, '')
  const [start = ''] = /^[^*?[{]*/.exec(plain) ?? []
  const whole = new RegExp(`^${source(plain)}$`, 's')
  return (path) => path.startsWith(start) && whole.test(path)
}

export function isGlob(text: string): boolean {
  return /[*?]|\{[^}]*,[^}]*\}|\[[^\]]+\]/.test(text)
}

/** Why it can match no file in a folder; undefined: it can. A protecting glob must not silently protect nothing. */
export function globTrouble(glob: string): string | undefined {
  const plain = glob.replace(/\[[^\]/]*\]/g, '')
  if (glob.trim() === '') return 'is empty'
  if (/\p{Cc}/u.test(glob)) return 'has a control character'
  if (plain.includes('[')) return 'has an unclosed "["'
  if (plain.split('{').length > plain.split('}').length) return 'has an unclosed "{"'
  if (!(glob.match(/\[[^\]/]+\]/g) ?? []).every((token) => isClass(classOf(token))))
    return 'has a range that ends before it begins'
  if (glob.split('/').includes('..')) return 'leaves the folder with ".."'
  return undefined
}

/** What an error about a useless glob says was expected. */
export const GLOBS_SUCH_AS = 'such as "test/**" (every bracket closed, no "..")'

const TOKEN = /\*\*\/|\*\*|\*|\?|\[[^\]/]+\]|[{},]|[^*?[{},]+|./gs

// The tokens: stars across folders, stars, a star, `?`; opening, separating and closing a choice; a class; literals.
export type GlobPart =
  | { kind: 'folders' | 'anything' | 'name' | 'letter' | 'open' | 'or' | 'close' }
  | { kind: 'class' | 'text'; text: string }

const KINDS = { '**/': 'folders', '**': 'anything', '*': 'name', '?': 'letter' } as const

/** An unclosed choice ends with the pattern. */
export function globParts(glob: string): GlobPart[] {
  let open = 0
  const parts = (glob.match(TOKEN) ?? []).map((token): GlobPart => {
    if (token === '**/' || token === '**' || token === '*' || token === '?') return { kind: KINDS[token] }
    if (token === '{') {
      open++
      return { kind: 'open' }
    }
    if (token === '}' && open > 0) {
      open--
      return { kind: 'close' }
    }
    if (token === ',' && open > 0) return { kind: 'or' }
    return { kind: /^\[.+\]$/.test(token) && isClass(classOf(token)) ? 'class' : 'text', text: token }
  })
  return [...parts, ...Array.from({ length: open }, (): GlobPart => ({ kind: 'close' }))]
}

function source(glob: string): string {
  return globParts(glob).map(partSource).join('')
}

function partSource(part: GlobPart): string {
  switch (part.kind) {
    case 'folders':
      return '(?:.*/)?'
    case 'anything':
      return '.*'
    case 'name':
      return '[^/]*'
    case 'letter':
      return '[^/]'
    case 'open':
      return '(?:'
    case 'or':
      return '|'
    case 'close':
      return ')'
    case 'class':
      return classOf(part.text)
    case 'text':
      return part.text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  }
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

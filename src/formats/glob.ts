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
  return new RegExp(`^${source(glob.replace(/^(\.\/)+/, ''))}$`, 's').test(path)
}

export function isGlob(text: string): boolean {
  return /[*?]|\{[^}]*,[^}]*\}|\[[^\]]+\]/.test(text)
}

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
    if (/^\[.+\]$/.test(token)) return `[${token.slice(1, -1).replace(/^!/, '^').replaceAll('\\', '\\\\')}]`
    return token.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  })
  return parts.join('') + ')'.repeat(open)
}

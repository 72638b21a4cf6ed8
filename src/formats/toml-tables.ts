/** Edits TOML by lines: moves some tables and keys into another text; the rest keeps its bytes. */

/** A table header, a key with its value, or what is between them. `path` includes the table's names. */
type Piece = { text: string; table: string; path: string; kind: 'header' | 'entry' | 'other' }

/** The tables and keys below a name: `tool.pytest` includes `tool.pytest.ini_options`. */
export function extractTables(text: string, names: readonly string[]): string | undefined {
  return parsePieces(text)
    ?.filter((piece) => piece.kind !== 'other' && isNamed(piece, names))
    .map(({ text }) => ensureBreak(text))
    .join('')
}

/** The rest without them. Comments stay: a person wrote them. */
export function removeTables(text: string, names: readonly string[]): string | undefined {
  return parsePieces(text)
    ?.filter((piece) => piece.kind === 'other' || !isNamed(piece, names))
    .map(({ text }) => text)
    .join('')
}

export function mixTables(rest: string, means: string, names: readonly string[]): string | undefined {
  const [own, given] = [parsePieces(rest), parsePieces(means)]
  if (!own || !given) return undefined
  const kept = own.filter((piece) => !isNamed(piece, names))
  for (const piece of given.filter((one) => one.kind !== 'other' && isNamed(one, names))) {
    const isOpen = piece.kind === 'entry' && !isNamed(headerOf(given, piece), names)
    const at = isOpen ? lastOf(kept, piece.table) : kept.length
    if (at === 0 && piece.table.includes('#')) continue // one of an array of tables that the rest does not have
    if (at === 0 && piece.table !== '') kept.push({ ...headerOf(given, piece) }, piece)
    else kept.splice(at, 0, piece)
  }
  return kept.map(({ text }, at) => (at < kept.length - 1 ? ensureBreak(text) : text)).join('')
}

function isNamed({ path }: Piece, names: readonly string[]): boolean {
  const plain = path.replace(/#[^.]*/g, '')
  return names.some((name) => plain === name || plain.startsWith(`${name}.`) || isFamily(plain, name))
}

/** `tool.pytest` has cousins such as `tool.pytest-watcher`, which prove nothing, and `tool.pytest_env`, which may. */
function isFamily(path: string, name: string): boolean {
  return name.startsWith('tool.') && path.startsWith(`${name}_`)
}

function headerOf(pieces: readonly Piece[], { table }: Piece): Piece {
  return pieces.find((piece) => piece.kind === 'header' && piece.table === table) ?? NO_HEADER
}

const NO_HEADER: Piece = { text: '', table: '', path: '', kind: 'header' }

/** The position after the last key of a table; 0 if there is no such table, or for top-level keys. */
function lastOf(pieces: readonly Piece[], table: string): number {
  return pieces.findLastIndex((piece) => piece.table === table && piece.kind !== 'other') + 1
}

/** Undefined: a string or list is never closed. */
function parsePieces(text: string): Piece[] | undefined {
  const pieces: Piece[] = []
  let table = ''
  let seen = 0
  let at = 0
  while (at < text.length) {
    const end = endOfEntry(text, at)
    if (end === undefined) return undefined
    const line = text.slice(at, end)
    const header = /^\s*(\[\[?)\s*([^\]]+?)\s*\]\]?/.exec(line)
    const key = /^\s*((?:[\w-]+|"[^"\n]*"|'[^'\n]*')(?:\s*\.\s*(?:[\w-]+|"[^"\n]*"|'[^'\n]*'))*)\s*=/.exec(line)?.[1]
    if (header) {
      const name = plainName(header[2] ?? '')
      table = header[1] === '[[' ? `${name}#${nameIn(text, end) ?? seen++}` : name
      pieces.push({ text: line, table, path: table, kind: 'header' })
    } else if (key !== undefined) {
      const path = table === '' ? plainName(key) : `${table}.${plainName(key)}`
      pieces.push({ text: line, table, path, kind: 'entry' })
    } else pieces.push({ text: line, table, path: table, kind: 'other' })
    at = end
  }
  return pieces
}

function plainName(name: string): string {
  return name.replace(/["'\s]/g, '')
}

/** The `name` in an array of tables, which identifies each. */
function nameIn(text: string, at: number): string | undefined {
  const body = /^(?:(?!\s*\[)[^\n]*\n?)*/.exec(text.slice(at))?.[0] ?? ''
  return /^\s*name\s*=\s*["']([^"'\n.]*)["']/m.exec(body)?.[1]
}

/** The position after the line break that ends this value: lists and long strings span several lines. */
function endOfEntry(text: string, from: number): number | undefined {
  let depth = 0
  for (let at = from; at < text.length; at++) {
    const char = text[at] ?? ''
    if (char === '#') {
      const end = text.indexOf('\n', at)
      at = (end < 0 ? text.length : end) - 1
    } else if (char === '"' || char === "'") {
      const end = endOfText(text, at, char)
      if (end === undefined) return undefined
      at = end - 1
    } else if (char === '[' || char === '{') depth++
    else if (char === ']' || char === '}') depth--
    else if (char === '\n' && depth <= 0) return at + 1
  }
  return depth > 0 ? undefined : text.length
}

function endOfText(text: string, from: number, quote: string): number | undefined {
  const mark = text.startsWith(quote.repeat(3), from) ? quote.repeat(3) : quote
  for (let at = from + mark.length; at < text.length; at++) {
    if (text[at] === '\\' && quote === '"') at++
    else if (text.startsWith(mark, at)) return at + mark.length
    else if (text[at] === '\n' && mark.length === 1) return undefined
  }
  return undefined
}

function ensureBreak(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}

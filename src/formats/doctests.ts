/** Finds the examples in Python sources and documents that doctest runs. */

/**
 * The examples with what makes them count: the name and depth of their definition, and how their docstring starts. The
 * same for sources that differ only in code and prose.
 */
export function extractExamples(text: string): string {
  if (!text.includes('>>>')) return ''
  const lines = text.split(/\r?\n/)
  const owned = ownersOf(lines)
  const found: string[] = []
  const owners = new Set<string>()
  for (let at = 0; at < lines.length; at++) {
    if (!isPrompt(lines[at])) continue
    const owner = owned[at] ?? ''
    found.push(owner)
    const [, name] = /(?:def|class) (\w+)$/.exec(owner.split('\n')[0] ?? '') ?? []
    if (name) owners.add(name)
    // Expected output ends at an empty line or at the end of the docstring.
    for (; at < lines.length && lines[at]?.trim() && (isPrompt(lines[at]) || !QUOTES.test(lines[at] ?? '')); at++)
      found.push(lines[at]?.trim() ?? '')
  }
  const again = lines.filter((line) => MEDDLES.test(line) || owners.has(givenBy(line)))
  return [...found, ...again.map((line) => line.trim().replace(/\(.*$/, ''))].join('\n')
}

const QUOTES = /"""|'''/
/** What decides whether examples are found at all. */
const MEDDLES = /\b(__doc__|__test__|doctest)\b/
/** The name that a line defines, deletes or reassigns. */
const GIVES = /^\s*(?:(?:async\s+def|def|class|del)\s+(\w+)|(\w+)\s*(?::[^=]*)?=(?!=))/

function givenBy(line: string): string {
  const [, defined, assigned] = GIVES.exec(line) ?? []
  return defined ?? assigned ?? ''
}

function isPrompt(line = ''): boolean {
  return /^\s*(?:[ru]?["']{3})?\s*>>>(\s|$)/i.test(line)
}

/** For every line, the definition its docstring belongs to. Documents have none. */
function ownersOf(lines: readonly string[]): string[] {
  let [owner, last, header] = ['', '', '']
  return lines.map((line) => {
    if (QUOTES.test(line)) owner = ownerOf(line, last, header)
    if (line.trim()) last = line
    if (HEADER.test(line)) header = line
    return owner
  })
}

/** `last`: the line before the one that opens the text; `header`: the last one that defines something. */
function ownerOf(opens: string, last: string, header: string): string {
  const before = opens.split(QUOTES)[0]?.trim() ?? ''
  // The end of a header that spans several lines.
  const first = /^\s*\)/.test(last) ? header : last
  const [, indent = '', kind, name] = HEADER.exec(first) ?? []
  return `${kind === undefined ? last.trim() : `${indent}${kind} ${name}`}\n${before}`
}

const HEADER = /^(\s*)(?:async\s+)?(def|class)\s+(\w+)/

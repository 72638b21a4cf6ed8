/** Separates the tests in Rust sources, the items after `#[cfg(test)]` and `#[test]`, from the work. */

type Span = { from: number; to: number }

/** Undefined if a brace, string or comment is never closed. */
export function extractTests(text: string): string | undefined {
  const spans = findTests(text)
  return spans?.map(({ from, to }) => text.slice(from, to).trim()).join('\n')
}

/** `rest` with the tests of `means`, in place of its own, or at the end. */
export function mixTests(rest: string, means: string): string | undefined {
  const [own, given] = [findTests(rest), findTests(means)]
  if (!own || !given) return undefined
  const texts = given.map(({ from, to }) => means.slice(from, to).trim())
  if (own.length === 0)
    return texts.length === 0 ? rest : `${rest.trimEnd()}${rest.trim() ? '\n\n' : ''}${texts.join('\n\n')}\n`
  let mixed = ''
  let at = 0
  for (const [index, { from, to }] of own.entries()) {
    const isLast = index === own.length - 1
    const instead = isLast ? texts.slice(index) : texts.slice(index, index + 1)
    mixed += rest.slice(at, from) + instead.join('\n\n')
    at = to
  }
  return mixed + rest.slice(at)
}

const MARK =
  /#\[\s*(?:cfg\s*\(\s*(?:test\b|all\s*\(\s*test\b|any\s*\(\s*test\b)|(?:\w+\s*::\s*)*test\b|rstest\b|ignore\b|should_panic\b)/y

/** The top-level items, and those inside `impl` and modules. */
function findTests(text: string): Span[] | undefined {
  const spans: Span[] = []
  if (!/#\[[^\]]*(test|ignore|should_panic)/.test(text)) return spans
  let at = 0
  let depth = 0
  while (at < text.length) {
    const next = skipText(text, at)
    if (next === undefined) return undefined
    if (next > at) {
      at = next
      continue
    }
    MARK.lastIndex = at
    if (text[at] === '#' && MARK.test(text)) {
      const to = endOfItem(text, at)
      if (to === undefined) return undefined
      spans.push({ from: at, to })
      at = to
      continue
    }
    if (text[at] === '{') depth++
    if (text[at] === '}' && --depth < 0) return undefined
    at++
  }
  return depth === 0 ? spans : undefined
}

/** The position after the closing brace or semicolon of the item that starts here with its attributes. */
function endOfItem(text: string, from: number): number | undefined {
  let braces = 0
  let others = 0
  for (let at = from; at < text.length; ) {
    const next = skipText(text, at)
    if (next === undefined) return undefined
    if (next > at) {
      at = next
      continue
    }
    const char = text[at++] ?? ''
    if (char === '{') braces++
    else if (char === '(' || char === '[') others++
    else if (char === ')' || char === ']') others--
    else if (char === ';' && braces === 0 && others === 0) return at
    else if (char === '}' && --braces === 0 && others === 0) return text[at] === ';' ? at + 1 : at
    if (braces < 0) return undefined
  }
  return undefined
}

const RAW = /\b(?:b|c)?r(#*)"/y
const CHARACTER = /'(?:\\(?:x[0-9a-fA-F]{2}|u\{[^}]*\}|.)|[^\\'\n])'/y

/** The position after the comment, string or character literal that starts here; the same position if none does. */
function skipText(text: string, at: number): number | undefined {
  if (text.startsWith('//', at)) {
    const end = text.indexOf('\n', at)
    return end < 0 ? text.length : end
  }
  if (text.startsWith('/*', at)) return endOfComment(text, at)
  RAW.lastIndex = at
  const raw = RAW.exec(text)
  if (raw) {
    const end = text.indexOf(`"${raw[1]}`, at + raw[0].length)
    return end < 0 ? undefined : end + 1 + (raw[1]?.length ?? 0)
  }
  if (text[at] === '"') {
    for (let end = at + 1; end < text.length; end++) {
      if (text[end] === '\\') end++
      else if (text[end] === '"') return end + 1
    }
    return undefined
  }
  CHARACTER.lastIndex = at
  const character = text[at] === "'" ? CHARACTER.exec(text) : null
  return character ? at + character[0].length : at
}

/** Rust comments can be nested. */
function endOfComment(text: string, from: number): number | undefined {
  let depth = 0
  for (let at = from; at < text.length - 1; at++) {
    const two = text.slice(at, at + 2)
    if (two === '/*' || two === '*/') {
      depth += two === '/*' ? 1 : -1
      at++
      if (depth === 0) return at + 1
    }
  }
  return undefined
}

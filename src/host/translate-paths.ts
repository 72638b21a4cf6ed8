/** Rewrites absolute paths in texts when the folder they point to is another one. */

/** `from`: the folder, by every name it has. Paths below `except` stay. */
export type Moved = { from: readonly string[]; to: string; except: string }

export function openTranslator({ from, to, except }: Moved): (text: string) => string {
  const names = [...new Set(from)].filter((name) => name !== '/').sort((a, b) => b.length - a.length)
  if (names.length === 0) return (text) => text
  // A path starts after a space, a quote, a sign, or a one-letter option; and what follows must not be part of the
  // name.
  const found = new RegExp(
    `(?<=^|[\\s'"\`=:;,(\\[{<>|&@!]|file://|(?:^|[\\s'"])-[A-Za-z])(?:${names.map(literal).join('|')})(?![^/\\s'"\`=:;,)\\]}<>|&\\\\])`,
    'gm',
  )
  return (text) => {
    if (!names.some((name) => text.includes(name))) return text // fast, since most texts are large and contain none
    return text.replace(found, (name, at: number) => {
      const path = text.slice(at, at + except.length + 1)
      return path === except || path === `${except}/` ? name : to
    })
  }
}

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}

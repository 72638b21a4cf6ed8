/** Removes names and file locations from recorded values, so that a report can be shared. */
import { maskSecrets } from './secrets.ts'

/** Paths are absolute; empty or meaningless values are ignored. */
export type Personal = {
  /** The folders that the loop works in. */
  project: readonly string[]
  /** Where ralph keeps its data. */
  ralph: readonly string[]
  home: readonly string[]
  user: readonly string[]
  host: readonly string[]
}

/** One text, redacted. A single pass, so that replacements are never replaced again. */
export function redactor(personal: Personal): (text: string) => string {
  const paths = [
    ...personal.project.map((path) => [path, '<project>'] as const),
    ...personal.ralph.map((path) => [path, '<ralph>'] as const),
    ...personal.home.map((path) => [path, '~'] as const),
  ].flatMap(([path, mark]) => (path.length > 1 ? [[path.replace(/\/+$/, ''), mark] as const] : []))
  const names = [
    ...personal.user.map((name) => [name, '<user>'] as const),
    ...personal.host.map((name) => [name, '<host>'] as const),
  ].filter(([name]) => name.length > 1 && !COMMON.has(name.toLowerCase()))
  // The longest first, so that the inner of two nested folders wins. Of two marks for the same value, the first wins.
  const marks = [...paths, ...names].sort(([a], [b]) => b.length - a.length)
  const markOf = new Map(marks.toReversed().map(([text, mark]) => [text.toLowerCase(), mark]))
  const known = marks.map(([text]) => (text.startsWith('/') ? pathPattern(text) : namePattern(text)))
  const pattern = new RegExp([EMAIL, ...known].join('|'), 'giu')
  return (text) =>
    maskSecrets(text)
      .replace(LOGIN, '<login>')
      .replace(pattern, (found) => markOf.get(found.toLowerCase()) ?? '<email>')
}

/** The credentials in a URL: https://name:password@host. */
const LOGIN = /(?<=:\/\/)[^\s/@:]+:[^\s/@]+(?=@)/g

// Only at the start of a word, so that a long word without an @ is scanned once, not once per character.
const EMAIL = '(?<![\\w.%+-])[\\w.%+-]+@(?:[a-z0-9-]+\\.)+[a-z]{2,}(?![\\w-])'

/** A path is found anywhere, as in -I/home/somebody. One like /root is part of many others, so it must stand alone. */
function pathPattern(path: string): string {
  const isShort = path.lastIndexOf('/') === 0
  return isShort ? `(?<![\\p{L}\\p{N}_.~/-])${escaped(path)}(?![\\p{L}\\p{N}_.-])` : escaped(path)
}

function namePattern(name: string): string {
  return `(?<![\\p{L}\\p{N}])${escaped(name)}(?![\\p{L}\\p{N}])`
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}

/** Common account and machine names: they reveal nothing, and many are words in commands, such as `node --test`. */
const COMMON: ReadonlySet<string> = new Set(
  [
    'admin administrator agent app build builder ci claude codex codespace container copilot cursor debian default desktop',
    'dev developer docker droid ec2-user fedora gemini git gitpod guest home host jenkins kilo laptop linux local localhost',
    'mac macbook main me my node nobody opencode pc person pi project qwen ralph root run runner server service src test',
    'tester testing tests tmp ubuntu user username users vagrant vscode web work worker workspace you',
  ].flatMap((line) => line.split(' ')),
)

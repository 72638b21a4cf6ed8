/** The configuration of a repository: what `git config --list` prints, and a file that says the same. */

/** `key` as git prints it: section and name in small letters. No value: it is only named, which means true. */
export type Setting = { key: string; value?: string }

/** `scope`: local, worktree, global …; `file`: where it stands, empty where it stands in none. */
export type Listed = Setting & { scope: string; file: string }

/** What `git config --list --show-scope --show-origin -z` prints: scope, origin, then key, line break and value, each with a zero. */
export function parseSettings(listed: string): Listed[] {
  const fields = listed.split('\0')
  const settings: Listed[] = []
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [scope = '', origin = '', entry = ''] = fields.slice(at, at + 3)
    const file = origin.startsWith('file:') ? origin.slice('file:'.length) : ''
    const end = entry.indexOf('\n')
    const known = end < 0 ? { key: entry } : { key: entry.slice(0, end), value: entry.slice(end + 1) }
    settings.push({ scope, file, ...known })
  }
  return settings
}

/** A configuration file with these settings, in their order. */
export function printSettings(settings: readonly Setting[]): string {
  return settings
    .map(({ key, value }) => {
      const [first, last] = [key.indexOf('.'), key.lastIndexOf('.')]
      const part = first === last ? '' : ` "${key.slice(first + 1, last).replace(/["\\]/g, '\\$&')}"`
      const name = key.slice(last + 1)
      return `[${key.slice(0, first)}${part}]\n\t${name}${value === undefined ? '' : ` = "${escaped(value)}"`}\n`
    })
    .join('')
}

function escaped(value: string): string {
  return value.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\t', '\\t')
}

/** Keys that agents set as a part of their work, and for which no commit or checkout runs a program: where branches are pushed, who commits. */
export function isHarmless(key: string): boolean {
  return HARMLESS.test(key)
}

/** All values of a key as one text: some are lists. */
export function valuesOf(settings: readonly Setting[]): Map<string, string> {
  const values = new Map<string, string>()
  for (const { key, value } of settings) values.set(key, `${values.get(key) ?? ''}\0${value ?? 'true'}`)
  return values
}

const HARMLESS = /^(branch\..*|user\.(name|email)|remote\..*\.(url|pushurl|fetch)|submodule\.(.*\.)?(active|url))$/s

/** Reads what `git config --list` prints, and writes it as a configuration file. */

/** `key` as git prints it: section and name in lower case. No value means true. */
export type Setting = { key: string; value?: string }

/** `scope`: local, worktree, global …; `file`: where it is set, empty if not in a file. */
export type Listed = Setting & { scope: string; file: string }

/** Parses `git config --list --show-scope --show-origin -z`: scope, origin, key, newline, value; NUL-terminated. */
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

/** A configuration file with these settings, in this order. */
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

/** Keys that agents set as part of their work and that never run a program: where branches are pushed, who commits. */
export function isHarmless(key: string): boolean {
  return HARMLESS.test(key)
}

/** All values of a key as one string, since some are lists. */
export function valuesOf(settings: readonly Setting[]): Map<string, string> {
  const values = new Map<string, string>()
  for (const { key, value } of settings) values.set(key, `${values.get(key) ?? ''}\0${value ?? 'true'}`)
  return values
}

const HARMLESS = /^(branch\..*|user\.(name|email)|remote\..*\.(url|pushurl|fetch)|submodule\.(.*\.)?(active|url))$/s

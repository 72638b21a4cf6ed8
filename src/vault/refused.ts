/** Files that `ralph watch` did not begin: they lie in Failed, each with a note that says why. */
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { noteOf } from './approval.ts'
import { FAILED, NEEDS_ACTION, namesIn } from './place.ts'
import { statOf } from './where.ts'

/** The title of its note, by which it is known from that of a task that failed. */
export function refusedTitle(file: string): string {
  return `${file} was not begun`
}

/** `place` is where it lies now, `from` where it came from, both from the vault on. */
export type Refused = { place: string; from: string; at: number; why: string }

export function refusedSince(vault: string, since: number): Refused[] {
  return namesIn(join(vault, FAILED))
    .sort()
    .flatMap((name) => {
      const note = readNote(vault, name)
      const file = note && /^(.+) was not begun$/s.exec(note.title)?.[1]
      if (!file || note.at < since) return []
      return [{ place: `${FAILED}/${name}`, from: `${NEEDS_ACTION}/${basename(file)}`, at: note.at, why: note.why }]
    })
}

export type Note = { title: string; why: string; at: number }

/** The note beside a file in Failed. Undefined: there is none that can be read. */
export function readNote(vault: string, name: string): Note | undefined {
  const path = join(vault, FAILED, noteOf(name))
  const stat = statOf(path)
  if (!stat?.isFile()) return undefined
  try {
    const [, title = '', why = ''] = /^# (.+?)\n\n(.*?)\n(?:\n|$)/s.exec(readFileSync(path, 'utf8')) ?? []
    return { title, why, at: stat.mtimeMs }
  } catch {
    return undefined // it belongs to somebody else
  }
}

/** Files that `ralph watch` refused: they are in Failed, each with a note that says why. */
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseWhyNote, type WhyNote } from '../formats/why-note.ts'
import { noteOf } from './approval.ts'
import { FAILED, NEEDS_ACTION, namesIn } from './place.ts'
import { statOf } from './where.ts'

/** `place` is where it is now, `from` where it came from, both relative to the vault. */
export type Refused = { place: string; from: string; at: number; why: string }

export function refusedSince(vault: string, since: number): Refused[] {
  return namesIn(join(vault, FAILED))
    .sort()
    .flatMap((name) => {
      const note = readNote(vault, name)
      if (note?.kind !== 'refused' || note.at < since) return []
      // Anyone can write a note, and the user is told to move the file there.
      const from = `${NEEDS_ACTION}/${basename(note.from)}`
      return [{ place: `${FAILED}/${name}`, from, at: note.at, why: note.why }]
    })
}

export type Note = WhyNote & { at: number }

/** ralph's note about a file in Failed. Undefined: nothing readable. */
export function readNote(vault: string, name: string): Note | undefined {
  const path = join(vault, FAILED, noteOf(name))
  const stat = statOf(path)
  if (!stat?.isFile()) return undefined
  try {
    const note = parseWhyNote(readFileSync(path, 'utf8'))
    return note && { ...note, at: stat.mtimeMs }
  } catch {
    return undefined // it belongs to someone else
  }
}

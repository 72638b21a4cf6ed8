/** Files that ralph itself moves: back from approval when approved, and to Failed when a task failed or is invalid. */
import { readFileSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import type { Loop } from '../engine/loop.ts'
import { allChecks } from '../engine/stages.ts'
import { RalphError } from '../error.ts'
import { parseWhyNote, printWhyNote, type WhyNote } from '../formats/why-note.ts'
import { replaceFile } from '../host/files.ts'
import { FAILED, prepareFolders } from './place.ts'
import { removeHalves } from './state-file.ts'
import type { VaultTask } from './vault-task.ts'
import { findFile, isPlainFile, PENDING, statOf } from './where.ts'

/** Moves it back to where it was. Does nothing if it never left. */
export function comeBack({ path, file, from }: VaultTask): void {
  if (!isPlainFile(join(path, PENDING, file))) return
  if (statOf(join(path, from)))
    throw new RalphError(
      'file-unusable',
      `${PENDING}/${file} cannot be moved back: ${from} already exists. Move that one away, then approve again.`,
    )
  move(join(path, PENDING, file), join(path, from))
}

/** Whether a person rejected it. */
export function isRejected({ next }: Loop): boolean {
  return next.kind === 'halt' && next.rejected === true
}

/** Moves it to Failed, with a note that says why. Undefined if the file no longer exists. */
export function moveToFailed(task: VaultTask, loop: Loop, at: number): string | undefined {
  const { path, file, id, from, done } = task
  const found = findFile(task)
  // Anywhere else, a person put it there.
  const isOurs =
    found === undefined || [from, `${done}/${file}`, `${PENDING}/${file}`, `${FAILED}/${file}`].includes(found)
  if (!isOurs) return found
  return putAway(path, {
    file,
    from,
    place: found,
    kind: 'failed',
    title: `${id} was not completed`,
    why: loop.next.kind === 'halt' ? loop.next.sentence : 'It was stopped.',
    facts: [
      `iterations: ${loop.tally.iteration}`,
      ...(loop.tally.failures ? [`not all checks pass: ${allChecks(loop.spec).join(', ')}`] : []),
      `stopped: ${new Date(at).toISOString()}`,
      `details: \`ralph show ${loop.id}\``,
    ],
  })
}

/** `place` is where it is now, `from` where work on it starts; both relative to the vault. */
export type Leaving = WhyNote & {
  file: string
  place: string | undefined
  title: string
  facts: readonly string[]
}

export function putAway(vault: string, { file, place, ...about }: Leaving): string | undefined {
  prepareFolders(vault, [FAILED])
  const folder = join(vault, FAILED)
  const stays = place === `${FAILED}/${file}`
  const name = stays ? file : freeName(folder, file)
  const advice = `To try it again, fix that and move ${FAILED}/${name} back to ${about.from}.`
  // Before the file moves: if ralph is killed in between, the file is still found and moved again.
  writeNote(folder, noteOf(name), printWhyNote({ ...about, ...(place === undefined ? {} : { advice }) }))
  if (place !== undefined && !stays) moveWithNote(join(vault, place), join(folder, name))
  return place === undefined ? undefined : `${FAILED}/${name}`
}

function writeNote(folder: string, note: string, text: string): void {
  const path = join(folder, note)
  try {
    removeHalves(folder, note)
    replaceFile(path, text, { temporary: join(folder, `.${note}.${process.pid}.1.tmp`), mode: 0o644 })
  } catch (cause) {
    throw new RalphError('file-unusable', `${path} cannot be written. Make its folder writable.`, { cause })
  }
}

function moveWithNote(from: string, to: string): void {
  try {
    move(from, to)
  } catch (cause) {
    rmSync(join(dirname(to), noteOf(basename(to))), { force: true }) // the file stays where it is, so it needs no note
    throw cause
  }
}

/** Removes the note about a file that is tried again. Notes about other files of that name, or by people, stay. */
export function forgetNote(vault: string, file: string): void {
  if (statOf(join(vault, FAILED, file))) return
  const note = join(vault, FAILED, noteOf(file))
  try {
    if (parseWhyNote(readFileSync(note, 'utf8'))) rmSync(note)
  } catch {
    // There is none, or none that may be touched: it does no harm.
  }
}

/** The name of the note next to a file. */
export function noteOf(name: string): string {
  return `${cut(name)}.why.md`
}

const LONGEST_NAME = 230

/** A name may be as long as the file system allows, which leaves no room for a suffix. */
function cut(name: string): string {
  return Buffer.byteLength(name) <= LONGEST_NAME ? name : Buffer.from(name).subarray(0, LONGEST_NAME).toString()
}

function freeName(folder: string, file: string): string {
  const ending = extname(file)
  const stem = file.slice(0, file.length - ending.length)
  for (let n = 1; ; n++) {
    const name = n === 1 ? file : `${stem}-${n}${ending}`
    if (!statOf(join(folder, name))) return name
  }
}

function move(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (cause) {
    throw new RalphError('file-unusable', `${from} cannot be moved to ${to}. Make both folders writable.`, { cause })
  }
}

/** Files that ralph itself moves: back from approval when a person says so, and away when a task has failed. */
import { lstatSync, mkdirSync, renameSync } from 'node:fs'
import { extname, join } from 'node:path'
import type { Loop, VaultTask } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { writeWhole } from '../host/files.ts'
import { findFile, isPlainFile, PENDING } from '../host/vault.ts'
import { FAILED } from './place.ts'

/** To where it lay before. Nothing happens where it never went away. */
export function comeBack({ path, file, from }: VaultTask): void {
  if (!isPlainFile(join(path, PENDING, file))) return
  if (lstatSync(join(path, from), { throwIfNoEntry: false }))
    throw new RalphError(
      'file-unusable',
      `${PENDING}/${file} cannot come back: another ${from} is there. Move that one away, then approve again.`,
    )
  move(join(path, PENDING, file), join(path, from))
}

/** Beside it lies a note that says why. Undefined when there is no file any more. */
export function sendAway(task: VaultTask, loop: Loop, at: number): string | undefined {
  const { path, file, id, from } = task
  const place = findFile(task)
  const folder = join(path, FAILED)
  mkdirSync(folder, { recursive: true })
  const name = freeName(folder, file)
  if (place !== undefined) move(join(path, place), join(folder, name))
  const why = loop.next.kind === 'halt' ? loop.next.sentence : 'It was stopped.'
  const again = place === undefined ? '' : `\nTo try it again, move ${FAILED}/${name} back to ${from}.\n`
  writeWhole(
    join(folder, `${name}.why.md`),
    `# ${id} was not done\n\n${why}\n\n- iterations: ${loop.tally.iteration}\n- stopped: ${new Date(at).toISOString()}\n- its story: \`ralph show ${loop.id}\`\n${again}`,
    0o644,
  )
  return place === undefined ? undefined : `${FAILED}/${name}`
}

function freeName(folder: string, file: string): string {
  const ending = extname(file)
  const stem = file.slice(0, file.length - ending.length)
  for (let n = 1; ; n++) {
    const name = n === 1 ? file : `${stem}-${n}${ending}`
    if (!lstatSync(join(folder, name), { throwIfNoEntry: false })) return name
  }
}

function move(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (cause) {
    throw new RalphError('file-unusable', `${from} cannot be moved to ${to}. Make both folders writable.`, { cause })
  }
}

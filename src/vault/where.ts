/** Where the file of a vault's task is, and what that says about a turn. */
import { lstatSync, readdirSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { ALLOW, type Ask, type Loop, type Turn } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import type { VaultTask } from './vault-task.ts'

export const PENDING = 'Pending_Approval'

/** `open`: in another folder of the vault. */
export type Where = 'done' | 'pending' | 'open' | 'gone'

export function whereIs(task: VaultTask): Where {
  const found = findFile(task)
  if (!found) return 'gone'
  return found === `${task.done}/${task.file}` ? 'done' : found === `${PENDING}/${task.file}` ? 'pending' : 'open'
}

type Lying = Pick<VaultTask, 'path' | 'file' | 'done' | 'from' | 'others'>

/** The path of the file, relative to the vault; the done folder is searched first. */
export function findFile({ path, file, done, from, others }: Lying): string | undefined {
  return [
    `${done}/${file}`,
    `${PENDING}/${file}`,
    from,
    file,
    ...namesIn(path).map((folder) => `${folder}/${file}`),
  ].find((place, n) => {
    const stat = statOf(join(path, place))
    return stat?.isFile() && (n < 3 || !others?.includes(stat.ino)) // in its own places, any file of that name is it
  })
}

/** A missing vault says nothing about its tasks: it may be a disk that comes back. */
function namesIn(vault: string): string[] {
  try {
    return readdirSync(vault)
  } catch (cause) {
    throw new RalphError('file-unusable', `The vault ${vault} cannot be read. Make it readable, then try again.`, {
      cause,
    })
  }
}

/** A link does not count: its target is not in the vault. */
export function isPlainFile(path: string): boolean {
  return statOf(path)?.isFile() === true
}

/** Undefined: nothing is there, or nothing accessible. Links are not followed. */
export function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined // below a file, name too long, or no permission
  }
}

/** The question that follows from where the file is. */
export function askFor({ file }: Pick<VaultTask, 'file'>, where: 'pending' | 'gone'): Ask {
  return where === 'pending'
    ? { kind: 'person', words: `${file} is waiting in ${PENDING} for your approval.`, about: 'approval' }
    : { kind: 'person', words: `${file} is no longer in the vault.`, about: 'gone' }
}

/** Whether a task waits because of where its file is, not because its agent has a question. */
export function isAboutFile({ next }: Pick<Loop, 'next'>): boolean {
  return next.kind === 'wait' && next.about !== undefined && next.about !== ALLOW
}

/** Here the file makes the claim, not words. */
export function judgeByPlace(task: VaultTask, turn: Turn): Turn {
  const where = whereIs(task)
  const { ask, ...rest } = turn
  if (where === 'done') return { ...rest, claim: { kind: 'clear' } }
  return { ...turn, claim: { kind: 'none' }, ...(where === 'open' ? {} : { ask: askFor(task, where) }) }
}

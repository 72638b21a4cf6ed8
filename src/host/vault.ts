/** Where the file of a vault's task lies, and what that says about a turn. */
import { lstatSync, readdirSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import type { Turn, VaultTask } from '../engine/loop.ts'
import { RalphError } from '../error.ts'

export const PENDING = 'Pending_Approval'

/** `open`: in another folder of the vault. */
export type Where = 'done' | 'pending' | 'open' | 'gone'

export function whereIs(task: VaultTask): Where {
  const found = findFile(task)
  if (!found) return 'gone'
  return found === `${task.done}/${task.file}` ? 'done' : found === `${PENDING}/${task.file}` ? 'pending' : 'open'
}

type Lying = Pick<VaultTask, 'path' | 'file' | 'done' | 'from' | 'others'>

/** The way to the file from the vault on; in the folder for what is done it is looked for first. */
export function findFile({ path, file, done, from, others }: Lying): string | undefined {
  return [
    `${done}/${file}`,
    `${PENDING}/${file}`,
    from,
    file,
    ...namesIn(path).map((folder) => `${folder}/${file}`),
  ].find((place, n) => {
    const stat = statOf(join(path, place))
    return stat?.isFile() && (n < 3 || !others?.includes(stat.ino)) // in its own places any file is it
  })
}

/** A vault that is not there says nothing about its tasks: it may be a disk that comes back. */
function namesIn(vault: string): string[] {
  try {
    return readdirSync(vault)
  } catch (cause) {
    throw new RalphError('file-unusable', `The vault ${vault} cannot be read. Put it back, then try again.`, { cause })
  }
}

/** A link is none: what it points to is not in the vault. */
export function isPlainFile(path: string): boolean {
  return statOf(path)?.isFile() === true
}

/** Undefined: nothing is there, or nothing that may be seen. A link is not followed. */
export function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined // below a file, with a name that is too long, or in a folder of somebody else
  }
}

/** What a person is asked when the file lies where approvals are waited for. */
export function approvalQuestion(task: Pick<VaultTask, 'file'>): string {
  return questionFor(task, 'pending') || ''
}

/** What a question is about: `approval` and `gone` are asked by where the file is, all else by the agent. */
export function askedAbout(task: Pick<VaultTask, 'file'>, question: string | undefined): 'approval' | 'gone' | 'agent' {
  if (question === questionFor(task, 'pending')) return 'approval'
  return question === questionFor(task, 'gone') ? 'gone' : 'agent'
}

function questionFor({ file }: Pick<VaultTask, 'file'>, where: Where): string | false {
  return where === 'pending'
    ? `${file} waits in ${PENDING} for your approval.`
    : where === 'gone' && `${file} is in no folder of the vault any more.`
}

/** Words claim nothing here: the file does. */
export function judgeTurn(task: VaultTask, turn: Turn): Turn {
  const where = whereIs(task)
  const { ask, ...rest } = turn
  if (where === 'done') return { ...rest, claim: { kind: 'clear' } }
  const words = questionFor(task, where)
  return { ...turn, claim: { kind: 'none' }, ...(words ? { ask: { kind: 'person', words } } : {}) }
}

/** The names by which a task is found on its remote: its branch, and next to it what only ralph reads. */
import { RalphError } from '../error.ts'
import { refOf } from './checkpoint.ts'

/** Where a task lives: `home` is on this machine, `repo` is the remote that the machines share. */
export type TaskPlace = { home: string; repo: string; branch: string; loop: string }

/** A branch of the remote, whoever it belongs to. git would read some names as several. */
export function mustBeBranch(branch: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: git refuses them as well
  if (branch === '' || /^[-/]|[/.]$|\.lock$|\.\.|\/\/|@\{|[\u0000-\u0020\u007f~^:?*[\\]/.test(branch))
    throw new RalphError('input-invalid', `${JSON.stringify(branch)} is not a valid branch name.`)
}

/** Everything ralph writes on a remote is below `ralph/`, so that no other branch is ever at risk. */
export function mustBeOurs({ branch, loop }: Pick<TaskPlace, 'branch' | 'loop'>): void {
  if (!/^ralph\/[\w][\w.-]*$/.test(branch) || /\.\.|\.$|\.lock$/.test(branch))
    throw new RalphError(
      'input-invalid',
      `${JSON.stringify(branch)} is not a task branch. ralph only pushes to ralph/<task>, where <task> consists of letters, digits and . _ -`,
    )
  if (!/^[\w-]+$/.test(loop)) throw new Error(`${JSON.stringify(loop)} is not a loop`)
}

export function headOf(branch: string): string {
  return `refs/heads/${branch}`
}

/** Names the epoch of the lease under which a worker may push. */
export function fenceRef(loop: string): string {
  return refOf(loop, 'fence')
}

/** Holds the records about the means of proof on disk at the start. */
export function marksRef(loop: string): string {
  return refOf(loop, 'marks')
}

/** The number of a checkpoint; undefined: the ref is something else. */
export function numberIn(loop: string, ref: string): number | undefined {
  const name = ref.startsWith(refOf(loop, '')) ? ref.slice(refOf(loop, '').length) : ''
  return /^\d+$/.test(name) ? Number(name) : undefined
}

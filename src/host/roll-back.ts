/**
 * Rolls back to a checkpoint of a loop, and undoes that: even after a kill, one undo restores what was there before.
 */
import { RalphError } from '../error.ts'
import { listCheckpoints, NOW, readCheckpoint, refOf, UNFINISHED } from './checkpoint.ts'
import { type Restoring, restore, valuesOf } from './restore.ts'

/** Goes back to the state after iteration n. Returns what else a person should know. */
export async function rollBack(restoring: Restoring, n: number): Promise<string[]> {
  const names = await listCheckpoints(restoring.repo, restoring.loop)
  if (!names.includes(String(n))) throw noCheckpoint(restoring, n, names)
  const last = latest(names, 'before')
  if (last > 0 && (await wasCutOff(restoring, names))) {
    const notes = await startOver(restoring, names)
    return [...notes, ...(await restore(restoring, String(n), { safety: `before/${last}`, marked: true }))]
  }
  // A ralph that was killed at its very end may have done it; what was there before is already kept.
  if (await hasGoneTo(restoring, n, last)) return []
  return restore(restoring, String(n), { safety: `before/${last + 1}`, marked: true })
}

/** Whether the last rollback or undo was killed halfway. What an iteration has worked on since is a separate state. */
async function wasCutOff({ repo, loop }: Restoring, names: readonly string[]): Promise<boolean> {
  if (!names.includes(UNFINISHED)) return false
  const [kept, now] = await Promise.all([UNFINISHED, NOW].map((name) => readCheckpoint(repo, refOf(loop, name))))
  return kept?.since === now?.commit
}

/**
 * First restores what was there before the interrupted rollback or undo, so that nobody mistakes half of it for a
 * state.
 */
async function startOver(restoring: Restoring, names: readonly string[]): Promise<string[]> {
  const before = `before/${latest(names, 'before')}`
  const safety = `cut-off/${latest(names, 'cut-off') + 1}`
  await restore(restoring, before, { safety, marked: true, drops: before, cutOff: true })
  return [
    `The last rollback was interrupted, so it was undone first. The files it left are kept as ${refOf(restoring.loop, safety)}.`,
  ]
}

/** Whether the last rollback went to this state, and nothing has changed since. */
async function hasGoneTo({ repo, snapshots, loop }: Restoring, n: number, last: number): Promise<boolean> {
  if (last === 0) return false
  const [target, before, at] = await Promise.all([
    readCheckpoint(repo, refOf(loop, n)),
    readCheckpoint(repo, refOf(loop, `before/${last}`)),
    readCheckpoint(repo, refOf(loop, NOW)),
  ])
  if (!target || before?.to !== target.commit || at?.commit !== target.commit || !target.index) return false
  const now = await snapshots.take()
  if (now?.tree !== target.tree || now.head !== target.head || now.branch !== target.branch) return false
  const refs = await valuesOf(repo, target.refs)
  if ([...target.refs].some(([ref, commit]) => refs.get(ref) !== commit)) return false
  return (await repo.ask(['diff-index', '--cached', '--quiet', `${target.index}:staged`, '--'])).ok
}

export function noCheckpoint(
  { repo, loop }: Pick<Restoring, 'repo' | 'loop'>,
  n: number | string,
  names: readonly string[],
): RalphError {
  const numbers = names
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .sort((a, b) => a - b)
  const there = numbers.length > 0 ? `It has ${numbers[0]} to ${numbers.at(-1)}; 0 is the start.` : 'It has none.'
  return new RalphError('checkpoint-missing', `Loop ${loop} has no checkpoint ${n} in ${repo.top}. ${there}`)
}

/** Brings a recreated worktree to its last known state. */
export async function bringUpToDate(restoring: Restoring): Promise<void> {
  const names = await listCheckpoints(restoring.repo, restoring.loop)
  if (names.includes(NOW)) await restore(restoring, NOW, { safety: 'made-again' })
}

/** Takes the last rollback back. The current state is kept as well. */
export async function undoRollBack(restoring: Restoring): Promise<string[]> {
  const { repo, loop } = restoring
  const names = await listCheckpoints(repo, loop)
  const last = latest(names, 'before')
  if (last === 0) throw new RalphError('checkpoint-missing', `Nothing to undo: loop ${loop} has no rollback.`)
  const kept = `undone/${latest(names, 'undone') + 1}`
  const before = `before/${last}`
  const cutOff = await wasCutOff(restoring, names)
  const notes = await restore(restoring, before, { safety: kept, marked: true, drops: before, cutOff })
  return [...notes, `The previous state is kept as ${refOf(loop, kept)}.`]
}

function latest(names: readonly string[], kind: string): number {
  return Math.max(
    0,
    ...names.flatMap((name) => (name.startsWith(`${kind}/`) ? [Number(name.slice(kind.length + 1))] : [])),
  )
}

/** The commit messages of accepted work: they name the proof only if the files are those it was made for. */
import { count } from '../engine/limits.ts'
import type { Loop, Worktree } from '../engine/loop.ts'
import { treeIn } from '../host/tree.ts'

/** What a commit contains. `merged`: together with other work. */
export type Held = { tree: string; merged?: boolean }

/** The task as the subject, truncated as git conventions ask. */
export function commitMessage(loop: Loop, held: Held): string {
  const line = loop.spec.prompt.trim().split('\n')[0] ?? ''
  const subject = line.length > 70 ? `${line.slice(0, 69)}…` : line
  return `${subject}\n\nralph loop ${loop.id}: ${endWords(loop, held)}.\n\n${trailers(loop, held)}`
}

export function mergeMessage(loop: Loop, { branch }: Worktree, held: Held): string {
  return `Merge branch '${branch}'\n\n${trailers(loop, held)}`
}

/** The value of the trailer Ralph-Proof. Undefined: the proof was made for different files. */
export function proofTrailer(loop: Loop, { tree, merged }: Held): string | undefined {
  if (loop.next.kind !== 'complete') return 'none'
  if (!isProven(loop, tree)) return undefined
  return merged ? `${loop.next.proof} (tree ${tree.slice(0, 12)}, before the merge)` : loop.next.proof
}

/** Whether these are exactly the files that the loop was graded for; one without a grade vouches for nothing. */
export function isProven({ next, tally }: Loop, tree: string): boolean {
  return next.kind !== 'complete' || treeIn(tally.tree ?? '') === tree
}

function endWords(loop: Loop, { tree }: Held): string {
  const { next, tally } = loop
  const after = `after ${count(tally.iteration, 'iteration')}`
  if (!isProven(loop, tree)) return `complete ${after}, but with different files than these`
  if (next.kind === 'complete') return `complete, proof: ${next.proof}, ${after}`
  return next.kind === 'halt' ? `halted (${next.reason}), ${after}` : after
}

/** The proof, as git trailers. */
function trailers(loop: Loop, held: Held): string {
  const proof = proofTrailer(loop, held)
  return `Ralph-Loop: ${loop.id}\n${proof === undefined ? '' : `Ralph-Proof: ${proof}\n`}`
}

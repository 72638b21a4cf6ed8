/** What a ralph that was killed left half-done in a person's checkout is taken back as soon as somebody looks. */

import { isRalphError } from '../error.ts'
import { type Repaired, repairCheckout, repairCheckouts, repairedWords } from '../host/arrival.ts'
import { repositoryAt } from '../host/branch.ts'
import type { Context } from './operation.ts'

/** In all checkouts. Returns what a person should know; what stands in the way of it is part of that, and stops nothing. */
export async function mendAll({ home }: Pick<Context, 'home'>): Promise<string[]> {
  try {
    return (await repairCheckouts(home)).map(toldWithWhatToDo)
  } catch (cause) {
    if (isRalphError(cause)) return [cause.message]
    throw cause
  }
}

function toldWithWhatToDo(mended: Repaired): string {
  return mended.again === undefined ? repairedWords(mended) : `${repairedWords(mended)} Do it again: ${mended.again}`
}

/** In the one of this folder, before something else arrives there. */
export async function mendHere({ home, note }: Pick<Context, 'home' | 'note'>, dir: string): Promise<void> {
  const repo = await repositoryAt(dir)
  const mended = repo && (await repairCheckout({ home, repo }))
  if (mended) note(repairedWords(mended))
}

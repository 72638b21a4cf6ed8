/** Repairs what a killed ralph left half-done in the user's checkout, as soon as any command runs. */

import { isRalphError } from '../error.ts'
import { type Repaired, repairCheckout, repairCheckouts, repairedWords } from '../host/arrival.ts'
import { repositoryAt } from '../host/branch.ts'
import type { Context } from './operation.ts'

/** In all checkouts. Returns what the user should know, including obstacles, which stop nothing. */
export async function repairAll({ home }: Pick<Context, 'home'>): Promise<string[]> {
  try {
    return (await repairCheckouts(home)).map(withAdvice)
  } catch (cause) {
    if (isRalphError(cause)) return [cause.message]
    throw cause
  }
}

function withAdvice(repaired: Repaired): string {
  return repaired.again === undefined
    ? repairedWords(repaired)
    : `${repairedWords(repaired)} Do it again: ${repaired.again}`
}

/** In the checkout of this folder, before anything else changes it. */
export async function repairHere({ home, note }: Pick<Context, 'home' | 'note'>, dir: string): Promise<void> {
  const repo = await repositoryAt(dir)
  const repaired = repo && (await repairCheckout({ home, repo }))
  if (repaired) note(repairedWords(repaired))
}

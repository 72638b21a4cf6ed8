/** The tabs of an iteration and its loop. */
import { go, withQuery } from '../data/route.ts'

/** Opening details stays on this iteration even when newer ones arrive. */
export function showTab(tab: string, iteration: number | undefined): void {
  go(withQuery({ tab, ...(iteration ? { i: String(iteration) } : {}) }), { replace: true })
}

export const TABS: readonly { key: string; tab: string; words: string }[] = [
  { key: '1', tab: 'summary', words: 'Summary' },
  { key: '2', tab: 'diff', words: 'Diff' },
  { key: '3', tab: 'transcript', words: 'Transcript' },
  { key: '4', tab: 'prompt', words: 'Prompt' },
  { key: '5', tab: 'proof', words: 'Proof' },
  { key: '6', tab: 'story', words: 'Story' },
]

/** The past of the demo board: small loops from the last twelve days, most of them done, some given up. */
import { BILLING } from './history-billing.ts'
import { SHOP } from './history-shop.ts'
import { type AgentName, claims, type GroupId, type Story, source, suite, works } from './story.ts'

/** A small piece of work: a module, its tests, and what each turn said and wrote. */
export type Past = {
  title: string
  type: 'bug' | 'feature' | 'refactoring' | 'docs'
  labels: string[]
  daysAgo: number
  agent?: AgentName
  module: string
  /** The original source, what the tests import from it, and the tests. */
  was: string
  names: string
  cases: Readonly<Record<string, string>>
  /** What each turn says and writes. A turn that writes nothing still claims to be done, as does the last one. */
  turns: readonly (readonly [words: string, now?: string])[]
  /** It never finishes: it stalls, or runs out of iterations. */
  gaveUp?: 'stalled' | 'spent'
}

export const HISTORY: readonly Story[] = [
  ...SHOP.map((past) => storyOf('shop', past)),
  ...BILLING.map((past) => storyOf('billing', past)),
]

function storyOf(group: GroupId, past: Past): Story {
  const { title, type, labels, module, was, names, cases, turns, gaveUp, agent = 'steady' } = past
  const tested = type === 'docs' ? {} : { ...source(module, was), ...suite(module, names, cases) }
  const steps = turns.map(([words, now], at) => {
    const files = now === undefined ? {} : type === 'docs' ? { [module]: now } : source(module, now)
    const isClaim = gaveUp !== 'stalled' && (now === undefined || at === turns.length - 1)
    return isClaim ? claims(words, files) : works(words, files)
  })
  return {
    group,
    agent,
    hoursAgo: past.daysAgo * 24,
    task: {
      title,
      type,
      labels,
      checks: type === 'docs' ? [] : ['node test/run.mjs'],
      ...(gaveUp === 'spent' ? { ralph_max_iterations: turns.length } : {}),
      ...(gaveUp ? { worktree: true } : {}),
    },
    ...(gaveUp ? { fate: 'drop' } : {}),
    files: tested,
    turns: steps,
  }
}

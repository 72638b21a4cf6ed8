/** Prints how many ways to weaken a proof were tried, and how many pieces of honest work, as the last line of a run. */
import type { Reporter, TestCase } from 'vitest/node'

/** The groups that rows are counted by. */
export const GROUPS = { weak: 'ways to weaken', honest: 'honest twins', unseeable: 'unseeable' } as const

export class ProofCounts implements Reporter {
  private readonly counts = new Map<string, { tried: number; missed: number }>()

  onTestCaseResult(test: TestCase): void {
    const { state } = test.result()
    const group = Object.values(GROUPS).find((name) => test.fullName.startsWith(name))
    if (!group || state === 'skipped') return
    const count = this.counts.get(group) ?? { tried: 0, missed: 0 }
    this.counts.set(group, { tried: count.tried + 1, missed: count.missed + (state === 'failed' ? 1 : 0) })
  }

  onTestRunEnd(): void {
    const words = Object.values(GROUPS).map((name) => {
      const { tried, missed } = this.counts.get(name) ?? { tried: 0, missed: 0 }
      return `${tried} ${name}${missed > 0 ? ` (${missed} missed)` : ''}`
    })
    console.log(`\n${words.join(', ')}`)
  }
}

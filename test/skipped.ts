/** Names every test that was skipped, and why, and every one that passed only when tried again: never in silence. */
import type { Reporter, TestCase, Vitest } from 'vitest/node'

export class SkippedReporter implements Reporter {
  private readonly told: string[] = []
  /** A run of chosen tests (-t) skips nearly all the others; nobody wants their names. */
  private isChosen = false

  onInit({ config }: Vitest): void {
    this.isChosen = config.testNamePattern !== undefined
  }

  onTestCaseResult(test: TestCase): void {
    const result = test.result()
    if (result.state === 'skipped' && !this.isChosen)
      this.told.push(['skipped', test.fullName, ...(result.note ? [result.note] : [])].join(': '))
    else if (test.diagnostic()?.flaky) this.told.push(`passed at the second try: ${test.fullName}`)
  }

  onTestRunEnd(): void {
    if (this.told.length > 0) console.log(`\n${this.told.join('\n')}`)
  }
}

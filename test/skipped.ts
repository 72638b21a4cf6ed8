/** Names every test that was skipped, and why, and every one that passed only when tried again: never in silence. */
import type { Reporter, TestCase } from 'vitest/node'

export class SkippedReporter implements Reporter {
  private readonly told: string[] = []

  onTestCaseResult(test: TestCase): void {
    const result = test.result()
    if (result.state === 'skipped')
      this.told.push(['skipped', test.fullName, ...(result.note ? [result.note] : [])].join(': '))
    else if (test.diagnostic()?.flaky) this.told.push(`passed at the second try: ${test.fullName}`)
  }

  onTestRunEnd(): void {
    // A run of chosen tests (-t) skips nearly all the others; nobody wants their names.
    if (this.told.length > 0 && this.told.length < 50) console.log(`\n${this.told.join('\n')}`)
  }
}

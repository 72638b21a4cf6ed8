/**
 * Names every skipped test with the reason, and every test that passed only on a retry: nothing is skipped silently.
 */
import type { Reporter, TestCase, Vitest } from 'vitest/node'

export class SkippedReporter implements Reporter {
  private readonly lines: string[] = []
  /** A filtered run (-t) skips nearly all tests; nobody wants their names. */
  private isChosen = false

  onInit({ config }: Vitest): void {
    this.isChosen = config.testNamePattern !== undefined
  }

  onTestCaseResult(test: TestCase): void {
    const result = test.result()
    if (result.state === 'skipped' && !this.isChosen)
      this.lines.push(['skipped', test.fullName, ...(result.note ? [result.note] : [])].join(': '))
    else if (test.diagnostic()?.flaky) this.lines.push(`passed on a retry: ${test.fullName}`)
  }

  onTestRunEnd(): void {
    if (this.lines.length > 0) console.log(`\n${this.lines.join('\n')}`)
  }
}

/** Names every test that was skipped, and why: what could not be tried here is said, never passed over in silence. */
import type { Reporter, TestCase } from 'vitest/node'

export class SkippedReporter implements Reporter {
  private readonly skipped: string[] = []

  onTestCaseResult(test: TestCase): void {
    const result = test.result()
    if (result.state === 'skipped')
      this.skipped.push(['skipped', test.fullName, ...(result.note ? [result.note] : [])].join(': '))
  }

  onTestRunEnd(): void {
    // A run of chosen tests (-t) skips nearly all the others; nobody wants their names.
    if (this.skipped.length > 0 && this.skipped.length < 50) console.log(`\n${this.skipped.join('\n')}`)
  }
}

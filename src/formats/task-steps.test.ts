import { describe, expect, test } from 'vitest'
import { readSteps } from './task-steps.ts'

describe('the steps of a task', () => {
  test.each<[what: string, text: string, steps: ReturnType<typeof readSteps>]>([
    ['no box', 'Do it.\n', undefined],
    ['nothing done', '- [ ] one\n- [ ] two\n', { total: 2, completed: 0, step: 'one' }],
    ['the first done', '- [x] one\n- [ ] two\n', { total: 2, completed: 1, step: 'two' }],
    ['a later one in progress', '- [x] one\n* [ ] two\n1. [/] three\n', { total: 3, completed: 1, step: 'three' }],
    ['all done', '- [x] one\n+ [X] two\n', { total: 2, completed: 2, step: '' }],
    ['steps below a step', '- [ ] one\n  - [x] a\n  - [ ] b\n', { total: 3, completed: 1, step: 'one' }],
    [
      'boxes in code and comments',
      '```\n- [ ] no\n```\n<!--\n- [ ] no\n-->\n- [ ] yes\n',
      { total: 1, completed: 0, step: 'yes' },
    ],
    [
      'a head before them',
      '---\npriority: high\n---\n- [x] one\r\n- [ ] two\r\n',
      { total: 2, completed: 1, step: 'two' },
    ],
    [
      'an optional part, which comes last',
      '# Optional\n- [ ] later\n# Now\n- [ ] first\n',
      { total: 2, completed: 0, step: 'first' },
    ],
  ])('%s', (_, text, steps) => {
    expect(readSteps(text)).toEqual(steps)
  })

  test('a long one is cut to what a state can have', () => {
    expect(readSteps(`- [ ] ${'x'.repeat(5_000)}`)?.step.length).toBeLessThanOrEqual(300)
  })
})

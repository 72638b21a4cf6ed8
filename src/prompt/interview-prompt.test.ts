import { expect, test } from 'vitest'
import { withAnswers, withProblems } from './interview-prompt.ts'

test('the answers are quoted verbatim, and nobody is to be asked', () => {
  const prompt = withAnswers('Interview them.\n', '\nUse SQLite.\n{{round}} stays.\n')
  expect(prompt).toContain('Interview them.\n\n## Nobody is available')
  expect(prompt).toContain('<answers>\nUse SQLite.\n{{round}} stays.\n</answers>\n')
})

test('every problem is listed', () => {
  const prompt = withProblems('Interview them.', ['done.md is missing.', 'tasks.json: it is not JSON.'])
  expect(prompt).toMatch(/^Interview them\./)
  expect(prompt).toContain('- done.md is missing.\n- tasks.json: it is not JSON.\n')
})

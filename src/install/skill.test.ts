import { expect, test } from 'vitest'
import { skillOf } from './skill.ts'

test('has the name, the description and the body of the command', () => {
  const command = '---\ndescription: Work on it\nargument-hint: "PROMPT"\n---\nThe body.\n'
  expect(skillOf('ralph-loop', command)).toBe('---\nname: ralph-loop\ndescription: Work on it\n---\nThe body.\n')
})

test('a command without fields is all body', () => {
  expect(skillOf('x', 'Do it.\n')).toBe('---\nname: x\ndescription: x\n---\nDo it.\n')
})

import { describe, expect, test } from 'vitest'
import { loopAfter, pause, unchecked, works } from '../engine/stories.test-support.ts'
import { promptOf } from './answer.ts'

describe('a prompt', () => {
  test('tells an agent that forgets that it has no memory', () => {
    const loop = loopAfter(unchecked, works)
    expect(promptOf('/none', loop, 'same')).not.toContain('no memory')
    expect(promptOf('/none', loop, 'fresh')).toContain('no memory')
  })

  test('is empty where no turn is asked for, or another program takes it', () => {
    expect(promptOf('/none', loopAfter(unchecked, pause), 'same')).toBe('')
    expect(promptOf('/none', loopAfter(unchecked), 'process')).toBe('')
  })
})

import { describe, expect, test } from 'vitest'
import { claims, loopAfter, pause, specOf, unchecked, works } from '../engine/stories.test-support.ts'
import { wholePrompt } from './give.ts'

const claude = { host: 'claude', face: '/p/.claude/ralph-loop.local.md', context: 'same' } as const
const codex = { host: 'codex', face: '/p/.codex/ralph-loop.local.md', context: 'same' } as const

describe('a prompt', () => {
  test('tells an agent that forgets that it has no memory', () => {
    const loop = loopAfter(unchecked, works)
    expect(wholePrompt('/none', loop, claude)).not.toContain('no memory')
    expect(wholePrompt('/none', loop, { ...claude, context: 'fresh' })).toContain('no memory')
  })

  test('is empty if no turn is requested, or if another program takes it', () => {
    expect(wholePrompt('/none', loopAfter(unchecked, pause), claude)).toBe('')
    expect(wholePrompt('/none', loopAfter(unchecked), { ...claude, context: 'process' })).toBe('')
  })

  test.each([claude, codex])('that $host would truncate points to the loop file', (armed) => {
    const loop = loopAfter(specOf({ prompt: 'Ünder. '.repeat(1_500) }), works)
    const told = wholePrompt('/none', loop, armed)
    expect(told).toMatch(new RegExp(`^The task is in the file ${armed.face}`))
    expect(told).toContain('This is iteration 2')
    expect(told).not.toContain('Ünder.')
    expect(wholePrompt('/none', loop, { ...armed, face: '' })).toContain('Ünder.')
    expect(wholePrompt('/none', loop, { ...armed, host: 'gemini' })).toContain('Ünder.')
  })

  test('asks for a sign without brackets if the client escapes them', () => {
    const spec = specOf({ prompt: 'Say <promise>DONE</promise>.', promise: 'DONE', signals: ['TASK_COMPLETE'] })
    const loop = loopAfter(spec, claims('weak'))
    expect(wholePrompt('/none', loop, claude)).toContain('put `<promise>DONE</promise>` alone')
    const told = wholePrompt('/none', loop, codex)
    expect(told).toContain('put `TASK_COMPLETE` alone')
    expect(told.split('<promise>DONE</promise>')).toHaveLength(2)
    expect(told).toContain(`as typed is in ${codex.face}`)
    expect(wholePrompt('/none', loopAfter({ ...spec, signals: [] }), codex)).toContain(
      'put `<promise>DONE</promise>` alone',
    )
    expect(wholePrompt('/none', loopAfter({ ...spec, prompt: 'Go on.' }), codex)).not.toContain('as typed')
  })
})

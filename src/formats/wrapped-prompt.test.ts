import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { unwrapPrompt, wrapPrompt } from './wrapped-prompt.ts'

const WRAPPED = `Implement user authentication

IMPORTANT COMPLETION CRITERIA:
- Work on this task iteratively until all requirements are met
- Maximum iterations allowed: 10
- Test and validate your work thoroughly
- When you have fully completed all requirements and all tests pass,
  output exactly: <promise>COMPLETE</promise>
- Do NOT output the completion promise unless the task is actually complete

The task will loop until you output the completion signal or reach the iteration limit.`

describe('a prompt that is wrapped', () => {
  test('reads exactly like this', () => {
    expect(wrapPrompt('Implement user authentication', { maxIterations: 10, promise: 'COMPLETE' })).toBe(WRAPPED)
  })

  test.each<[given: Parameters<typeof wrapPrompt>[1]]>([
    [undefined],
    [{}],
    [{ maxIterations: 10 }],
    [{ promise: 'COMPLETE' }],
  ])('reads like this by default: %o', (given) => {
    expect(wrapPrompt('Implement user authentication', given)).toBe(WRAPPED)
    expect(wrapPrompt('Implement user authentication')).toBe(WRAPPED)
  })

  test('names no maximum if there is none', () => {
    const wrapped = wrapPrompt('Implement user authentication', { maxIterations: 0, promise: 'COMPLETE' })
    expect(wrapped).toBe(WRAPPED.replace('- Maximum iterations allowed: 10\n', ''))
  })

  test('is found again', () => {
    expect(unwrapPrompt(WRAPPED)).toEqual({
      prompt: 'Implement user authentication',
      maxIterations: 10,
      promise: 'COMPLETE',
    })
  })

  test.each<[what: string, text: string]>([
    ['with line ends of Windows', WRAPPED.replaceAll('\n', '\r\n')],
    ['with space around it', `${WRAPPED}\n\n`],
    ['with its last sentence missing', WRAPPED.slice(0, WRAPPED.indexOf('\n\nThe task'))],
  ])('is found again %s', (_, text) => {
    expect(unwrapPrompt(text)).toEqual({
      prompt: 'Implement user authentication',
      maxIterations: 10,
      promise: 'COMPLETE',
    })
  })

  test('is found again with text after it, which is kept', () => {
    expect(unwrapPrompt(`${WRAPPED}\n\nAlso update the docs.\n`)).toEqual({
      prompt: 'Implement user authentication\n\nAlso update the docs.',
      maxIterations: 10,
      promise: 'COMPLETE',
    })
  })

  test.each([
    ['- Max iterations: 4\n', 4],
    ['- Maximum iterations allowed: 7\n', 7],
    ['', undefined],
  ])('keeps foreign criteria, and leaves the limit open if they do: %j', (line, maxIterations) => {
    const text = `Build it.\n\nIMPORTANT COMPLETION CRITERIA:\n- All endpoints return JSON\n${line}- Then output exactly: <promise>OVER</promise>`
    expect(unwrapPrompt(text)).toEqual({ prompt: text, promise: 'OVER', ...(maxIterations ? { maxIterations } : {}) })
  })

  test('twice is unwrapped from the outside', () => {
    const twice = wrapPrompt(WRAPPED, { maxIterations: 3, promise: 'DONE' })
    expect(unwrapPrompt(twice)).toEqual({ prompt: WRAPPED, maxIterations: 3, promise: 'DONE' })
  })

  test('survives a round trip', () => {
    const promise = fc
      .string({ unit: fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('<', '>', '/', ' ')), minLength: 1 })
      .map((text) => text.replace(/\s+/g, ' ').trim())
      .filter((text) => text !== '' && !text.includes('</promise>'))
    const prompt = fc.string({ unit: 'binary' }).map((text) => text.trimEnd())
    fc.assert(
      fc.property(prompt, fc.nat(), promise, (text, maxIterations, tag) => {
        const wrapped = wrapPrompt(text, { maxIterations, promise: tag })
        expect(unwrapPrompt(wrapped)).toEqual({ prompt: text, maxIterations, promise: tag })
      }),
    )
  })
})

describe('any other text', () => {
  test.each([
    '',
    'Implement user authentication',
    'IMPORTANT COMPLETION CRITERIA: none',
    'Do it.\n\nIMPORTANT COMPLETION CRITERIA:\n- be quick',
    'output exactly: <promise>COMPLETE</promise>',
    WRAPPED.replace('<promise>COMPLETE</promise>', 'COMPLETE'),
    WRAPPED.replace('</promise>', ''),
  ])('is not taken for a wrapped prompt: %j', (text) => {
    expect(unwrapPrompt(text)).toBeUndefined()
  })
})

/** Answers to requests that carry a key. */
import { describe, expect, test } from 'vitest'
import { PROMPT_OF_ALL_KINDS, type Scene } from './scene.ts'

export function answerRecords(scene: Scene): void {
  describe(`the answers in ${scene.name}`, () => {
    test('are repeated for the same key and the same input, to others as well', async () => {
      const { answers } = scene.store
      expect(await answers.begin('k1', 'input', 0)).toEqual({ kind: 'new' })
      await answers.end('k1', PROMPT_OF_ALL_KINDS.toWellFormed())
      const again = { kind: 'answered', answer: PROMPT_OF_ALL_KINDS.toWellFormed() }
      expect(await answers.begin('k1', 'input', 0)).toEqual(again)
      expect(await (await scene.connect()).answers.begin('k1', 'input', 0)).toEqual(again)
    })

    test('are never those to another input', async () => {
      const { answers } = scene.store
      await answers.begin('k1', 'input', 0)
      expect(await answers.begin('k1', 'other', 0)).toEqual({ kind: 'reused' })
      await answers.end('k1', 'answer')
      expect(await answers.begin('k1', 'other', 0)).toEqual({ kind: 'reused' })
      expect(await answers.begin('k2', 'other', 0)).toEqual({ kind: 'new' })
    })

    test('are waited for, unless their process has ended', async () => {
      const { answers } = scene.store
      await answers.begin('k1', 'input', 0)
      expect(await answers.begin('k1', 'input', 0)).toEqual({ kind: 'busy' })
      expect(await answers.begin('k1', 'input', Number.MAX_SAFE_INTEGER)).toEqual({ kind: 'lost' })
    })

    test('that could not be given leave their key free', async () => {
      const { answers } = scene.store
      await answers.begin('k1', 'input', 0)
      await answers.forget('k1')
      expect(await answers.begin('k1', 'other', 0)).toEqual({ kind: 'new' })
    })
  })
}

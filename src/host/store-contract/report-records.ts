/** The passes of turns, and what agents report with them. */
import { describe, expect, test } from 'vitest'
import { lost, works } from '../../engine/stories.test-support.ts'
import type { TurnKey } from '../store.ts'
import { PROMPT_OF_ALL_KINDS, type Scene } from './scene.ts'

const FIRST: TurnKey = { loop: 'a1', iteration: 1, attempt: 1 }
const REPORT = { at: 5, kind: 'stage', stage: 'TESTS', evidence: PROMPT_OF_ALL_KINDS } as const

export function reportRecords(scene: Scene): void {
  describe(`passes and reports in ${scene.name}`, () => {
    test('a pass stands for its turn while the loop is at it', async () => {
      await scene.story('a1', {})
      await scene.store.reports.issue(FIRST, 'hash 1')
      expect(await (await scene.connect()).reports.turnOf('hash 1')).toEqual(FIRST)
      expect(await scene.store.reports.turnOf('hash 2')).toBeUndefined()
      await scene.saves('a1', works)
      expect(await scene.store.reports.turnOf('hash 1')).toBeUndefined()
    })

    test('a pass of another attempt does not count', async () => {
      await scene.story('a1', {})
      await scene.store.reports.issue(FIRST, 'hash 1')
      await scene.saves('a1', lost)
      expect(await scene.store.reports.turnOf('hash 1')).toBeUndefined()
      expect(await scene.store.reports.add('hash 1', REPORT)).toBe(false)
      expect(await scene.store.reports.of(FIRST)).toEqual([])
    })

    test('a new pass replaces the previous one', async () => {
      await scene.story('a1', {})
      await scene.store.reports.issue(FIRST, 'hash 1')
      await scene.store.reports.issue(FIRST, 'hash 2')
      expect(await scene.store.reports.turnOf('hash 1')).toBeUndefined()
      expect(await scene.store.reports.turnOf('hash 2')).toEqual(FIRST)
    })

    test('reports of a turn are kept in order, and belong to no other', async () => {
      await scene.story('a1', {})
      await scene.story('a2', {})
      await scene.store.reports.issue(FIRST, 'hash 1')
      const question = { at: 6, kind: 'question', question: 'Red or blue?' } as const
      expect(await scene.store.reports.add('hash 1', REPORT)).toBe(true)
      expect(await (await scene.connect()).reports.add('hash 1', question)).toBe(true)
      expect(await scene.store.reports.of(FIRST)).toEqual([REPORT, question])
      expect(await scene.store.reports.of({ ...FIRST, attempt: 2 })).toEqual([])
      expect(await scene.store.reports.of({ ...FIRST, loop: 'a2' })).toEqual([])
    })
  })
}

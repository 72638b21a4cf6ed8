/** What ralph knows about projects. */
import { describe, expect, test } from 'vitest'
import { PROMPT_OF_ALL_KINDS, type Scene } from './scene.ts'

export function projectRecords(scene: Scene): void {
  describe(`the records of projects in ${scene.name}`, () => {
    test('are unknown at first', async () => {
      expect(await scene.store.projects.load('/project')).toBeUndefined()
    })

    test('are loaded as they were last saved, by others as well', async () => {
      const record = { tasks: [{ id: 'T1', words: PROMPT_OF_ALL_KINDS, none: null }], iteration: 3 }
      await scene.store.projects.save('/project', { iteration: 1 })
      await scene.store.projects.save('/project', record)
      expect(await scene.store.projects.load('/project')).toEqual(record)
      expect(await (await scene.connect()).projects.load('/project')).toEqual(record)
    })

    test('can be forgotten, which leaves the others', async () => {
      await scene.store.projects.save('/one', { iteration: 1 })
      await scene.store.projects.save('/two', { iteration: 2 })
      await scene.store.projects.forget('/one')
      await scene.store.projects.forget('/never')
      expect(await scene.store.projects.load('/one')).toBeUndefined()
      expect(await scene.store.projects.load('/two')).toEqual({ iteration: 2 })
    })

    test('belong to one folder each', async () => {
      await scene.store.projects.save('/one', { iteration: 1 })
      await scene.store.projects.save('/one/below', { iteration: 2 })
      expect(await scene.store.projects.load('/one')).toEqual({ iteration: 1 })
      expect(await scene.store.projects.load('/one/')).toBeUndefined()
    })
  })
}

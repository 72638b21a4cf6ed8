/** What ralph knows of projects. */
import { describe, expect, test } from 'vitest'
import { PROMPT_OF_ALL_KINDS, type Scene } from './scene.ts'

export function projectRecords(scene: Scene): void {
  describe(`the records of projects in ${scene.name}`, () => {
    test('are unknown at first', async () => {
      expect(await scene.store.projects.load('/project')).toBeUndefined()
    })

    test('are loaded as they were saved last, by others too', async () => {
      const record = { tasks: [{ id: 'T1', words: PROMPT_OF_ALL_KINDS, none: null }], iteration: 3 }
      await scene.store.projects.save('/project', { iteration: 1 })
      await scene.store.projects.save('/project', record)
      expect(await scene.store.projects.load('/project')).toEqual(record)
      expect(await (await scene.connect()).projects.load('/project')).toEqual(record)
    })

    test('are forgotten, which leaves those of others', async () => {
      await scene.store.projects.save('/one', { iteration: 1 })
      await scene.store.projects.save('/two', { iteration: 2 })
      await scene.store.projects.forget('/one')
      await scene.store.projects.forget('/never')
      expect(await scene.store.projects.load('/one')).toBeUndefined()
      expect(await scene.store.projects.load('/two')).toEqual({ iteration: 2 })
    })

    test('are of one folder each', async () => {
      await scene.store.projects.save('/one', { iteration: 1 })
      await scene.store.projects.save('/one/below', { iteration: 2 })
      expect(await scene.store.projects.load('/one')).toEqual({ iteration: 1 })
      expect(await scene.store.projects.load('/one/')).toBeUndefined()
    })
  })
}

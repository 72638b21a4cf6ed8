/** A reader that resumes from a number misses nothing. */
import { describe, expect, test } from 'vitest'
import { checked, checks, claims, works } from '../../engine/stories.test-support.ts'
import { eventually } from '../place.test-support.ts'
import type { StoredEvent } from '../store.ts'
import { loopOf, PROMPT_OF_ALL_KINDS, type Scene, storyIn, upTo } from './scene.ts'

export function events(scene: Scene): void {
  describe(`the events of ${scene.name}`, () => {
    test('can be read from where a reader stopped', async () => {
      await scene.story('a1', {}, works, works)
      const [, second] = await scene.store.events(0)
      await scene.story('a2', {}, works)
      await scene.saves('a1', works)
      const later = await scene.store.events(second?.seq ?? 0)
      expect(later.map(({ loop, n }) => [loop, n])).toEqual([
        ['a2', 1],
        ['a1', 3],
      ])
      expect(await scene.store.events(later.at(-1)?.seq ?? 0)).toEqual([])
    })

    test('have rising numbers, over all loops and connections', async () => {
      const other = await scene.connect()
      await scene.story('a1', {}, works)
      await storyIn(other, 'a2', {}, works, works)
      await scene.saves('a1', works)
      const numbers = (await other.events(0)).map(({ seq }) => seq)
      expect(numbers).toHaveLength(4)
      expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b))
    })

    test('can be those of one loop', async () => {
      await scene.story('a1', {}, works, works)
      await scene.story('a2', {}, works)
      expect((await scene.store.events(0, 'a2')).map(({ loop }) => loop)).toEqual(['a2'])
      expect(await scene.store.events(0, 'a3')).toEqual([])
    })

    test('are missed by no reader that resumes, whichever writer started or committed first', async () => {
      const ids = ['a1', 'a2', 'a3']
      for (const id of ids) await scene.store.create(loopOf(id, {}))
      const code = (id: string) => `const lease = await store.lease('${id}')
        console.log('ready')
        process.stdin.once('data', async () => {
          for (let n = 0; n < 40; n++) await save(lease)
          await store.close()
          process.exit()
        })`
      const writers = ids.map((id) => scene.start(code(id)))
      for (const writer of writers) await eventually(() => writer.lines().length)
      let writing = true
      const seen: StoredEvent[] = []
      const reading = (async () => {
        for (let last = false; !last; ) {
          last = !writing // one more look after the last of them
          seen.push(...(await scene.store.events(seen.at(-1)?.seq ?? 0)))
          await new Promise((done) => setImmediate(done))
        }
      })()
      for (const writer of writers) writer.write('go\n')
      for (const { ended } of writers) expect(await ended).toMatchObject({ code: 0, err: '' })
      writing = false
      await reading
      for (const id of ids) expect(seen.filter(({ loop }) => loop === id).map(({ n }) => n)).toEqual(upTo(40))
      expect(seen).toEqual(await scene.store.events(0))
    })

    test('end at the heads, which also cover everything else that readers resume from', async () => {
      expect(await scene.store.heads()).toEqual({ events: 0, board: 0, panes: 0, loops: 0 })
      await scene.story('a1', {}, works, works)
      const other = await scene.connect()
      await other.create(loopOf('a2'))
      await other.board.saveGroup({ project_id: 'g1', name: 'One', repo: null })
      await other.panes.save({ crew: 'c1', name: 'ada' }, {}, { change: 'first' })
      const heads = await scene.store.heads()
      expect(heads).toEqual({
        events: (await scene.store.events(0)).at(-1)?.seq,
        board: (await scene.store.board.changes(0)).at(-1)?.seq,
        panes: (await scene.store.panes.changes(0)).at(-1)?.seq,
        loops: (await scene.store.newLoops(0)).at(-1)?.seq,
      })
      await other.board.prune(Date.now() + 1_000)
      await other.panes.prune(Date.now() + 1_000)
      expect(await scene.store.heads()).toEqual(heads)
    })

    test('are the facts as they were', async () => {
      const fact = checked(
        [{ check: 'npm test', result: 'fail', tail: PROMPT_OF_ALL_KINDS }],
        [{ kind: 'tests-deleted', path: 'a.test.ts', words: 'was deleted' }],
      )
      await scene.story('a1', { checks: ['npm test'] }, checks('fail'), claims('clear'), fact)
      expect((await scene.store.events(0, 'a1')).at(-1)?.fact).toEqual(fact)
    })
  })

  describe(`new loops of ${scene.name}`, () => {
    test('can be read from where a reader stopped, in the order in which they were created', async () => {
      await scene.store.create(loopOf('b1', {}, 5))
      await scene.store.create(loopOf('a1', {}, 1))
      const [first, second] = await scene.store.newLoops(0)
      expect([first?.id, second?.id]).toEqual(['b1', 'a1'])
      const other = await scene.connect()
      await other.create(loopOf('a2'))
      expect(await scene.store.newLoops(second?.seq ?? 0)).toMatchObject([{ id: 'a2', status: 'running' }])
    })
  })

  describe(`a listener of ${scene.name}`, () => {
    test('is notified of what another connection does, and of nothing once it has stopped', async () => {
      await scene.store.create(loopOf('a1'))
      const other = await scene.connect()
      let heard = 0
      const stop = scene.store.onChange(() => heard++)
      for (const change of [
        () => other.tell('a1', 'Ada', { kind: 'pause' }),
        () => storyIn(other, 'a2', {}, works).then(() => {}),
      ]) {
        const before = heard
        await change()
        await expect.poll(() => heard, { timeout: 5_000 }).toBeGreaterThan(before)
      }
      stop()
      const after = heard
      await other.tell('a1', 'Ada', { kind: 'resume' })
      await new Promise((done) => setImmediate(done))
      expect(heard).toBe(after)
    })

    test('finds the change when it is called', async () => {
      await scene.store.create(loopOf('a1'))
      const found = new Promise<unknown>((done, failed) => {
        const stop = scene.store.onChange(() => {
          scene.store.nextOrder('a1').then((fact) => {
            if (!fact) return
            stop()
            done(fact)
          }, failed)
        })
      })
      await (await scene.connect()).tell('a1', 'Ada', { kind: 'cancel' })
      expect(await found).toMatchObject({ order: { kind: 'cancel' } })
    })
  })
}

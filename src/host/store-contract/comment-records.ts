/** Comments on lines of a diff: who receives them, and whether they have arrived. */
import { beforeEach, describe, expect, test } from 'vitest'
import type { Order } from '../../engine/loop.ts'
import { works } from '../../engine/stories.test-support.ts'
import type { Comment, SentOrder, StoredComment } from '../store.ts'
import { taskOf } from './board-records.ts'
import { loopOf, PROMPT_OF_ALL_KINDS, type Scene } from './scene.ts'

const COMMENT: Comment = {
  iteration: 1,
  against: 'previous',
  path: 'src/a.ts',
  line: 3,
  side: 'new',
  quote: 'const a = 1',
  text: PROMPT_OF_ALL_KINDS,
}

const order = (comments: readonly StoredComment[]): Order => ({
  kind: 'say',
  words: comments.map(({ path }) => path).join(' '),
  comments: comments.map(({ id }) => id),
})
const tells = (comments: readonly StoredComment[]): SentOrder => ({ by: 'Ada', order: order(comments) })

export function commentRecords(scene: Scene): void {
  const comments = () => scene.store.comments
  const add = (...paths: string[]) =>
    comments().add(
      'a1',
      paths.map((path) => ({ ...COMMENT, path })),
      tells,
    )
  const states = async (loop: string) =>
    (await comments().list(loop)).map(({ path, hearer, delivered }) => [path, hearer, delivered])

  describe(`the comments in ${scene.name}`, () => {
    beforeEach(() => scene.story('a1', {}, works))

    test('are stored as they were written, in order, and delivered together', async () => {
      const added = await add('a', 'b')
      expect(added.map(({ id: _, at: __, ...rest }) => rest)).toEqual(
        ['a', 'b'].map((path) => ({ ...COMMENT, path, loop: 'a1', hearer: 'a1', delivered: null })),
      )
      expect(await (await scene.connect()).comments.list('a1')).toEqual(added)
      expect(await scene.store.nextOrder('a1')).toMatchObject({ by: 'Ada', order: order(added) })
    })

    test('wait if no order delivers them', async () => {
      await comments().add('a1', [COMMENT])
      expect(await scene.store.nextOrder('a1')).toBeUndefined()
      expect(await states('a1')).toEqual([['src/a.ts', 'a1', null]])
    })

    test('arrive once, when the turn that delivers them has started', async () => {
      const [one, two] = await add('a', 'b')
      await comments().deliver([one?.id ?? 0], 2)
      await comments().deliver([one?.id ?? 0, two?.id ?? 0], 3)
      expect(await states('a1')).toEqual([
        ['a', 'a1', 2],
        ['b', 'a1', 3],
      ])
    })

    test('have arrived at the latest at the end of that turn', async () => {
      await add('a')
      const told = await scene.store.nextOrder('a1')
      if (told) await scene.saves('a1', told)
      expect(await states('a1')).toEqual([['a', 'a1', null]])
      await scene.saves('a1', works)
      expect(await states('a1')).toEqual([['a', 'a1', 2]])
    })

    test('go to the loop that continues the work, and are listed for both', async () => {
      const added = await comments().add('a1', [COMMENT])
      await scene.store.create(loopOf('a2'), [
        { commentsOf: 'a1', tells },
        { by: 'Ada', order: { kind: 'say', words: 'Go on.' } },
      ])
      // Another loop that continues the same work gets what is left.
      await scene.store.create(loopOf('a3'), [{ commentsOf: 'a1', tells }])
      expect(await scene.store.nextOrder('a3')).toBeUndefined()
      expect(await states('a1')).toEqual([['src/a.ts', 'a2', null]])
      expect(await comments().list('a2')).toEqual(await comments().list('a1'))
      const told = await scene.store.nextOrder('a2')
      expect(told).toMatchObject({ order: order(added) })
      if (told) await scene.saves('a2', told, works)
      expect(await states('a1')).toEqual([['src/a.ts', 'a2', 1]])
      expect(await scene.store.nextOrder('a2')).toMatchObject({ order: { words: 'Go on.' } })
    })

    test('are delivered to the loop of a task as it starts', async () => {
      const added = await comments().add('a1', [COMMENT])
      const task = taskOf('t1')
      await scene.store.board.create(task)
      await scene.store.board.begin({ ...task, loop_id: 'a2' }, loopOf('a2'), [{ commentsOf: 'a1', tells }])
      expect(await scene.store.nextOrder('a2')).toMatchObject({ order: order(added) })
      expect(await scene.store.board.begin(task, loopOf('a3'), [tells(added)])).toBeUndefined()
      expect(await states('a1')).toEqual([['src/a.ts', 'a2', null]])
    })

    test('can be removed until their loop receives them; others that came with them stay', async () => {
      const [one, two, three] = await add('a', 'b', 'c')
      expect(await comments().remove(two?.id ?? 0, order)).toBe(true)
      expect(await comments().remove(two?.id ?? 0, order)).toBe(false)
      const left = [one, three].flatMap((each) => each ?? [])
      const told = await scene.store.nextOrder('a1')
      expect(told).toMatchObject({ by: 'Ada', order: order(left) })
      if (told) await scene.saves('a1', told)
      expect(await comments().remove(one?.id ?? 0, order)).toBe(false)
      expect(await states('a1')).toEqual([
        ['a', 'a1', null],
        ['c', 'a1', null],
      ])
    })

    test('that were the only ones take their order along', async () => {
      const [one] = await add('a')
      await scene.store.tell('a1', 'Ada', { kind: 'pause' })
      expect(await comments().remove(one?.id ?? 0, order)).toBe(true)
      expect(await scene.store.nextOrder('a1')).toMatchObject({ order: { kind: 'pause' } })
      const [waiting] = await comments().add('a1', [COMMENT])
      expect(await comments().remove(waiting?.id ?? 0, order)).toBe(true)
      expect(await states('a1')).toEqual([])
    })
  })
}

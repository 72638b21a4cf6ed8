/** Lists: their order, pages and filters. */
import { describe, expect, test } from 'vitest'
import type { Status } from '../../engine/loop.ts'
import {
  at,
  cancel,
  checks,
  claims,
  MINUTE,
  START,
  say,
  uses,
  wantsPerson,
  works,
} from '../../engine/stories.test-support.ts'
import { granted, idsOf, loopOf, move, type Scene, upTo, WORK } from './scene.ts'
import { beginIn, taskLoop } from './task-records.ts'

const HERE = { ...WORK, dir: '/here' }

export function pagingAndFilters(scene: Scene): void {
  describe(`${scene.name} lists loops`, () => {
    test('newest first, as many as requested', async () => {
      for (const minute of [2, 0, 3, 1]) await scene.store.create(loopOf(`m${minute}`, {}, minute))
      expect(idsOf(await scene.store.list())).toEqual(['m3', 'm2', 'm1', 'm0'])
      expect(idsOf(await scene.store.list({ limit: 2 }))).toEqual(['m3', 'm2'])
    })

    test('the later created first if the time is the same', async () => {
      for (const id of ['b', 'c', 'a']) await scene.store.create(loopOf(id))
      expect(idsOf(await scene.store.list())).toEqual(['a', 'c', 'b'])
    })

    test('of one folder only', async () => {
      await scene.store.create(loopOf('here', { work: { ...WORK, dir: '/here' } }))
      await scene.store.create(loopOf('below', { work: { ...WORK, dir: '/here/below' } }))
      expect(idsOf(await scene.store.list({ dir: '/here' }))).toEqual(['here'])
      expect((await scene.store.list({ dir: '/elsewhere' })).rows).toEqual([])
    })

    test('and finds the last that worked in a folder itself, however many were created there since', async () => {
      const worktree = { from: '/here', path: '/trees/a', branch: 'a', commit: 'c0' }
      await scene.story('older', { work: HERE }, works)
      await scene.story('last', { work: HERE }, works)
      await scene.story('beside', { work: { ...HERE, dir: '/trees/a', worktree } }, works)
      for (const n of upTo(12)) await scene.store.create(loopOf(`new-${n}`, { work: HERE }))
      expect(await scene.store.lastIn('/here')).toEqual(await scene.store.load('last'))
      expect(await scene.store.lastIn('/trees/a')).toBeUndefined()
    })

    test('page by page, even within one millisecond and while new ones come', async () => {
      const made = upTo(9).map((n) => `loop-${n}`)
      for (const [index, id] of made.entries()) await scene.store.create(loopOf(id, {}, Math.floor(index / 4)))
      const seen: string[] = []
      let pages = 0
      for (let after: string | undefined, more = true; more; pages++) {
        const page = await scene.store.list({ limit: 2, ...(after === undefined ? {} : { after }) })
        seen.push(...idsOf(page))
        await scene.store.create(loopOf(`new-${pages}`, {}, 9))
        after = page.next
        more = after !== undefined
      }
      expect(seen).toEqual(made.toReversed())
      expect(pages).toBe(5)
    })

    test('without a next page if no more follow', async () => {
      for (const id of ['a', 'b']) await scene.store.create(loopOf(id))
      expect(await scene.store.list()).not.toHaveProperty('next')
      expect(await scene.store.list({ limit: 2 })).not.toHaveProperty('next')
      expect((await scene.store.list({ limit: 1 })).next).toMatch(/\S/)
    })

    test.each(['', 'x', '1', '1-2-3', "1-1'"])('but not after "%s", which is not a cursor', async (after) => {
      await expect(scene.store.list({ after })).rejects.toMatchObject({ code: 'usage' })
    })

    test('with certain statuses', async () => {
      await scene.story('done', {}, claims('clear'))
      await scene.story('cancelled', {}, cancel)
      await scene.story('asking', {}, wantsPerson())
      await scene.store.create(loopOf('new'))
      const ids = async (...status: Status[]) => idsOf(await scene.store.list({ status })).sort()
      expect(await ids('completed')).toEqual(['done'])
      expect(await ids('running', 'needs-input')).toEqual(['asking', 'new'])
      expect(await ids('halted')).toEqual([])
      expect(await ids()).toEqual([])
    })

    test('of one kind of owner', async () => {
      const owner = { kind: 'project', name: 'p', task: 'T1', folder: '/p' } as const
      await scene.store.create(loopOf('mine'))
      await scene.store.create(loopOf('project', { work: { ...WORK, owner } }))
      await beginIn(scene.store.tasks, taskLoop('vault'), {})
      for (const [owner, id] of [
        ['person', 'mine'],
        ['project', 'project'],
        ['vault', 'vault'],
      ] as const)
        expect((await scene.store.list({ owner })).rows).toMatchObject([{ id, owner }])
    })

    test('by a part of their prompt, taken literally, ignoring case', async () => {
      for (const [id, prompt] of Object.entries({ a: 'Fix the Parser 🦉', b: '100% of _it_', c: "it's \\d+" }))
        await scene.store.create(loopOf(id, { prompt }))
      const found = async (text: string) => idsOf(await scene.store.list({ text }))
      for (const text of ['parser', 'PARSER 🦉', 'Fix']) expect(await found(text)).toEqual(['a'])
      expect([await found('%'), await found('_'), await found("'s \\d")]).toEqual([['b'], ['b'], ['c']])
      expect([await found('parsers'), await found('')]).toEqual([[], ['c', 'b', 'a']])
    })

    test('by several of these together, page by page', async () => {
      for (const n of upTo(5)) await scene.store.create(loopOf(`h${n}`, { prompt: n % 2 ? 'odd' : 'even', work: HERE }))
      await scene.store.create(loopOf('elsewhere', { prompt: 'odd' }))
      const filter = { dir: '/here', text: 'odd', status: ['running'], owner: 'person', limit: 2 } as const
      const first = await scene.store.list(filter)
      expect(idsOf(first)).toEqual(['h5', 'h3'])
      const second = await scene.store.list({ ...filter, after: first.next ?? '' })
      expect([idsOf(second), second.next]).toEqual([['h1'], undefined])
    })

    test('as their spec says now, if that has changed', async () => {
      const loop = await scene.story('a1', {}, works)
      const work = { ...WORK, dir: '/there', agent: 'command:./other', owner: { kind: 'project' as const } }
      const changed = { ...loop, spec: { ...loop.spec, prompt: 'Another prompt', work } }
      const lease = granted(await scene.store.lease('a1'))
      const moved = move(changed, say('go on'))
      await scene.store.save(lease, moved.loop, moved.fact)
      const row = { id: 'a1', dir: '/there', agent: work.agent, prompt: 'Another prompt', owner: 'project' }
      expect((await scene.store.list({ dir: '/there', owner: 'project' })).rows).toMatchObject([row])
      expect((await scene.store.list({ owner: 'person' })).rows).toEqual([])
    })

    test('with their outcome', async () => {
      await scene.story(
        'a1',
        { checks: ['npm test'] },
        checks('fail'),
        uses({ tokens: 120, costUsd: 0.25 }),
        at(3, claims('clear')),
        at(4, checks('fail')),
      )
      expect((await scene.store.list()).rows).toEqual([
        {
          id: 'a1',
          dir: WORK.dir,
          agent: WORK.agent,
          prompt: 'Make the parser faster.',
          owner: 'person',
          status: 'running',
          next: (await scene.store.load('a1')).next,
          iteration: 2,
          iterationLimit: 10,
          falseClaims: 1,
          tokens: 120,
          costUsd: 0.25,
          startedAt: START,
          updatedAt: START + 4 * MINUTE,
        },
      ])
    })
  })
}

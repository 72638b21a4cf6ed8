/** NUL bytes and lone surrogates: facts, specs, orders and records come back exactly, texts in lists well-formed. */
import { describe, expect, test } from 'vitest'
import { checked, checks, claims, say, turn } from '../../engine/stories.test-support.ts'
import { granted, loopOf, move, type Scene, WORK } from './scene.ts'
import { beginIn, taskLoop } from './task-records.ts'

const ODD: [what: string, text: string][] = [
  ['a NUL byte', 'before\u0000after'],
  ['nothing but a NUL byte', '\u0000'],
  ['the first half of a pair', 'before\ud83dafter'],
  ['the second half of a pair', '\udd89'],
  ['halves in the wrong order', '\udd89\ud83d'],
  ['U+FFFE, U+FFFF and a byte order mark', '\ufeff\ufffe\uffff'],
  ['a replacement character', '\ufffd'],
]

export function oddText(scene: Scene): void {
  describe.each(ODD)(`${scene.name} with %s`, (_, text) => {
    test('in a prompt', async () => {
      const loop = loopOf('a1', { prompt: text, promise: text, checks: [text] })
      await scene.store.create(loop)
      expect(await scene.store.load('a1')).toEqual(loop)
      expect((await scene.store.list()).rows[0]?.prompt).toBe(text.toWellFormed())
      expect((await scene.store.list({ text: text.toWellFormed() })).rows).toHaveLength(1)
    })

    test('in the words of a turn and the tail of a check', async () => {
      const verdict = { check: text, result: 'fail', tail: text } as const
      const facts = [checks('fail'), turn({ words: text }), claims('clear'), checked([verdict])]
      const loop = await scene.story('a1', { checks: [text] }, ...facts)
      expect(await scene.store.load('a1')).toEqual(loop)
      const [, second, , fourth] = (await scene.store.events(0, 'a1')).map(({ fact }) => fact)
      expect([second, fourth]).toEqual(
        [facts[1], facts[3]].map((fact) => (typeof fact === 'function' ? fact(loop) : fact)),
      )
      const [one, two] = await scene.store.iterations('a1')
      const plain = text.toWellFormed()
      expect(one?.words).toBe(plain)
      expect(two?.verdicts).toEqual([{ ...verdict, check: plain, tail: plain }])
    })

    test('in an order, and the name of its sender', async () => {
      await scene.store.create(loopOf('a1'))
      await scene.store.tell('a1', text, { kind: 'say', words: text })
      const fact = await scene.store.nextOrder('a1')
      expect(fact).toMatchObject({ by: text.toWellFormed(), order: { kind: 'say', words: text } })
      if (!fact) throw new Error('no order was stored')
      const lease = granted(await scene.store.lease('a1'))
      const moved = move(await scene.store.load('a1'), fact)
      await scene.store.save(lease, moved.loop, moved.fact)
      expect((await scene.store.events(0, 'a1'))[0]?.fact).toEqual(fact)
      expect(await scene.store.nextOrder('a1')).toBeUndefined()
    })

    test('in the name of an agent', async () => {
      const agent = `command:${text}`
      await scene.story('a1', { work: { ...WORK, agent } }, say(text))
      expect((await scene.store.load('a1')).spec.work.agent).toBe(agent)
      expect((await scene.store.list()).rows[0]?.agent).toBe(agent.toWellFormed())
    })

    test('in records', async () => {
      const { tasks, projects } = scene.store
      await projects.save('/project', { words: text, [text]: text })
      expect(await projects.load('/project')).toEqual({ words: text, [text]: text })
      const loop = taskLoop('l1')
      await beginIn(tasks, { ...loop, spec: { ...loop.spec, prompt: text } }, { inode: text })
      const progress = { total: 1, completed: 0, step: text, at: 0 }
      await tasks.change({ vault: '/vault', id: 'a', loop: 'l1' }, { progress, away: text })
      await tasks.move('/vault', '/moved')
      expect((await tasks.load('/moved', 'a'))?.record).toEqual({ inode: text, progress, away: text })
      expect((await scene.store.load('l1')).spec.prompt).toBe(text)
    })
  })
}

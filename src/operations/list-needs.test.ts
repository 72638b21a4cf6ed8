import { expect, test } from 'vitest'
import type { Owner, Spec } from '../engine/loop.ts'
import {
  crashes,
  type Happening,
  isDenied,
  START,
  specOf,
  times,
  turn,
  wantsPerson,
  works,
} from '../engine/stories.test-support.ts'
import { makeRepository } from '../host/repository.test-support.ts'
import { storyIn } from '../host/store-contract/scene.ts'
import { bentLoop } from './bent.test-support.ts'
import { type OperationPlace, openPlace } from './place.test-support.ts'

const DONE = 'date +%N > work.txt; echo "<promise>COMPLETE</promise>"'

/** A place whose clock matches the stories. */
function openThen(): OperationPlace {
  const place = openPlace()
  place.context.now = () => START
  return place
}

const needsIn = async (place: OperationPlace) => (await place.run('list_needs', {})).needs
const owned = (owner: object): Partial<Spec> => ({ work: { ...specOf().work, owner: owner as Owner } })
const asksFor = (about: string): Happening => turn({ ask: { kind: 'person', words: 'May it go on?', about } })

test('an interrupted loop needs a person to resume it', async () => {
  const place = openPlace()
  const prompt = '\n  Build it \nwith care'
  const { loop } = await place.run('start_loop', { prompt, agent: place.agent(DONE), dir: place.cwd })
  expect(await needsIn(place)).toEqual([
    {
      loop,
      n: 0,
      since: expect.any(Number),
      kind: 'unattended',
      title: 'Build it',
      dir: place.cwd,
      agent: place.agent(DONE),
      owner: 'person',
      iteration: 0,
      sentence: 'interrupted after 0 iterations. The process that ran it has ended.',
      unread: false,
    },
  ])
  await place.drive(loop)
  expect(await needsIn(place)).toEqual([])
})

test.each<[kind: string, spec: Partial<Spec>, story: Happening[], more: object]>([
  ['question', {}, [works, wantsPerson('Which one?')], { question: 'Which one?', iteration: 2 }],
  ['permission', {}, [isDenied(), isDenied()], { question: 'The agent was denied permission twice: Bash(rm)' }],
  ['approval', owned({ kind: 'vault', path: '/v', id: 'a' }), [asksFor('approval')], { owner: 'vault' }],
  [
    'stuck',
    {},
    times(5, crashes()),
    { reason: 'agent-failed', sentence: expect.stringMatching(/^halted \(agent-failed\)/) },
  ],
])('%s is derived from the state of the loop', async (kind, spec, story, more) => {
  const place = openThen()
  await storyIn(place.context.store(), 'a1', spec, ...story)
  expect(await needsIn(place)).toMatchObject([{ loop: 'a1', kind, n: story.length, unread: true, ...more }])
})

test('work that cannot be merged is a conflict', async () => {
  const place = openThen()
  const store = place.context.store()
  const loop = await storyIn(store, 'a1', {}, works)
  const lease = await store.lease('a1')
  if ('heldBy' in lease) throw new Error('Another process is running it.')
  const next = { kind: 'halt', reason: 'conflict', sentence: 'Both changed a.ts.' } as const
  await store.save(lease, { ...loop, next }, { kind: 'woke', at: START })
  await lease.release()
  expect(await needsIn(place)).toMatchObject([{ kind: 'conflict', reason: 'conflict' }])
})

test('changed tests that wait for permission are listed with their findings', async () => {
  const place = openPlace()
  await bentLoop(place.context, 'bent-1', { paths: ['a.test.ts', 'b.test.ts'] })
  const paths = ['a.test.ts', 'b.test.ts'].map((path) => ({ path, words: 'was changed' }))
  expect(await needsIn(place)).toMatchObject([{ loop: 'bent-1', kind: 'allow', paths, question: expect.any(String) }])
})

test('work that waits to be accepted needs a review, until it is accepted', async () => {
  const place = openPlace({ cwd: (await makeRepository()).dir })
  const { id } = await place.run('create_task', { title: 'Fix the login', agent: place.agent(DONE), worktree: true })
  const { loop } = await place.run('start_loop', { task_id: id })
  await place.drive(loop)
  expect(await needsIn(place)).toMatchObject([
    { loop, kind: 'review', title: 'Fix the login', task_id: id, owner: 'board', dir: place.cwd },
  ])
  await place.run('accept', { loop })
  expect(await needsIn(place)).toEqual([])
})

test('a retried loop no longer needs a person, its retry does', async () => {
  const place = openPlace({ cwd: (await makeRepository()).dir })
  const asked = {
    prompt: 'Build it',
    agent: place.agent('date +%N > work.txt; echo Worked.'),
    limits: { iterations: 1 },
  }
  const { loop } = await place.run('start_loop', asked)
  await place.drive(loop)
  expect(await needsIn(place)).toMatchObject([{ loop, kind: 'stuck', reason: 'max-iterations' }])
  const again = await place.run('retry', { loop })
  expect(await needsIn(place)).toMatchObject([{ loop: again.loop, kind: 'unattended' }])
})

test('a loop that stopped a week ago counts as abandoned', async () => {
  const place = openThen()
  await storyIn(place.context.store(), 'a1', {}, ...times(5, crashes()))
  place.context.now = () => START + 7 * 24 * 3_600_000 + 1
  expect(await needsIn(place)).toEqual([])
})

test('seen loops come last, until something happens again', async () => {
  const place = openThen()
  const store = place.context.store()
  await storyIn(store, 'a1', {}, wantsPerson())
  await storyIn(store, 'a2', {}, wantsPerson())
  const first = { loop: 'a1', n: 1 }
  expect(await place.run('mark_seen', first)).toEqual(first)
  const unread = async () => (await needsIn(place)).map(({ loop, unread }) => [loop, unread])
  expect(await unread()).toEqual([
    ['a2', true],
    ['a1', false],
  ])
  expect(await place.run('get_overview', {})).toMatchObject({ needsYou: 2, unread: 1 })
  await place.run('steer', { loop: 'a1', words: 'Yes.' })
  expect(await place.run('mark_seen', { loop: 'a1', n: 0 })).toEqual(first)
  await expect(place.run('mark_seen', { loop: 'nobody', n: 1 })).rejects.toMatchObject({ code: 'loop-unknown' })
})

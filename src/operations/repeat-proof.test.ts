import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Loop } from '../engine/loop.ts'
import { makeRepository, type TestRepository } from '../host/repository.test-support.ts'
import { type OperationPlace, openPlace } from './place.test-support.ts'
import { explainGreen, proveAgain } from './repeat-proof.ts'

const DONE = 'echo; echo "<promise>COMPLETE</promise>"'
const CHECK = 'sh check.sh'

type Scene = { place: OperationPlace; repository: TestRepository; loop: Loop; tried: string[] }

/** A loop whose agent does this in every turn, driven until it stops. */
async function play(files: Record<string, string>, agent: string, asked: object = {}): Promise<Scene> {
  const repository = await makeRepository(files)
  const place = openPlace({ cwd: repository.dir })
  const { loop: id } = await place.run('start_loop', {
    prompt: 'Build it',
    agent: place.agent(`${agent}; ${DONE}`),
    checks: [CHECK],
    ...asked,
  })
  return { place, repository, loop: await place.drive(id), tried: [] }
}

const again = ({ place, tried }: Scene, signal = new AbortController().signal) =>
  proveAgain(place.context, undefined, { signal, saw: (run) => void tried.push(run) })

const why = ({ place, tried }: Scene, signal = new AbortController().signal) =>
  explainGreen(place.context, undefined, { signal, saw: (paths) => void tried.push(paths.join(' ')) })

const leftOver = ({ place, repository }: Scene) => [
  ...readdirSync(join(place.context.home, 'again', 'proof')),
  ...(existsSync(join(repository.dir, '.git', 'worktrees')) ? ['a worktree'] : []),
]

test('a proof is repeated on the files that the checks saw, and changes nothing', async () => {
  const scene = await play({ 'check.sh': 'test -f done.txt\n' }, 'echo done > done.txt')
  expect(scene.loop.next).toMatchObject({ kind: 'complete', proof: 'verified' })
  scene.repository.write('done.txt', 'changed since\n')
  const events = await scene.place.run('list_events', {})
  expect(await again(scene)).toEqual({
    loop: scene.loop.id,
    grade: 'verified',
    repeated: {
      kind: 'graded',
      grade: 'verified',
      sentence: `\`${CHECK}\` failed before the loop began and passes now.`,
    },
    isAsGood: true,
  })
  expect(scene.tried).toEqual(['control', 'start'])
  expect(leftOver(scene)).toEqual([])
  expect(scene.repository.read('done.txt')).toBe('changed since\n')
  expect(await scene.place.run('list_events', {})).toEqual(events)
  expect((await why(scene)).explained).toEqual({ kind: 'untouched' })
})

test('a check that passes only in the folder of the loop does not pass again', async () => {
  const scene = await play(
    { 'check.sh': 'test -f ignored.txt\n', '.gitignore': 'ignored.txt\n' },
    'echo > ignored.txt; date +%N > work.txt',
  )
  expect(scene.loop.next.kind).toBe('complete')
  expect(await again(scene)).toMatchObject({ repeated: { kind: 'fails', checks: [CHECK] }, isAsGood: false })
})

test('a bent check is named, and so is the file that bends it', async () => {
  const files = { 'check.sh': '. ./lib.sh\ntest -f done.txt\n', 'lib.sh': 'set -e\n' }
  const scene = await play(files, 'echo "exit 0" > check.sh; echo "set -eu" > lib.sh; date +%N > work.txt')
  expect(scene.loop.next.kind).toBe('wait')
  const { repeated, isAsGood } = await again(scene)
  expect({ repeated, isAsGood }).toEqual({
    repeated: { kind: 'bent', paths: expect.arrayContaining(['check.sh']) },
    isAsGood: false,
  })
  const explained = { kind: 'found', checks: [CHECK], paths: ['check.sh'], isSmallest: true }
  expect((await why(scene)).explained).toEqual(explained)
  expect(leftOver(scene)).toEqual([])
})

test('files that turn a check green only together are named together', async () => {
  const files = {
    'check.sh': '. ./a.sh\n. ./b.sh\n. ./c.sh\n',
    'a.sh': 'false || exit 1\n',
    'b.sh': 'false || exit 1\n',
    'c.sh': '\n',
  }
  const scene = await play(files, 'for f in a b c; do echo "true # $f" > $f.sh; done')
  expect((await why(scene)).explained).toMatchObject({ kind: 'found', paths: ['a.sh', 'b.sh'], isSmallest: true })
  expect(scene.tried.slice(0, 3)).toEqual(['a.sh', 'b.sh', 'c.sh'])
})

test('a changed script that is not needed is reported as such', async () => {
  const scene = await play(
    { 'check.sh': 'test -f done.txt\n' },
    'echo > done.txt; echo "test -f done.txt # done" > check.sh',
  )
  expect((await why(scene)).explained).toEqual({ kind: 'needless' })
})

test('merged work whose worktree was deleted can be proven again', async () => {
  const scene = await play({ 'check.sh': 'test -f done.txt\n' }, 'echo done > done.txt', { worktree: true })
  await scene.place.run('accept', { loop: scene.loop.id })
  const { repeated } = await proveAgain(scene.place.context, scene.loop.id, {
    signal: new AbortController().signal,
    saw: () => {},
  })
  expect(repeated).toMatchObject({ kind: 'graded', grade: 'verified' })
})

test('leaves no trace when interrupted', async () => {
  const scene = await play({ 'check.sh': 'test -f done.txt\n' }, 'echo done > done.txt')
  const controller = new AbortController()
  const stopped = await proveAgain(scene.place.context, undefined, {
    signal: controller.signal,
    saw: () => controller.abort(),
  })
  expect(stopped.repeated).toEqual({ kind: 'stopped' })
  expect(leftOver(scene)).toEqual([])
})

test('takes no longer than the experiments of a loop may take', async () => {
  const scene = await play({ 'check.sh': 'test -f done.txt\n' }, 'echo done > done.txt', { proofMinutes: 1e-6 })
  expect(scene.loop.next).toMatchObject({ kind: 'complete', proof: 'verified' })
  const why = 'the time for experiments is used up'
  expect(await again(scene)).toMatchObject({ repeated: { kind: 'cannot', why }, isAsGood: false })
})

test('says why there is nothing to repeat', async () => {
  const place = openPlace()
  const agent = place.agent(`date > a.txt; ${DONE}`)
  const { loop } = await place.run('start_loop', { prompt: 'Build it', agent })
  const repeat = () => proveAgain(place.context, undefined, { signal: new AbortController().signal, saw: () => {} })
  await expect(repeat()).rejects.toThrow(`Loop ${loop} has no check`)
  const { loop: checked } = await place.run('start_loop', { prompt: 'Build it', agent, checks: ['test -f a.txt'] })
  await expect(repeat()).rejects.toThrow(`The checks of loop ${checked} have not run yet.`)
  await place.drive(checked)
  await expect(repeat()).rejects.toThrow('did not run in a git repository')
})

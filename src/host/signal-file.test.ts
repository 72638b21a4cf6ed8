import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextLoop } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { eventually, temporaryFolder } from './place.test-support.ts'
import { watchFor, watchForQuiet } from './signal-file.ts'

const SHORT_MS = 250

/** How long something takes, and its result. */
async function timed<Answer>(work: Promise<Answer>): Promise<{ answer: Answer; ms: number }> {
  const start = performance.now()
  const answer = await work
  return { answer, ms: performance.now() - start }
}

/** Linux shows which folders a process watches. */
function isWatched(folder: string): boolean {
  const mark = `ino:${statSync(folder).ino.toString(16)} `
  return readdirSync('/proc/self/fdinfo').some((fd) => {
    const path = `/proc/self/fdinfo/${fd}`
    return existsSync(path) && readFileSync(path, 'utf8').includes(mark)
  })
}

test('an existing file is seen at once', async () => {
  const path = join(temporaryFolder(), 'done.md')
  writeFileSync(path, '')
  const { answer, ms } = await timed(watchFor(path))
  expect(answer).toBe(true)
  expect(ms).toBeLessThan(SHORT_MS)
})

test('a file that is created later is seen by its event, before the poll would look', async () => {
  const path = join(temporaryFolder(), 'done.md')
  const waiting = watchFor(path)
  writeFileSync(path, '')
  const { answer, ms } = await timed(waiting)
  expect(answer).toBe(true)
  expect(ms).toBeLessThan(SHORT_MS)
})

test('a file that is renamed into place is seen', async () => {
  const folder = temporaryFolder()
  const waiting = watchFor(join(folder, 'done.md'))
  writeFileSync(join(folder, 'done.md.tmp'), '')
  renameSync(join(folder, 'done.md.tmp'), join(folder, 'done.md'))
  expect(await waiting).toBe(true)
})

test('another file is ignored', async () => {
  const folder = temporaryFolder()
  const stop = new AbortController()
  const waiting = watchFor(join(folder, 'done.md'), { signal: stop.signal })
  const waitingForAnother = watchFor(join(folder, 'done.md.tmp'))
  writeFileSync(join(folder, 'done.md.tmp'), '')
  expect(await waitingForAnother).toBe(true) // so both have had their event
  expect(await Promise.race([waiting, nextLoop('still waiting')])).toBe('still waiting')
  stop.abort()
  expect(await waiting).toBe(false)
})

test('the folder may be created later', async () => {
  const folder = join(temporaryFolder(), 'a', 'b')
  const waiting = watchFor(join(folder, 'done.md'))
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'done.md'), '')
  expect(await waiting).toBe(true)
})

test('the folder may be removed and created again, and is watched again', async () => {
  const root = temporaryFolder()
  const [folder, another] = [join(root, 'project'), join(root, 'another')]
  for (const each of [folder, another]) mkdirSync(each)
  const waiting = watchFor(join(folder, 'done.md'))
  rmSync(folder, { recursive: true })
  renameSync(another, folder)
  await eventually(() => isWatched(folder))
  writeFileSync(join(folder, 'done.md'), '')
  const { answer, ms } = await timed(waiting)
  expect(answer).toBe(true)
  expect(ms).toBeLessThan(SHORT_MS)
})

test('a signal ends the wait, even one that came before', async () => {
  const path = join(temporaryFolder(), 'done.md')
  const stop = new AbortController()
  const waiting = watchFor(path, { signal: stop.signal })
  stop.abort()
  expect(await waiting).toBe(false)
  expect(await watchFor(path, { signal: stop.signal })).toBe(false)
  expect(await watchForQuiet(path, 10, { signal: stop.signal })).toBe(false)
})

test('a file is quiet when nobody has written to it for that long', async () => {
  const path = join(temporaryFolder(), 'done.md')
  writeFileSync(path, 'one')
  const waiting = timed(watchForQuiet(path, 300))
  await nextLoop() // by then it has looked at the file
  utimesSync(path, 1, 1)
  const { answer, ms } = await waiting
  expect(answer).toBe(true)
  expect(ms).toBeGreaterThan(550)
})

test('a file that vanishes is waited for again', async () => {
  const folder = temporaryFolder()
  const path = join(folder, 'done.md')
  const stop = new AbortController()
  writeFileSync(path, '')
  const waiting = watchForQuiet(path, 100, { signal: stop.signal })
  await nextLoop() // by then it has looked at the file
  expect(isWatched(folder)).toBe(false)
  rmSync(path)
  await eventually(() => isWatched(folder))
  expect(await Promise.race([waiting, nextLoop('still waiting')])).toBe('still waiting')
  stop.abort()
  expect(await waiting).toBe(false)
})

import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { cancel, claims, loopAfter, pause, setLimits, specOf, works } from '../engine/stories.test-support.ts'
import { parseLoopFile } from '../formats/loop-file.ts'
import { temporaryFolder } from '../host/place.test-support.ts'
import { canHaveFace, nameOf, ordersIn, putAside, readFace, removeFace, writeFace } from './face.ts'

const spec = specOf({ prompt: 'Build it', promise: 'DONE' })
const loop = loopAfter(spec, works)

function written(of = loop): { dir: string; path: string } {
  const dir = temporaryFolder()
  const path = join(dir, '.claude', 'ralph-loop.local.md')
  expect(canHaveFace(dir, path)).toBe(true)
  writeFace(path, { loop: of, session: 's-1', home: '/none' })
  return { dir, path }
}

function read(path: string) {
  const found = readFace(path)
  if (found.kind !== 'file') throw new Error(`It is ${found.kind}.`)
  return found.file
}

describe('what is written', () => {
  test('shows the state of the loop', () => {
    expect(read(written().path)).toEqual({
      active: true,
      iteration: 2,
      maxIterations: 10,
      promise: 'DONE',
      prompt: 'Build it',
      sessionId: 's-1',
      loopId: 'L1',
      startedAt: '2026-01-05T09:00:00Z',
    })
    expect(read(written(loopAfter(loop, pause)).path)).toMatchObject({ active: false, iteration: 1 })
    expect(read(written(loopAfter(loop, claims('clear'))).path)).toMatchObject({ active: true, iteration: 2 })
  })

  test('means no order', () => {
    for (const of of [loop, loopAfter(loop, pause), loopAfter(loop, setLimits({ iterations: 0 }))])
      expect(ordersIn(read(written(of).path), of, '/none')).toEqual([])
  })

  test('leaves nothing else behind', () => {
    const { dir } = written()
    expect(readdirSync(join(dir, '.claude'))).toEqual(['ralph-loop.local.md'])
    expect(nameOf(dir, join(dir, '.claude', 'x'))).toBe('.claude/x')
  })

  test.each<[what: string, make: (dir: string, outside: string) => void]>([
    ['leads out of the project', (dir, outside) => symlinkSync(outside, join(dir, '.claude'))],
    ['leads nowhere', (dir) => symlinkSync('no/where', join(dir, '.claude'))],
    ['is a file', (dir) => writeFileSync(join(dir, '.claude'), '')],
  ])('is nothing if the folder %s', (_, make) => {
    const [dir, outside] = [temporaryFolder(), temporaryFolder()]
    make(dir, outside)
    expect(canHaveFace(dir, join(dir, '.claude', 'ralph-loop.local.md'))).toBe(false)
    expect(readdirSync(outside)).toEqual([])
  })

  test('is nothing if there is no face', () => {
    writeFace('', { loop, session: 's-1', home: '/none' })
    removeFace('')
    expect(readFace('')).toEqual({ kind: 'gone' })
  })

  test('replaces a link and does not follow it', () => {
    const { dir, path } = written()
    writeFileSync(join(dir, 'mine'), 'mine')
    rmSync(path)
    symlinkSync(join(dir, 'mine'), path)
    writeFace(path, { loop, session: 's-1', home: '/none' })
    expect([readFileSync(join(dir, 'mine'), 'utf8'), readFace(path).kind]).toEqual(['mine', 'file'])
  })
})

describe('what is found', () => {
  test.each<[what: string, make: (path: string) => void, found: object]>([
    ['nothing', () => {}, { kind: 'gone' }],
    ['garbage', (path) => writeFileSync(path, 'x'), { kind: 'broken' }],
    ['nothing in it', (path) => writeFileSync(path, ''), { kind: 'broken' }],
    ['too much of it', (path) => writeFileSync(path, Buffer.alloc(9 << 20)), { kind: 'broken' }],
    ['a link', (path) => symlinkSync('/etc/hostname', path), { kind: 'strange', why: 'it is now a symbolic link' }],
    ['a folder', (path) => mkdirSync(path), { kind: 'strange', why: 'it is not a regular file' }],
  ])('%s', (_, make, found) => {
    const path = join(temporaryFolder(), 'face')
    make(path)
    expect(readFace(path)).toEqual(found)
    removeFace(path)
    expect(readFace(path)).toEqual(found) // only our own files are removed
  })

  test('no permission', ({ skip }) => {
    skip(process.getuid?.() === 0, 'root may read everything')
    const { path } = written()
    chmodSync(path, 0)
    expect(readFace(path)).toEqual({ kind: 'strange', why: 'it cannot be read' })
  })

  test('nothing, if its folder is a file', () => {
    const dir = temporaryFolder()
    writeFileSync(join(dir, 'file'), '')
    expect(readFace(join(dir, 'file', 'face'))).toEqual({ kind: 'gone' })
  })
})

test('a broken face is renamed to a unique name', () => {
  const { path } = written()
  const name = putAside(path, Date.UTC(2026, 10, 16, 6, 8, 14, 123))
  expect(name).toBe('ralph-loop.local.md.broken-2026-11-16T06-08-14-123Z')
  expect([existsSync(path), existsSync(join(path, '..', name))]).toEqual([false, true])
})

describe("what the user's edits ask for", () => {
  const face = read(written().path)
  test.each<[what: string, change: Partial<typeof face>, orders: object[]]>([
    ['another limit', { maxIterations: 3 }, [{ kind: 'limits', limits: { iterations: 3 } }]],
    ['no limit', { maxIterations: 0 }, [{ kind: 'limits', limits: { iterations: 0 } }]],
    ['another promise', { promise: 'OK' }, [{ kind: 'edit', promise: 'OK' }]],
    ['no promise', { promise: '' }, [{ kind: 'edit', promise: '', signals: ['TASK_COMPLETE'] }]],
    ['another prompt', { prompt: 'Build more' }, [{ kind: 'edit', prompt: 'Build more' }]],
    ['a prompt with extra blanks around it', { prompt: '\n Build it \n' }, []],
    ['another counter', { iteration: 9 }, []],
    ['another start', { startedAt: '' }, []],
    ['a pause', { active: false }, [{ kind: 'pause' }]],
    [
      'all of it',
      { maxIterations: 3, promise: 'OK', prompt: 'x', active: false },
      [{ kind: 'limits', limits: { iterations: 3 } }, { kind: 'edit', prompt: 'x', promise: 'OK' }, { kind: 'pause' }],
    ],
  ])('%s', (_, change, orders) => {
    expect(ordersIn({ ...face, ...change }, loop, '/none')).toEqual(orders)
  })

  test('only a command resumes', () => {
    expect(ordersIn({ ...face, active: true }, loopAfter(loop, pause), '/none')).toEqual([])
    expect(ordersIn({ ...face, active: false }, loopAfter(loop, pause), '/none')).toEqual([])
  })

  test('an ended loop has a face that can be read', () => {
    const { path } = written(loopAfter(loop, cancel))
    expect(parseLoopFile(readFileSync(path, 'utf8'))).toBeDefined()
  })
})

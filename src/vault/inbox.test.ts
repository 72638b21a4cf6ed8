import { appendFileSync, mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../host/place.test-support.ts'
import { type Inbox, openInbox } from './inbox.ts'
import { resolveSettings } from './settings.ts'

const QUIET_MS = 1_500
const START = Date.UTC(2026, 0, 15, 10)

type Box = {
  vault: string
  /** Writes to the end of a file, by the clock of the test. */
  append(file: string, text?: string, mtime?: number): void
  /** Lets time go by, then looks. */
  after(ms: number): Inbox
}

function openBox(): Box {
  const vault = temporaryFolder()
  for (const name of ['Needs_Action', 'Ralph_State']) mkdirSync(join(vault, name))
  let passed = 0
  const settings = resolveSettings({}, { env: {}, home: vault, vault })
  const read = openInbox({ vault, settings, now: () => START + passed, note: () => {} }, () => passed)
  return {
    vault,
    append(file, text = 'Do it.\n', mtime = START + passed) {
      const path = join(vault, 'Needs_Action', file)
      appendFileSync(path, text)
      utimesSync(path, mtime / 1_000, mtime / 1_000)
    },
    after(ms) {
      passed += ms
      return read()
    },
  }
}

const files = ({ ready }: Inbox) => ready.map(({ file }) => file)

test('a file is left alone while it is being written', () => {
  const { append, after } = openBox()
  append('a.md')
  for (let n = 0; n < 5; n++) {
    expect(after(QUIET_MS - 1)).toEqual({ ready: [], growing: [{ file: 'a.md', since: QUIET_MS - 1 }], dueMs: 1 })
    append('a.md', 'More.\n')
  }
  expect(files(after(QUIET_MS))).toEqual(['a.md'])
})

test('one that was written long ago is complete at once', () => {
  const { append, after } = openBox()
  append('a.md', 'x', START - QUIET_MS)
  expect(after(0)).toMatchObject({ ready: [{ file: 'a.md', id: 'a', isEmpty: false }], growing: [] })
})

test('a time in the future is not waited for', () => {
  const { append, after } = openBox()
  append('a.md', 'x', START + 1e9)
  expect(files(after(0))).toEqual([])
  expect(files(after(QUIET_MS))).toEqual(['a.md'])
})

test('says when the first file being written may be complete', () => {
  const { append, after } = openBox()
  append('a.md')
  after(1_000)
  append('b.md')
  expect(after(100)).toMatchObject({ growing: [{ file: 'a.md' }, { file: 'b.md' }], dueMs: QUIET_MS - 1_100 })
})

test('files of other programs, notes and folders are left alone; a link is not', () => {
  const { vault, append, after } = openBox()
  for (const name of ['.hidden.md', 'x.md~', '~$x.md', 'x.TMP', 'x.part', 'x.crdownload', '.x.md.swp', 'x.md.why.md'])
    append(name, 'x', START - 60_000)
  mkdirSync(join(vault, 'Needs_Action/folder'))
  symlinkSync('/nowhere', join(vault, 'Needs_Action/link.md'))
  after(0)
  expect(files(after(QUIET_MS))).toEqual(['link.md'])
})

test('urgent ones come first, then the oldest, then by name', () => {
  const { append, after } = openBox()
  append('b.md', 'x', START - 60_000)
  append('a.md', 'x', START - 60_000)
  append('old.md', 'x', START - 90_000)
  append('low.md', '---\npriority: low\n---\nx', START - 99_000)
  append('urgent.md', '---\npriority: urgent\n---\nx', START - 50_000)
  append('wrong.md', '---\npriority: soon\n---\nx', START - 70_000)
  expect(files(after(0))).toEqual(['urgent.md', 'old.md', 'wrong.md', 'a.md', 'b.md', 'low.md'])
})

test('Needs_Action is created if only that is missing', () => {
  const { vault, append, after } = openBox()
  rmSync(join(vault, 'Needs_Action'), { recursive: true })
  expect(after(0)).toEqual({ ready: [], growing: [] })
  append('a.md')
  rmSync(join(vault, 'Needs_Action'), { recursive: true })
  rmSync(join(vault, 'Ralph_State'), { recursive: true })
  expect(() => after(0)).toThrow('Needs_Action cannot be read')
  writeFileSync(join(vault, 'Needs_Action'), 'a file')
  expect(() => after(0)).toThrow('Needs_Action cannot be read')
})

import { appendFileSync, ftruncateSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newLines, sizeOf } from './new-lines.ts'
import { temporaryFolder } from './place.test-support.ts'

function read(path: string, from: number): { lines: string[]; next: number | undefined } {
  const lines: string[] = []
  const next = newLines(path, { from, marker: 'tokens' }, (line) => lines.push(line))
  return { lines, next }
}

function fileOf(text: string): string {
  const path = join(temporaryFolder(), 'record.jsonl')
  writeFileSync(path, text)
  return path
}

test('returns the lines that contain the marker', () => {
  const path = fileOf('tokens 1\nnothing\nsome tokens 2 é\n\ntokens tokens 3\n')
  expect(read(path, 0)).toEqual({ lines: ['tokens 1', 'some tokens 2 é', 'tokens tokens 3'], next: sizeOf(path) })
})

test('returns a line once, and a half-written one when it is complete', () => {
  const path = fileOf('tokens 1\ntokens 2')
  expect(read(path, 0)).toEqual({ lines: ['tokens 1'], next: 9 })
  expect(read(path, 9)).toEqual({ lines: [], next: 9 })
  appendFileSync(path, '0\ntokens 3\n')
  expect(read(path, 9).lines).toEqual(['tokens 20', 'tokens 3'])
})

test('returns nothing from a file that got shorter, and continues from its end', () => {
  const path = fileOf('tokens 1\n')
  expect(read(path, 500)).toEqual({ lines: [], next: 9 })
})

test('returns nothing for what is not a file', () => {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'folder'))
  expect(read(join(folder, 'none'), 0)).toEqual({ lines: [], next: undefined })
  expect(read(join(folder, 'folder'), 0).lines).toEqual([])
  expect(sizeOf(join(folder, 'none'))).toBe(0)
})

test('reads only what is new in a file of any size', () => {
  const path = fileOf('')
  const file = openSync(path, 'r+')
  const size = 2 ** 40 // sparse: nobody could read that in a day
  ftruncateSync(file, size)
  writeSync(file, '\ntokens 1\n', size)
  expect(read(path, size)).toEqual({ lines: ['tokens 1'], next: size + 10 })
})

test('finds what is around and after a line that is too long to keep', () => {
  const path = fileOf(`tokens 1\n${'x'.repeat(9_000_000)}\ntokens 2\n${'y\n'.repeat(3_000_000)}tokens 3\n`)
  expect(read(path, 0)).toEqual({ lines: ['tokens 1', 'tokens 2', 'tokens 3'], next: sizeOf(path) })
})

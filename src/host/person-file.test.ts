import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { missingFolders, readPersonFile, removePersonFile, replacePersonFile, targetOf } from './person-file.ts'

function makeFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-test-')))
  onTestFinished(() => {
    chmodSync(folder, 0o700)
    rmSync(folder, { recursive: true })
  })
  return folder
}

const bytes = (text: string) => Buffer.from(text)

test('a file is replaced whole, with its permissions, and nothing is left next to it', () => {
  const folder = makeFolder()
  const path = join(folder, 'settings.json')
  writeFileSync(path, 'old', { mode: 0o600 })
  writeFileSync(join(folder, '.settings.json.ralph-tmp'), 'left by a killed process')
  replacePersonFile(path, bytes('new'))
  expect(readFileSync(path, 'utf8')).toBe('new')
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(readdirSync(folder)).toEqual(['settings.json'])
})

test('missing folders are listed, and created', () => {
  const folder = makeFolder()
  const path = join(folder, 'a', 'b', 'c')
  expect(missingFolders(path)).toEqual([join(folder, 'a'), join(folder, 'a', 'b')])
  replacePersonFile(path, bytes('x'))
  expect(missingFolders(path)).toEqual([])
})

test('the target of a link is replaced, not the link', () => {
  const folder = makeFolder()
  mkdirSync(join(folder, 'dotfiles'))
  writeFileSync(join(folder, 'dotfiles', 'settings.json'), 'old')
  symlinkSync('dotfiles/settings.json', join(folder, 'link'))
  expect(readPersonFile(join(folder, 'link'))?.target).toBe(join(folder, 'dotfiles', 'settings.json'))
  expect(targetOf(join(folder, 'link'))).toBe(join(folder, 'dotfiles', 'settings.json'))
  replacePersonFile(join(folder, 'link'), bytes('new'))
  expect(lstatSync(join(folder, 'link')).isSymbolicLink()).toBe(true)
  expect(readFileSync(join(folder, 'dotfiles', 'settings.json'), 'utf8')).toBe('new')
})

test('a missing file is undefined, and removing it again is not an error', () => {
  const path = join(makeFolder(), 'nothing')
  expect(readPersonFile(path)).toBeUndefined()
  removePersonFile(path)
  expect(existsSync(path)).toBe(false)
})

test.each<[what: string, make: (path: string) => void, sentence: string]>([
  ['a folder', (path) => mkdirSync(path), 'must be a file, but it is a folder'],
  ['a broken link', (path) => symlinkSync('nowhere', path), 'is a broken symbolic link'],
  ['a link to itself', (path) => symlinkSync(path, path), 'its symbolic links form a loop'],
])('%s in its place is refused with a sentence', (_, make, sentence) => {
  const path = join(makeFolder(), 'settings.json')
  make(path)
  expect(() => readPersonFile(path)).toThrow(sentence)
  expect(() => replacePersonFile(path, bytes('x'))).toThrow(path)
})

test('a file in the place of a folder is refused with a sentence', () => {
  const folder = makeFolder()
  writeFileSync(join(folder, 'file'), '')
  expect(() => replacePersonFile(join(folder, 'file', 'settings.json'), bytes('x'))).toThrow(
    'a file is in the place of a folder',
  )
})

// root may do everything.
test.skipIf(process.getuid?.() === 0)('denied access is reported (root may read everything)', () => {
  const folder = makeFolder()
  const path = join(folder, 'settings.json')
  writeFileSync(path, 'x', { mode: 0o000 })
  expect(() => readPersonFile(path)).toThrow('cannot be read: permission denied')
  chmodSync(path, 0o400)
  expect(() => replacePersonFile(path, bytes('y'))).toThrow('cannot be written: permission denied')
  chmodSync(folder, 0o500)
  expect(() => replacePersonFile(join(folder, 'new'), bytes('y'))).toThrow('cannot be written: permission denied')
})

import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { RalphError } from '../error.ts'
import { isFolder, makePrivateFolder, pathBelow, writeWhole } from './files.ts'
import { canMount, eventually, smallDisk, source, startScript, temporaryFolder } from './place.test-support.ts'
import { inPlainWords } from './plain-words.ts'

describe('a file that is written whole', () => {
  test('has the text, byte for byte, and is private to its owner', () => {
    const folder = temporaryFolder()
    const text = '---\r\n🦉 \u2028 \0 "quotes"'
    writeWhole(join(folder, 'face.md'), text)
    expect(readFileSync(join(folder, 'face.md'), 'utf8')).toBe(text)
    expect(statSync(join(folder, 'face.md')).mode & 0o777).toBe(0o600)
    expect(readdirSync(folder)).toEqual(['face.md'])
  })

  test('replaces the previous one', () => {
    const path = join(temporaryFolder(), 'face.md')
    writeWhole(path, 'a long first text')
    writeWhole(path, 'short')
    expect(readFileSync(path, 'utf8')).toBe('short')
  })

  test('may be empty, or large', () => {
    const path = join(temporaryFolder(), 'face.md')
    for (const text of ['', 'x'.repeat(10_000_000)]) {
      writeWhole(path, text)
      expect(readFileSync(path, 'utf8')).toBe(text)
    }
  })

  test('is never seen half-written', async () => {
    const path = join(temporaryFolder(), 'face.md')
    const [first, second] = ['a'.repeat(300_000), 'b'.repeat(200_000)]
    writeWhole(path, first)
    const writer = startScript(
      `const { writeWhole } = await import(${source('host/files.ts')})
       console.log('writing')
       for (;;) for (const [letter, count] of [['b', 200_000], ['a', 300_000]]) writeWhole(process.env.FACE, letter.repeat(count))`,
      { FACE: path },
    )
    await eventually(() => writer.lines().length)
    for (let look = 0; look < 500; look++) expect([first, second]).toContain(readFileSync(path, 'utf8'))
    process.kill(writer.pid, 'SIGKILL')
    await writer.ended
    expect([first, second]).toContain(readFileSync(path, 'utf8'))
  })

  test('that cannot be written leaves nothing behind', () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'face.md'))
    expect(() => writeWhole(join(folder, 'face.md'), 'text')).toThrow()
    expect(readdirSync(folder)).toEqual(['face.md'])
  })

  test('in a missing folder is refused with a sentence', () => {
    const path = join(temporaryFolder(), 'gone', 'face.md')
    expect(() => writeWhole(path, 'text')).toThrow(
      expect.objectContaining({ code: 'home-unusable', message: expect.stringContaining(path) }),
    )
  })

  test.skipIf(!canMount)('on a full disk stays unchanged (needs mount)', () => {
    const { path } = smallDisk('size=1m')
    const face = join(path, 'face.md')
    writeWhole(face, 'as it was')
    writeFileSync(join(path, 'ballast'), Buffer.alloc(500 * 1024))
    expect(() => writeWhole(face, 'x'.repeat(900 * 1024))).toThrow(expect.objectContaining({ code: 'disk-full' }))
    expect(readFileSync(face, 'utf8')).toBe('as it was')
    expect(readdirSync(path).sort()).toEqual(['ballast', 'face.md'])
  })

  test.skipIf(!canMount)('on a read-only disk is refused with a sentence (needs mount)', () => {
    const disk = smallDisk('size=1m')
    disk.remount('ro')
    expect(() => writeWhole(join(disk.path, 'face.md'), 'text')).toThrow(
      expect.objectContaining({ code: 'home-unusable' }),
    )
  })
})

describe('a private folder', () => {
  test('is created with its missing parents, private to its owner', () => {
    const path = join(temporaryFolder(), 'a', 'b')
    makePrivateFolder(path)
    expect(statSync(path).mode & 0o777).toBe(0o700)
    expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700)
  })

  test('that already exists stays as it is', () => {
    const path = temporaryFolder()
    writeFileSync(join(path, 'file'), '')
    chmodSync(path, 0o755)
    makePrivateFolder(path)
    expect(readdirSync(path)).toEqual(['file'])
    expect(statSync(path).mode & 0o777).toBe(0o755)
  })

  test('may be a link to a folder', () => {
    const folder = temporaryFolder()
    const link = join(temporaryFolder(), 'link')
    symlinkSync(folder, link)
    makePrivateFolder(join(link, 'below'))
    expect(readdirSync(folder)).toEqual(['below'])
  })
})

test.each([
  ['/place', '/place/home', 'home'],
  ['/place', '/place/a/b', 'a/b'],
  ['/place', '/place/..home', '..home'],
  ['/', '/home', 'home'],
  ['/place', '/place', undefined],
  ['/place', '/placeshop', undefined],
  ['/place', '/', undefined],
  ['/place/sub', '/place/home', undefined],
])('the path from %s to %s is %s', (folder, path, way) => {
  expect(pathBelow(folder, path)).toBe(way)
})

test('a folder is neither a file nor nothing', () => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'file'), '')
  expect([folder, join(folder, 'file'), join(folder, 'gone'), join(folder, 'file', 'below')].map(isFolder)).toEqual([
    true,
    false,
    false,
    false,
  ])
})

describe('what Node says', () => {
  test.each([
    ['ENOSPC', 'disk-full'],
    ['EDQUOT', 'disk-full'],
    ['EACCES', 'home-unusable'],
    ['EPERM', 'home-unusable'],
    ['EROFS', 'home-unusable'],
    ['ENOENT', 'home-unusable'],
    ['ENOTDIR', 'home-unusable'],
    ['EEXIST', 'home-unusable'],
  ])('about %s is put plainly, with the path and the cause', (code, ours) => {
    const cause = Object.assign(new Error(code), { code })
    const error = inPlainWords(cause, '/some/where')
    expect(error).toBeInstanceOf(RalphError)
    expect(error).toMatchObject({ code: ours, cause, message: expect.stringContaining('/some/where') })
  })

  test.each([Object.assign(new Error('EIO'), { code: 'EIO' }), new TypeError('x is not a function'), 'text'])(
    'about anything else stays as it is: %s',
    (cause) => {
      expect(inPlainWords(cause, '/some/where')).toBe(cause)
    },
  )
})

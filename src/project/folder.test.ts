import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../host/place.test-support.ts'
import { listProjects, openProject, projectAt, readFace, removeFace, writeFace } from './folder.ts'

function withProjects(...names: string[]): string {
  const dir = temporaryFolder()
  for (const name of names) mkdirSync(join(dir, '.artefacts', name), { recursive: true })
  return dir
}

function says(act: () => unknown, code: string): string {
  try {
    act()
  } catch (error) {
    expect(error).toMatchObject({ name: 'RalphError', code })
    return error instanceof Error ? error.message : ''
  }
  throw new Error('Nothing was said.')
}

describe('the name of a project', () => {
  const dir = temporaryFolder()

  test.each(['a', 'shop', 'Shop-2', 'a.b_c', 'größe', '日本', '7', 'x'.repeat(64), 'template', 'a-', 'a_'])(
    '%s',
    (name) => {
      expect(projectAt(dir, name)).toEqual({ name, dir, folder: join(dir, '.artefacts', name) })
      expect(existsSync(join(dir, '.artefacts'))).toBe(false)
    },
  )

  test.each([
    ...[
      '',
      '.',
      '..',
      '../a',
      'a/b',
      'a\\b',
      '/a',
      '.a',
      '-a',
      '_a',
      'a.',
      'a b',
      ' a',
      'a\n',
      'a\u0000b',
      '\u001b[2J',
    ],
    ...['🦉', 'a🦉', 'x'.repeat(65), 'a:b', 'a*', '~', '$HOME'],
  ])('%j is invalid', (name) => {
    expect(says(() => projectAt(dir, name), 'usage')).toBe(
      `${JSON.stringify(name)} is not a valid project name. Use up to 64 letters and digits, with . _ - between them.`,
    )
  })

  test.each(['templates', 'Templates', 'TEMPLATES'])('%s is the folder for templates', (name) => {
    expect(says(() => projectAt(dir, name), 'usage')).toContain(`A project cannot be named "${name}"`)
  })
})

describe('a project', () => {
  test('that exists is opened, even through a link to its folder', () => {
    const dir = withProjects('shop')
    const link = join(temporaryFolder(), 'link')
    symlinkSync(dir, link)
    expect(openProject(link, 'shop')).toEqual(openProject(dir, 'shop'))
  })

  test.each<[story: string, known: string[], rest: string]>([
    ['without others', [], ''],
    ['next to one', ['abc'], ' Projects here: abc.'],
    ['next to one with nearly that name', ['shop2', 'abc'], ' Projects here: abc, shop2. Did you mean "shop2"?'],
  ])('that does not exist, %s, is reported missing', (_, known, rest) => {
    const dir = withProjects(...known)
    expect(says(() => openProject(dir, 'shop'), 'project-unknown')).toBe(
      `No project "shop" in ${dir}.${rest} Create it with: ralph init shop`,
    )
  })

  test('in a folder above is named', () => {
    const dir = withProjects('shop')
    const below = join(dir, 'a', 'b')
    mkdirSync(below, { recursive: true })
    expect(says(() => openProject(below, 'shop'), 'project-unknown')).toContain(
      `There is one in ${dir}: cd there, or use --dir.`,
    )
  })

  test('is listed by name; other folders are not', () => {
    const dir = withProjects('b', 'a', 'templates', '.hidden', 'a b')
    writeFileSync(join(dir, '.artefacts', 'file'), '')
    expect(listProjects(dir)).toEqual(['a', 'b'])
    expect(listProjects(join(dir, 'nowhere'))).toEqual([])
  })

  test.each(['.artefacts', '.artefacts/shop'])('is refused if %s leads out of the folder', (path) => {
    const dir = path === '.artefacts' ? temporaryFolder() : withProjects('other')
    const outside = temporaryFolder()
    symlinkSync(outside, join(dir, path))
    expect(says(() => projectAt(dir, 'shop'), 'usage')).toBe(
      `${join(dir, path)} is a link to ${outside}, outside ${dir}. Replace it with a folder.`,
    )
  })

  test.each(['.artefacts', '.artefacts/shop'])('is refused if %s is a broken link', (path) => {
    const dir = path === '.artefacts' ? temporaryFolder() : withProjects('other')
    symlinkSync(join(temporaryFolder(), 'later'), join(dir, path))
    expect(says(() => projectAt(dir, 'shop'), 'usage')).toContain('is a broken link')
  })

  test('may be a link inside the folder', () => {
    const dir = withProjects('shop')
    symlinkSync(join(dir, '.artefacts', 'shop'), join(dir, '.artefacts', 'same'))
    expect(openProject(dir, 'same').name).toBe('same')
  })

  test.each(['.artefacts', '.artefacts/shop'])('is refused if %s is a file', (path) => {
    const dir = path === '.artefacts' ? temporaryFolder() : withProjects('other')
    writeFileSync(join(dir, path), '')
    expect(says(() => projectAt(dir, 'shop'), 'usage')).toContain('must be a folder, but is a file')
  })
})

describe('a face', () => {
  test('is undefined until written, then read byte for byte, then deleted', () => {
    const project = projectAt(temporaryFolder(), 'shop')
    expect(readFace(project, 'spec.md')).toBeUndefined()
    writeFace(project, 'spec.md', '\uFEFF# 🦉\r\n')
    expect(readFace(project, 'spec.md')).toBe('\uFEFF# 🦉\r\n')
    expect(statSync(join(project.folder, 'spec.md')).mode & 0o777).toBe(0o644 & ~process.umask())
    expect(readdirSync(project.folder)).toEqual(['spec.md'])
    removeFace(project, 'spec.md')
    removeFace(project, 'spec.md')
    expect(readFace(project, 'spec.md')).toBeUndefined()
  })

  test('stays in its folder, whatever it is called', () => {
    const project = projectAt(temporaryFolder(), 'shop')
    writeFace(project, '../../escaped', 'x')
    expect(readdirSync(project.folder)).toEqual(['escaped'])
    expect(existsSync(join(project.dir, 'escaped'))).toBe(false)
  })

  test('replaces a link instead of following it', () => {
    const project = openProject(withProjects('shop'), 'shop')
    const outside = join(temporaryFolder(), 'secret')
    writeFileSync(outside, 'theirs')
    symlinkSync(outside, join(project.folder, 'tasks.json'))
    writeFace(project, 'tasks.json', 'ours')
    expect(readFileSync(outside, 'utf8')).toBe('theirs')
    expect(readFace(project, 'tasks.json')).toBe('ours')
  })

  test('that leads out of the folder is not read', () => {
    const project = openProject(withProjects('shop'), 'shop')
    const outside = join(temporaryFolder(), 'secret')
    writeFileSync(outside, 'theirs')
    symlinkSync(outside, join(project.folder, 'tasks.json'))
    expect(says(() => readFace(project, 'tasks.json'), 'input-invalid')).toBe(
      `${join(project.folder, 'tasks.json')} is a link to ${outside}, outside ${project.dir}. Replace it with a file.`,
    )
  })

  test('that is a folder is neither read nor written, but can be removed', () => {
    const project = openProject(withProjects('shop/done.md'), 'shop')
    expect(says(() => readFace(project, 'done.md'), 'input-invalid')).toContain('is not a file')
    expect(says(() => writeFace(project, 'done.md', ''), 'usage')).toContain('must be a file, but is a folder')
    removeFace(project, 'done.md')
    expect(readFace(project, 'done.md')).toBeUndefined()
  })

  test.skipIf(process.getuid?.() === 0)(
    'in a folder that cannot be written is an error that does not mention another home',
    () => {
      const project = openProject(withProjects('shop'), 'shop')
      writeFace(project, 'done.md', '')
      chmodSync(project.folder, 0o500)
      const path = join(project.folder, 'done.md')
      const sentence = `${path} cannot be written. Make its folder writable.`
      expect(says(() => writeFace(project, 'done.md', 'x'), 'home-unusable')).toBe(sentence)
      expect(says(() => removeFace(project, 'done.md'), 'home-unusable')).toBe(sentence)
      chmodSync(project.folder, 0o700)
    },
  )

  test('below a file is an error', () => {
    const dir = temporaryFolder()
    const project = projectAt(dir, 'shop')
    writeFileSync(join(dir, '.artefacts'), '')
    expect(readFace(project, 'spec.md')).toBeUndefined()
    expect(says(() => writeFace(project, 'spec.md', ''), 'home-unusable')).toContain('spec.md cannot be written')
  })
})

import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../host/place.test-support.ts'
import { blankSpec, initProject } from './init.ts'

test('a project starts with a spec that has its name', async () => {
  const dir = temporaryFolder()
  const { project, exclusion } = await initProject(dir, 'shop')
  const text = readFileSync(join(project.folder, 'spec.md'), 'utf8')
  expect(text).toBe(blankSpec('shop'))
  expect(text).toMatch(/^# shop\n/)
  expect(text).not.toContain('{{')
  expect(exclusion).toBe('none')
})

test('in a repository, its folder is kept out of commits', async () => {
  const dir = temporaryFolder()
  execFileSync('git', ['init', '--quiet'], { cwd: dir })
  mkdirSync(join(dir, 'sub'))
  expect(await initProject(join(dir, 'sub'), 'shop')).toMatchObject({ exclusion: 'excluded' })
  expect(readFileSync(join(dir, '.git', 'info', 'exclude'), 'utf8')).toContain('\n/sub/.artefacts/\n')
  expect(execFileSync('git', ['status', '--porcelain'], { cwd: dir, encoding: 'utf8' })).toBe('')
})

test('an existing spec is never overwritten', async () => {
  const dir = temporaryFolder()
  const { project } = await initProject(dir, 'shop')
  writeFileSync(join(project.folder, 'spec.md'), 'Mine.')
  await expect(initProject(dir, 'shop')).rejects.toThrow('already exists and was not changed')
  expect(readFileSync(join(project.folder, 'spec.md'), 'utf8')).toBe('Mine.')
})

test.each(['../out', 'a/b', '', '.hidden', 'templates'])('%j is not a name', async (name) => {
  await expect(initProject(temporaryFolder(), name)).rejects.toMatchObject({ code: 'usage' })
})

test('a link that leads elsewhere is not followed', async () => {
  const dir = temporaryFolder()
  symlinkSync(temporaryFolder(), join(dir, '.artefacts'))
  await expect(initProject(dir, 'shop')).rejects.toThrow('is a link to')
})

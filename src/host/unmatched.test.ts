import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from './place.test-support.ts'
import { makeRepository } from './repository.test-support.ts'
import { unmatchedNotes } from './unmatched.ts'

function write(dir: string, ...paths: string[]): void {
  for (const path of paths) {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), '')
  }
}

test.each<[glob: string, matches: boolean]>([
  ['test/**', true],
  ['*.js', true],
  ['a.js', true],
  ['data', true],
  ['data/cases.json', true],
  ['nothing/**', false],
  ['*.snap', false],
  ['/etc/**', false],
  // Such folders are not searched, so nothing is reported.
  ['node_modules/x/**', true],
])('%s matches something: %s', async (glob, matches) => {
  const dir = temporaryFolder()
  write(dir, 'test/a.js', 'data/cases.json')
  expect(await unmatchedNotes(dir, [glob])).toEqual(matches ? [] : [`--protect "${glob}" matches no file here.`])
})

test('in a repository also what git ignores, and what is next to the folder, seen from the top', async () => {
  const { dir } = await makeRepository()
  write(dir, 'web/a.js', 'web/secret/b.db', 'e2e/c.js')
  writeFileSync(join(dir, '.gitignore'), 'secret/\n')
  const globs = ['secret/*.db', 'e2e/**', 'web/**', 'none/**']
  expect(await unmatchedNotes(join(dir, 'web'), globs, 'a.md: protect')).toEqual([
    'a.md: protect "web/**" matches no file here.',
    'a.md: protect "none/**" matches no file here.',
  ])
})

test('nothing is reported if nothing is protected', async () => {
  expect(await unmatchedNotes('/nowhere')).toEqual([])
})

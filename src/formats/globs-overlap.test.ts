import fc from 'fast-check'
import { expect, test } from 'vitest'
import { matchesGlob } from './glob.ts'
import { fixedFolders, globsOverlap } from './globs-overlap.ts'

test.each<[one: string, other: string, overlap: boolean]>([
  ['src/a/**', 'src/b/**', false],
  ['src/a/**', 'src/a/b/c.ts', true],
  ['src/a', 'src/a/b/c.ts', true],
  ['src/a', 'src/ab', false],
  ['src/*.ts', 'src/*.js', false],
  ['src/*.ts', 'src/a.*', true],
  ['src/*.ts', 'src/a/b.ts', false],
  ['src/**/*.ts', 'src/a/b.ts', true],
  ['src/**/*.ts', 'docs/**', false],
  ['*.sql', 'db/**', true],
  ['*.sql', 'db/schema.json', true], // schema.json could be a folder
  ['docs/*.{md,txt}', 'docs/a.md', true],
  ['docs/{a,b}.md', 'docs/{c,d}.md', false],
  ['a/?', 'a/bc', false],
  ['a/[bc]', 'a/b', true],
  ['a/[z-a]', 'a/b', false],
  ['/', 'anything/at/all', true],
  ['.', 'src/a', true],
  ['./src/a/', '/src/a', true],
])('%s and %s: %s', (one, other, overlap) => {
  expect([globsOverlap(one, other), globsOverlap(other, one)]).toEqual([overlap, overlap])
})

const anyName = fc.constantFrom('a', 'b', 'ab', 'a.ts', 'b.md', '')
const anyPath = fc.array(anyName.filter(Boolean), { minLength: 1, maxLength: 4 }).map((names) => names.join('/'))
const anyPiece = fc.constantFrom(
  ...['a', 'b', 'ab', '.ts', '.md', '/', '/', '*', '**', '**/', '?', '[ab]', '[!a]', '[+-9]', '[z-a]', '[', ']'],
  ...['{', ',', '}', '{a,b}', '{a/b,*.ts}', '.', './'],
)
const anyGlob = fc.array(anyPiece, { minLength: 1, maxLength: 7 }).map((pieces) => pieces.join(''))

test('two globs that match the same path overlap', () => {
  fc.assert(
    fc.property(anyGlob, anyGlob, anyPath, (one, other, path) => {
      fc.pre(matchesGlob(path, one) && matchesGlob(path, other))
      expect(globsOverlap(one, other)).toBe(true)
      const [mine, theirs] = [fixedFolders(one), fixedFolders(other)]
      const common = Math.min(mine.length, theirs.length)
      expect(mine.slice(0, common)).toEqual(theirs.slice(0, common))
    }),
    { numRuns: 300, maxSkipsPerRun: 1000 },
  )
})

/** Every path of up to five names: what two globs of three names share is among them. */
const PATHS = Array.from({ length: 5 }).reduce<string[]>(
  (paths) => ['', ...paths.flatMap((path) => ['a', 'b', 'ab'].map((name) => (path ? `${path}/${name}` : name)))],
  [''],
)

const anyPlainGlob = fc
  .array(fc.constantFrom('a', 'b', 'ab', '*', '**', '?', '{a,b}'), { minLength: 1, maxLength: 3 })
  .map((names) => names.join('/'))

test('two globs that overlap match the same path, where they have no classes', () => {
  fc.assert(
    fc.property(anyPlainGlob, anyPlainGlob, (one, other) => {
      const shared = PATHS.some((path) => path && matchesGlob(path, one) && matchesGlob(path, other))
      expect(globsOverlap(one, other)).toBe(shared)
    }),
    { numRuns: 300 },
  )
})

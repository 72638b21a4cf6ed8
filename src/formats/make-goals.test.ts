import { expect, test } from 'vitest'
import { findMeans } from './means.ts'

async function followed(makefile: string, others: readonly string[], goal: string): Promise<string[]> {
  const paths = new Set(['Makefile', ...others])
  const read = async (path: string) => (path === 'Makefile' ? makefile : '')
  const found = await findMeans({ paths, read }, { checks: [`make ${goal}`], dir: '', top: '/x' })
  return [...found].flatMap(([path, { part }]) => (part === 'whole' ? [path] : []))
}

const many = (count: number, nameOf: (at: number) => string) => Array.from({ length: count }, (_, at) => nameOf(at))
const objects = 'OBJ = $(patsubst %.c,%.o,$(wildcard src/*.c))\n%.o: %.c\n\tcc -c $< -o $@\n'

test.each([10, 1200, 5000])('follows %d objects', async (count) => {
  const makefile = `${objects}all: $(OBJ) verify\nverify:\n\tsh tools/x.sh\n`
  const others = [...many(count, (at) => `src/f${at}.c`), 'tools/x.sh', 'tools/y.sh']
  expect(await followed(makefile, others, 'all')).toContain('tools/x.sh')
  expect(await followed(makefile, others, 'all')).not.toContain('tools/y.sh')
})

test('beyond the limit, the makefile counts as a whole, and so does what its patterns may run', async () => {
  const makefile = `${objects}all: $(OBJ) a.ok b.good\n%.ok: cases/%.sh\n\tsh $<\n%.good:\n\tsh good/$*.sh\n`
  const others = [...many(5000, (at) => `src/f${at}.c`), 'cases/a.sh', 'good/b.sh']
  expect((await followed(makefile, others, 'all')).sort()).toEqual(['Makefile', 'cases/a.sh', 'good/b.sh'])
})

test('a pattern of files in the rule for every object is looked up once', async () => {
  const makefile = `OBJ = $(patsubst %.c,%.o,$(wildcard src/*.c))\n%.o: %.c $(wildcard include/*.h)\n\tcc -c $<\nall: $(OBJ)\n`
  const others = [
    ...many(400, (at) => `src/f${at}.c`),
    ...many(50, (at) => `include/h${at}.h`),
    ...many(20_000, (at) => `vendor/include/some/folder/file${at}.h`),
  ]
  const start = performance.now()
  await followed(makefile, others, 'all')
  expect(performance.now() - start).toBeLessThan(4000)
})

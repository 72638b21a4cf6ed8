/** What pytest loads besides tests: plugins in the project, and files whose examples it runs. */
import { matchesGlob } from './glob.ts'
import type { Part } from './means.ts'
import type { Following, Where } from './means-follow.ts'
import { folderOf, join } from './means-paths.ts'

/** A pseudo-tool for checks that run the examples in every Python source. */
export const RUNS_EXAMPLES = '--doctest-modules'

const EXAMPLES: Part = { kind: 'examples' }

/** Options come from the command line, from configuration, and from conftest.py. */
export async function followPytest(following: Following, args: readonly string[], where: Where): Promise<void> {
  await followPytestOptions(following, args.join(' '), where)
  for (const folder of upwards(where.cwd))
    for (const name of CONFIGURATION) {
      const text = await following.files.read(folder === '' ? name : `${folder}/${name}`)
      for (const [options] of text?.matchAll(OPTIONS) ?? []) await followPytestOptions(following, options, where)
    }
  const conftests = [...following.files.paths].filter((path) => /(^|\/)conftest\.py$/.test(path))
  for (const path of conftests.slice(0, MOST_READ)) await followPlugins(following, path, where)
}

const MOST_READ = 50
const CONFIGURATION = 'pytest.ini .pytest.ini pytest.toml pyproject.toml tox.ini setup.cfg noxfile.py'.split(' ')
const OPTIONS =
  /\baddopts["']?\s*=\s*(?:\[[^\]]*\]|"""[\s\S]*?"""|[^\n]*(?:\n[ \t]+[^\n]+)*)|PYTEST_ADDOPTS[^\n]*|\bpytest\b[^\n]*/gi
const PLUGIN = /(?:^|[\s"'[,=])-p[\s"',=]*(?!no:)([A-Za-z_][\w.]*)/g
const GLOB = /--doctest-glob[\s"',=]+([^\s"',]+)/g

function upwards(folder: string): string[] {
  return folder === '' ? [''] : [folder, ...upwards(folderOf(folder))]
}

export async function followPytestOptions(following: Following, options: string, where: Where): Promise<void> {
  if (options.includes(RUNS_EXAMPLES)) following.tools.add(RUNS_EXAMPLES)
  for (const [, glob = ''] of options.matchAll(GLOB))
    for (const path of following.files.paths) if (matchesGlob(path, glob)) takeExamples(following, path)
  for (const [, name = ''] of options.matchAll(PLUGIN)) await takePlugin(following, name, where)
}

export function takeExamples({ found }: Following, path: string): void {
  if (!found.has(path)) found.set(path, { role: 'test', part: EXAMPLES })
}

/** A plugin may be the product itself, so a change to it is unclear. */
async function takePlugin(following: Following, name: string, where: Where, beside = where.cwd): Promise<void> {
  const { files, found } = following
  const path = name.replaceAll('.', '/')
  const folders = [where.cwd, beside, '', join(where.cwd, 'src') ?? '', 'src']
  const file = folders
    .flatMap((folder) => [`${path}.py`, `${path}/__init__.py`].map((one) => join(folder, one) ?? one))
    .find((one) => files.paths.has(one))
  if (file === undefined || found.has(file)) return
  found.set(file, { role: 'setup', part: { kind: 'mixed' } })
  await followPlugins(following, file, where)
}

/** Those that a file names for itself. */
async function followPlugins(following: Following, path: string, where: Where): Promise<void> {
  const text = (await following.files.read(path)) ?? ''
  for (const [, names = ''] of text.matchAll(/^pytest_plugins\b[^=\n]*\+?=\s*(\[[^\]]*\]|\([^)]*\)|[^\n]*)/gm))
    for (const [, name = ''] of names.matchAll(/["']([\w.]+)["']/g))
      await takePlugin(following, name, where, folderOf(path))
}

/**
 * Settings outside the repository that runners find by themselves: in the folders above it, and in the person's home.
 */
import { dirname, join, relative } from 'node:path'
import { statAt } from './disk-files.ts'

/** Paths from the top of the repository that lead out of it. Only existing ones. */
export function settingsOutside(top: string, home: string | undefined, tools: ReadonlySet<string>): string[] {
  const above = foldersAbove(top)
  const used = SETTINGS.filter(({ users }) => users.some((tool) => tools.has(tool)))
  const found = used.flatMap(({ names, isAbove }) => {
    const folders = isAbove ? [...above, ...(home === undefined ? [] : [home])] : home === undefined ? [] : [home]
    return folders.flatMap((folder) => names.map((name) => join(folder, name)))
  })
  return [...new Set(found)].filter((path) => statAt(path)).map((path) => relative(top, path))
}

function foldersAbove(folder: string): string[] {
  const above = dirname(folder)
  return above === folder ? [] : [above, ...foldersAbove(above)]
}

type Setting = { users: readonly string[]; names: readonly string[]; isAbove?: true }

const SETTINGS: readonly Setting[] = [
  { users: ['npm', 'npx', 'pnpm', 'pnpx', 'yarn'], names: ['.npmrc', '.yarnrc', '.yarnrc.yml'] },
  { users: ['yarn'], names: ['.yarnrc', '.yarnrc.yml'], isAbove: true },
  { users: ['bun', 'bunx'], names: ['.bunfig.toml'] },
  {
    users: ['pytest', 'py.test'],
    names: ['pytest.ini', '.pytest.ini', 'pytest.toml', '.pytest.toml', 'pyproject.toml', 'tox.ini', 'setup.cfg'],
    isAbove: true,
  },
  { users: ['tox'], names: ['tox.ini', 'setup.cfg'], isAbove: true },
  {
    users: ['mocha', '_mocha'],
    names: ['.mocharc.js', '.mocharc.cjs', '.mocharc.yaml', '.mocharc.yml', '.mocharc.json', '.mocharc.jsonc'],
    isAbove: true,
  },
  { users: ['cargo'], names: ['.cargo/config.toml', '.cargo/config', 'rust-toolchain.toml'], isAbove: true },
  { users: ['go'], names: ['.config/go/env'] },
]

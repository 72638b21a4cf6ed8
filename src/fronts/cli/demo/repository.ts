/** The repositories of the demo board: their initial files, and the commits between the loops. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { askGit, must } from '../../../host/git.ts'
import type { Files } from './cart.ts'
import type { GroupId } from './story.ts'

export const README: Readonly<Record<GroupId, string>> = {
  shop: readme('shop', 'Products, carts and orders for a small shop.'),
  billing: readme('billing', 'Invoices, payments and subscriptions.'),
}

function readme(name: string, about: string): string {
  return `# ${name}\n\n${about}\n\n    node test/run.mjs         # runs every test\n    node test/run.mjs NAME    # runs those of src/NAME.mjs\n`
}

/** Runs all tests, or those of one module, in one process, which is faster than one process per file. */
const RUNNER = `import { readdirSync } from 'node:fs'

const folder = new URL('../src/', import.meta.url)
const [, , module] = process.argv
const isWanted = (name) => (module ? name === module + '.test.mjs' : name.endsWith('.test.mjs'))
for (const name of readdirSync(folder).filter(isWanted)) await import(new URL(name, folder).href)
`

export type DemoRepository = {
  /** Writes these files and commits all changes. */
  commit(message: string, at: number, files?: Files): Promise<void>
  /** Drops the last commit. */
  drop(): Promise<void>
}

export async function makeRepository(dir: string, group: GroupId, at: number): Promise<DemoRepository> {
  mkdirSync(dir)
  const ask = async (args: readonly string[], env: Record<string, string> = {}) =>
    must(await askGit(dir, [...IDENTITY, ...args], { env }))
  const repository: DemoRepository = {
    async commit(message, when, files = {}) {
      writeFiles(dir, files)
      const date = new Date(when).toISOString()
      await ask(['add', '--all'])
      await ask(['commit', '--quiet', '--allow-empty', '--message', message], {
        GIT_AUTHOR_DATE: date,
        GIT_COMMITTER_DATE: date,
      })
    },
    async drop() {
      await ask(['reset', '--quiet', '--hard', 'HEAD^'])
    },
  }
  await ask(['init', '--quiet', '--initial-branch', 'main'])
  await repository.commit('Initial commit', at, {
    'README.md': README[group],
    'package.json': `${JSON.stringify({ name: group, private: true, type: 'module', scripts: { test: 'node test/run.mjs' } }, null, 2)}\n`,
    'test/run.mjs': RUNNER,
    'src/index.mjs': '',
  })
  return repository
}

/** The git user of the demo, without signing. */
const IDENTITY = ['user.name=ralph', 'user.email=ralph@localhost', 'commit.gpgSign=false'].flatMap((set) => ['-c', set])

function writeFiles(dir: string, files: Files): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), content)
  }
}

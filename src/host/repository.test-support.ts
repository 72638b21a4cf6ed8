/** A real git repository for tests, with a worktree of a task next to it. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Worktree } from '../engine/loop.ts'
import { openRepository, type Repository } from './git.ts'
import { copyModel } from './model-folder.test-support.ts'
import { temporaryFolder } from './place.test-support.ts'

export type TestRepository = {
  dir: string
  repo: Repository
  git(...args: string[]): string
  write(name: string, text: string): void
  /** Undefined: it does not exist. */
  read(name: string): string | undefined
  /** Commits everything as it is now; returns the hash. */
  commit(message: string, files?: Record<string, string>): string
  log(ref?: string): string[]
  /** What git considers changed, as `git status --short` prints it. */
  status(): string[]
}

/** On the branch main, with these files committed. */
export async function makeRepository(files: Record<string, string> = { 'a.txt': 'a\n' }): Promise<TestRepository> {
  const dir = temporaryFolder()
  copyModel(JSON.stringify(files), dir, (model) => {
    const { git, commit } = filesIn(model)
    git('init', '--quiet', '--initial-branch', 'main')
    git('config', 'user.name', 'Somebody')
    git('config', 'user.email', 'somebody@localhost')
    commit('Start', files)
  })
  return { ...filesIn(dir), repo: await opened(dir) }
}

/** The worktree of a task that started at the tip of main. */
export async function makeWorktree(main: TestRepository): Promise<TestRepository & { worktree: Worktree }> {
  const path = join(temporaryFolder(), 'task')
  main.git('worktree', 'add', '--quiet', '-b', 'ralph/task', path)
  const worktree = { from: main.dir, path, branch: 'ralph/task', base: 'main', commit: main.git('rev-parse', 'HEAD') }
  return { ...filesIn(path), repo: await opened(path), worktree }
}

async function opened(dir: string): Promise<Repository> {
  const repo = await openRepository(dir)
  if ('none' in repo) throw new Error(repo.none)
  return repo
}

function filesIn(dir: string): Omit<TestRepository, 'repo'> {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: dir, encoding: 'utf8', stdio: 'pipe' }).replace(/\n$/, '')
  const lines = (text: string) => text.split('\n').filter(Boolean)
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(dir, name)), { recursive: true })
    writeFileSync(join(dir, name), text)
  }
  return {
    dir,
    git,
    write,
    read: (name) => (existsSync(join(dir, name)) ? readFileSync(join(dir, name), 'utf8') : undefined),
    commit(message, files = {}) {
      for (const [name, text] of Object.entries(files)) write(name, text)
      git('add', '--all')
      git('commit', '--quiet', '--allow-empty', '--message', message)
      return git('rev-parse', 'HEAD')
    },
    log: (ref = 'HEAD') => lines(git('log', '--format=%s', ref)),
    status: () => lines(git('status', '--porcelain', '--untracked-files=all')),
  }
}

/** Makes a linked worktree ready to work in: with its own ports, and set up by the command in the config. */
import { join } from 'node:path'
import type { Worktree } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { runCheck } from './check.ts'
import { readIfThere, writeWhole } from './files.ts'
import { askGit } from './git.ts'
import { portOf } from './ports.ts'
import type { Fence } from './sandbox.ts'
import { repositoryOf } from './worktree.ts'

type Preparing = {
  home: string
  loop: string
  /** The folder of the loop in it. */
  dir: string
  env: Readonly<Record<string, string | undefined>>
  signal: AbortSignal
  note: (text: string) => void
  /** The command to continue with if it fails. */
  again: string
  /** The setup runs inside this sandbox. */
  fence?: Fence | undefined
}

/** Returns the environment variables for agents and checks there. */
export async function prepareWorktree(worktree: Worktree, preparing: Preparing): Promise<Record<string, string>> {
  const port = await portOf(preparing.home, worktree.path)
  const own = port === undefined ? {} : { RALPH_PORT: String(port) }
  if (worktree.setup !== undefined)
    await setUp(worktree.path, worktree.setup, { ...preparing, env: { ...preparing.env, ...own } })
  return own
}

export const SETUP_MINUTES = 30

/**
 * Runs once: the record is removed with the worktree. A setup that failed or was interrupted is tried again at the next
 * start.
 */
async function setUp(path: string, command: string, preparing: Preparing): Promise<void> {
  const { home, loop, dir, env, signal, note, again, fence } = preparing
  const done = join((await repositoryOf(path)).gitDir, 'ralph-set-up')
  if (readIfThere(done) === command) return
  note(`Setting up the worktree: ${command}`)
  const marked = { ...env, RALPH_LOOP_ID: loop } // so that the next ralph can kill it
  const before = await changedIn(path)
  const limits = { minutes: SETUP_MINUTES, signal, fence, online: true }
  const verdict = await runCheck(command, { dir, env: marked, home, ...limits })
  if (verdict?.result === 'pass') {
    const changed = (await changedIn(path)).filter((name) => !before.includes(name))
    if (changed.length > 0)
      note(
        `worktree_setup changed ${changed.slice(0, 3).join(', ')}, which git does not ignore: that counts as the agent's work.`,
      )
    writeWhole(done, command)
  } else if (verdict)
    throw new RalphError(
      'setup-failed',
      `worktree_setup (${command}) failed in ${dir}:\n${verdict.tail.trimEnd()}\nFix it, then run \`${again}\`.`,
    )
}

async function changedIn(path: string): Promise<string[]> {
  const answer = await askGit(path, ['status', '--porcelain', '-z', '--no-renames'])
  return answer.ok ? answer.out.split('\0').flatMap((line) => (line === '' ? [] : [line.slice(3)])) : []
}

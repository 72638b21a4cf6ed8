/** Whether a loop changed the configuration that the next one in its folder would obey. */
import { join } from 'node:path'
import { homeFolder } from '../engine/home-folder.ts'
import type { Loop } from '../engine/loop.ts'
import {
  CONFIG_FILES,
  doubtConfig,
  isLookedAtFirst,
  markOf,
  markSettings,
  mayHaveChanged,
  NOTHING,
} from '../host/config-trust.ts'
import { pathBelow } from '../host/files.ts'
import { openRepository } from '../host/git.ts'
import type { Store } from '../host/store.ts'
import { treeIn } from '../host/tree.ts'
import type { Workbench } from './hands.ts'

type Looking = Pick<Workbench, 'home' | 'show'>

/** Runs after anything that could have changed it: a turn, or a check, which runs what the agent wrote. */
export async function lookAtSettings({ home, show }: Looking, loop: Loop): Promise<void> {
  for (const name of await changedSettings(loop)) {
    const mark = markSettings(loop.spec.work.dir)[name] ?? NOTHING
    const news = foldersOf(loop).map((folder) => doubtConfig(home, { path: join(folder, name), mark, loop: loop.id }))
    if (news.includes(true))
      show(
        { kind: 'note', text: `${name} has changed. No other loop will use it until you accept it: ralph trust` },
        loop,
      )
  }
}

/** Changes in a linked worktree may reach the user's folder. */
function foldersOf(loop: Loop): string[] {
  return [...new Set([loop.spec.work.dir, homeFolder(loop)])]
}

async function changedSettings(loop: Loop): Promise<string[]> {
  const { dir, settings = {} } = loop.spec.work
  const now = markSettings(dir)
  const changed = CONFIG_FILES.filter((name) => now[name] !== settings[name])
  const seen = await Promise.all(changed.map((name) => markAtStart(loop, name)))
  return changed.filter((name, at) => seen[at] !== (now[name] ?? NOTHING))
}

/** A linked worktree starts with what was committed, which may be older than what is in the user's folder. */
async function markAtStart({ spec, tally }: Loop, name: string): Promise<string | undefined> {
  if (!spec.work.worktree || tally.startTree === undefined) return undefined
  const repo = await openRepository(spec.work.dir)
  if ('none' in repo) return undefined
  const path = join(pathBelow(repo.top, spec.work.dir) ?? '', name)
  const text = await repo.bytes(['cat-file', 'blob', `${treeIn(tally.startTree)}:${path}`])
  return markOf(name, text?.toString('utf8'))
}

/**
 * What loops of this folder left in a turn whose end nobody saw, because ralph or the session was killed. Once for each
 * of them: later changes are the user's own.
 */
export async function lookAtLeft(store: Left, home: string, dir: string): Promise<void> {
  const { rows } = await store.list({ dir, status: ['running', 'verifying'], limit: RECENT })
  for (const row of rows) {
    const loop = await store.load(row.id)
    const { dir: worksIn, settings } = loop.spec.work
    if (!mayHaveChanged(worksIn, row.updatedAt, settings)) continue
    if ((await store.isDriven(row.id)) || isLookedAtFirst(home, row))
      await lookAtSettings({ home, show: () => {} }, loop)
  }
}

type Left = Pick<Store, 'list' | 'load' | 'isDriven'>

const RECENT = 20

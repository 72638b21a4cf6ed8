/** Runs checks in a folder the way a loop would, before there is one. */
import { mustFind } from '../board/task.ts'
import type { Verdict } from '../engine/loop.ts'
import { runCheck } from '../host/check.ts'
import { DEFAULTS } from '../request/defaults.ts'
import { resolveChecks } from '../request/resolve.ts'
import { askingOf } from './begin-task.ts'
import { refuseBelowTurn } from './below-turn.ts'
import { openConfig } from './open-config.ts'
import type { Context, Operation } from './operation.ts'
import { workFolder } from './start-loop.ts'

/** Without `dir`: the folder of the task, or the current one. `minutes`: time limit of each. */
export type Trying = { dir?: string; task_id?: string; checks: string[]; minutes?: number }

export type TriedCheck = Verdict & { ms: number }

export const tryChecks: Operation<Trying, { dir: string; ran: TriedCheck[] }> = {
  name: 'try_checks',
  effect: 'write',
  summary: 'Runs checks the way a loop would, in a folder or that of a task, and shows their output.',
  person: true,
  async run(context, { dir: asked, task_id, checks, minutes = DEFAULTS.checkMinutes }) {
    await refuseBelowTurn(context)
    const dir = workFolder(context, asked ?? (await folderOf(context, task_id)))
    const all = resolveChecks({ checks }, { dir, config: await openConfig(context, dir) })
    const ran: TriedCheck[] = []
    for (const check of all) {
      const tried = await tryOne(context, { check, dir, minutes })
      if (!tried) break // nobody is waiting for it any longer
      ran.push(tried)
    }
    return { dir, ran }
  },
}

async function folderOf(context: Context, task: string | undefined): Promise<string | undefined> {
  if (task === undefined) return undefined
  const { dir } = await askingOf(context, await mustFind(context.store(), task))
  return dir
}

const NEVER = new AbortController().signal

type One = { check: string; dir: string; minutes: number }

async function tryOne(
  { env, home, signal = NEVER }: Pick<Context, 'env' | 'home' | 'signal'>,
  { check, dir, minutes }: One,
): Promise<TriedCheck | undefined> {
  const began = performance.now()
  const verdict = await runCheck(check, { dir, env, minutes, signal, home })
  return verdict && { ...verdict, ms: Math.round(performance.now() - began) }
}

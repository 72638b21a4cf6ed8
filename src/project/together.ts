/** Whether a task's work still passes together with what others did meanwhile, and what happens if not. */
import { type Loop, type Spec, startLoop, type Verdict } from '../engine/loop.ts'
import { runCheck } from '../host/check.ts'
import { keepTrial } from '../host/merge.ts'
import { portOf } from '../host/ports.ts'
import { openTree } from '../host/tree.ts'
import { DEFAULTS } from '../request/defaults.ts'
import { enterTurn } from './enter-turn.ts'
import { projectOf } from './owner.ts'
import { type Open, openOf, taskOf } from './record.ts'
import type { Site } from './site.ts'
import { keepVerdicts } from './task-turn.ts'

/** Its own checks, those of the project, and those of the tasks that arrived meanwhile. */
export function checksTogether(site: Site, open: Open): string[] {
  const { record } = site.keeper
  const others = record.entries.slice(open.entries).filter(({ status }) => status === 'completed')
  const tasks = [open.task, ...others.map(({ task_id }) => task_id)]
  return [...new Set([...site.checks, ...tasks.flatMap((id) => taskOf(record, id).verify ?? [])])]
}

/** The failing ones; undefined if interrupted. */
export async function checkTogether(site: Site, open: Open): Promise<Verdict[] | undefined> {
  const failed: Verdict[] = []
  const { dir = '', path = '' } = open.worktree ?? {}
  const port = await portOf(site.home, path)
  for (const check of checksTogether(site, open)) {
    const verdict = await runCheck(check, {
      dir,
      env: { ...site.env, RALPH_LOOP_ID: open.loop, ...(port === undefined ? {} : { RALPH_PORT: String(port) }) },
      minutes: site.request.checkMinutes ?? DEFAULTS.checkMinutes,
      signal: site.stop,
      home: site.home,
    })
    if (!verdict) return undefined
    if (verdict.result !== 'pass') failed.push(verdict)
  }
  return failed
}

/** Nothing has arrived on the branch. The next attempt starts with both sides merged and sees what fails. */
export async function backOut(
  site: Site,
  loop: Loop,
  { merged, onto, failed }: { merged: string; onto: string; failed: Verdict[] },
): Promise<void> {
  const open = openOf(site.keeper.record, projectOf(loop).task)
  if (!open.worktree) throw new Error(`${open.task} has no worktree`)
  await keepTrial(open.worktree, merged)
  const names = failed.map(({ check }) => check).join(', ')
  site.note(
    open.task,
    `Merged with the latest changes on the branch, its checks fail (${names}). It will be tried again.`,
  )
  await keepVerdicts(site, open.task, failed)
  await enterTurn(site, loop)
  const id = site.newId()
  const work = { ...loop.spec.work, proofBase: `${onto} ${onto}` } // its earlier work is part of the state it starts in
  const before = taskOf(site.keeper.record, open.task).attempts
  const left = taskOf(site.keeper.record, open.task).max_attempts - before
  const spec: Spec = { ...loop.spec, limits: { ...loop.spec.limits, iterations: Math.max(1, left) }, work }
  const state = await (await openTree({ ...work, home: site.home, loop: id })).look()
  await site.store.create(startLoop(id, spec, { at: site.now(), ...(state === undefined ? {} : { tree: state }) }))
  const words = failed.map(
    ({ check, tail }) => `The check \`${check}\` fails. Its output ends with:\n${tail.trimEnd()}`,
  )
  await site.store.tell(id, 'ralph', {
    kind: 'say',
    words: `Your work passed on its own. Merged with what other tasks changed in the meantime, it fails:\n${words.join('\n')}`,
  })
  await site.keeper.change((record) => ({
    ...record,
    loops: [...record.loops, id],
    open: record.open.map(({ trial: _, ...other }) =>
      other.task === open.task ? { ...other, loop: id, before, base: onto } : other,
    ),
  }))
}

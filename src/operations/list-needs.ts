/** Lists the loops that need a person, and why. */
import { homeFolder } from '../engine/home-folder.ts'
import { count } from '../engine/limits.ts'
import { ALLOW, type HaltReason, type Loop, type OwnerKind } from '../engine/loop.ts'
import { openFindings, touchedPaths } from '../engine/trials.ts'
import { cutTo, oneLine } from '../formats/one-line.ts'
import { given } from '../request/given.ts'
import { isAboutFile } from '../vault/where.ts'
import { loadReadable } from './attendance.ts'
import { taskOf } from './begin-task.ts'
import { findNeeds, type Needing } from './find-needs.ts'
import type { Context, Operation } from './operation.ts'
import { standingOf } from './standing.ts'

/**
 * `n`: the number of the loop's last event. `title`: of its task, or the first line of its prompt. `paths`: the changed
 * tests that it waits for, with the findings. `unread`: its last event has not been seen.
 */
export type Need = {
  loop: string
  n: number
  since: number
  kind: 'question' | 'permission' | 'allow' | 'approval' | 'conflict' | 'stuck' | 'review' | 'unattended'
  title: string
  dir: string
  agent: string
  owner: OwnerKind
  task_id?: string
  iteration: number
  sentence: string
  question?: string
  paths?: { path: string; words: string }[]
  reason?: HaltReason
  unread: boolean
}

/** Nobody looks at more than these; get_overview counts them all. */
const MOST = 200

export const listNeeds: Operation<Record<string, never>, { needs: Need[] }> = {
  name: 'list_needs',
  effect: 'read',
  summary: 'Lists the loops that need you: questions, changed tests, work to accept, loops that stopped early.',
  async run(context) {
    const needs = await findNeeds(context)
    const found = await Promise.all(needs.slice(0, MOST).map((need) => toNeed(context, need)))
    return { needs: found.flat() }
  },
}

async function toNeed(context: Context, { loop: id, n, at, why, unread }: Needing): Promise<Need | []> {
  const loop = await loadReadable(context.store(), id)
  if (!loop) return []
  const { spec, tally, next } = loop
  const task = await taskOf(context, loop)
  const kind = kindOf(loop, why)
  return {
    loop: id,
    n,
    since: at,
    kind,
    title: cutTo(task?.title ?? firstLine(spec.prompt), TITLE),
    dir: homeFolder(loop),
    agent: spec.work.agent,
    owner: spec.work.owner?.kind ?? 'person',
    iteration: tally.iteration,
    sentence: why === 'unattended' ? unattendedSentence(loop) : standingOf(loop).sentence,
    ...given({
      task_id: task?.id,
      question: next.kind === 'wait' ? next.question : undefined,
      paths: kind === 'allow' ? pathsOf(loop) : undefined,
      reason: next.kind === 'halt' ? next.reason : undefined,
    }),
    unread,
  }
}

const TITLE = 200

/** Decided by the state of the loop, never by its sentences. */
function kindOf(loop: Loop, why: Needing['why']): Need['kind'] {
  const { next, tally, spec } = loop
  if (why === 'stuck') return next.kind === 'halt' && next.reason === 'conflict' ? 'conflict' : 'stuck'
  if (why !== 'asks') return why
  if (next.kind === 'wait' && next.about === ALLOW) return 'allow'
  if (spec.work.owner?.kind === 'vault' && isAboutFile(loop)) return 'approval'
  return tally.ask?.kind === 'permission' ? 'permission' : 'question'
}

function pathsOf({ tally }: Loop): Need['paths'] {
  const found = Map.groupBy(openFindings(tally), ({ path }) => path)
  return touchedPaths(tally).map((path) => ({
    path,
    words: (found.get(path) ?? []).map(({ words }) => words).join(', '),
  }))
}

function firstLine(text: string): string {
  return oneLine(text.split('\n').find((line) => line.trim() !== '') ?? '')
}

function unattendedSentence({ tally }: Loop): string {
  return `interrupted after ${count(tally.iteration, 'iteration')}. The process that ran it has ended.`
}

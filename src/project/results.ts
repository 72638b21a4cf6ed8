/** Gathers the outcome of a project for results.md. */
import { dirname } from 'node:path'
import type { ProjectStop } from '../engine/schedule.ts'
import { printResults } from '../formats/results.ts'
import { historySince, repositoryAt } from '../host/branch.ts'
import type { Store } from '../host/store.ts'
import { type Project, writeFace } from './folder.ts'
import { failingOf } from './noted.ts'
import { type ProjectRecord, proofsOf, taskOf } from './record.ts'

export type Spending = { tokens: number; costUsd: number }

/** What all loops of a project have cost so far. */
export async function spendingOf({ loops }: Pick<ProjectRecord, 'loops'>, store: Store): Promise<Spending> {
  const sum = { tokens: 0, costUsd: 0 }
  for (const id of loops) {
    const loop = await store.load(id).catch(() => undefined) // it was never created, or has been pruned
    sum.tokens += loop?.tally.tokens ?? 0
    sum.costUsd += loop?.tally.costUsd ?? 0
  }
  return sum
}

export async function writeResults(
  project: Project,
  record: ProjectRecord,
  { stop, store, at }: { stop: ProjectStop; store: Store; at: number },
): Promise<void> {
  const repo = await repositoryAt(project.dir)
  const history = repo ? await historySince(repo, record.start, dirname(project.folder)) : undefined
  const text = printResults({
    project: project.name,
    ...stop,
    tasks: record.tasks.tasks,
    entries: record.entries,
    obstacles: record.obstacles,
    failing: failingOf(record),
    commits: history?.commits,
    files: history?.files,
    proofs: proofsOf(record.tasks.tasks, record),
    iterations: record.iteration,
    ...(await spendingOf(record, store)),
    elapsedMs: record.workedMs,
    at,
    next: nextSteps(project, record, stop),
  })
  writeFace(project, 'results.md', text)
}

/** What the user can do now. */
function nextSteps({ name, folder }: Project, record: ProjectRecord, { reason }: ProjectStop): string[] {
  const again = `Continue with \`ralph execute ${name}\`.`
  const left = record.open.flatMap(({ task, worktree }) =>
    worktree ? [`The unfinished work of ${task} is in ${worktree.path}, on the branch ${worktree.branch}.`] : [],
  )
  const shows = record.loops.at(-1)
  const story =
    shows === undefined ? [] : [`\`ralph show ${shows}\` shows what the last agent did and why it was not enough.`]
  switch (reason) {
    case 'completed':
      return ['Read the commits and the files above, and try it out.']
    case 'max-attempts': {
      const stuck = record.tasks.tasks.filter(
        (task) => task.status !== 'completed' && !task.blocked && task.attempts >= task.max_attempts,
      )
      return [
        ...story,
        `Make ${stuck.map(({ id }) => id).join(', ')} easier: split it or describe it in more detail in ${folder}/tasks.json; then raise its \`max_attempts\` or set its \`attempts\` to 0.`,
        again,
        ...left,
      ]
    }
    case 'blocked':
      return [
        ...record.tasks.tasks
          .filter(({ blocked }) => blocked)
          .map(({ id }) => `Look into what blocks ${id}: ${whyBlocked(record, id)}`),
        `Then set \`blocked\` to false and \`status\` to "pending" in ${folder}/tasks.json, or tell its agent with \`ralph steer LOOP "…"\`.`,
        again,
        ...left,
      ]
    case 'needs-input':
      return [`Answer the question above, then continue with \`ralph execute ${name}\`.`, ...left]
    case 'paused':
    case 'cancelled':
    case 'max-iterations':
      return [again, ...left]
    default:
      return [...story, 'Fix the problem named above.', again, ...left]
  }
}

function whyBlocked(record: ProjectRecord, id: string): string {
  const said = record.obstacles.filter(({ task_id, resolved }) => task_id === id && !resolved).at(-1)?.message
  return said ?? record.entries.filter(({ task_id }) => task_id === id).at(-1)?.summary ?? taskOf(record, id).title
}

/** Turns submissions into tasks, each with a loop that stays queued until a worker starts it. */
import { parseAgent, parseAgents } from '../agents/index.ts'
import { graphProblem } from '../engine/graph.ts'
import { type Loop, startLoop } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import type { FleetTask } from '../formats/fleet-task.ts'
import { oneLine } from '../formats/one-line.ts'
import type { Submission } from '../host/fleet-store.ts'
import { newLoopId } from '../host/loop-id.ts'
import type { LoopRequest } from '../request/request.ts'
import { resolveSpec } from '../request/resolve.ts'
import type { FleetOwner } from './owner.ts'

/** `agent`: as typed, comma-separated. `id`: absent to generate one. */
export type Submitting = Omit<LoopRequest, 'agents'> & {
  id?: string
  title?: string
  agent?: string
  repo?: string
  base?: string
  project?: string
  submitter: string
  priority?: number
  labels?: readonly string[]
  touches?: readonly string[]
  depends_on?: readonly string[]
}

/** Resolved by a worker with the configuration of the repository when the task starts. */
export type Asked = { request: Omit<LoopRequest, 'agents'> }

const AUTO = ['auto']

/** Shown instead of a folder when there is no repository. */
const NOWHERE = '(no repository)'

export async function submissionOf(submitting: Submitting, now: number): Promise<Submission> {
  const { id = newLoopId(), title, agent = 'auto', repo, base, project, submitter, ...more } = submitting
  const { priority = 0, labels = [], touches = [], depends_on = [], ...request } = more
  const agents = agent.trim() === 'auto' ? AUTO : parseAgents(agent)
  for (const text of agents) if (text !== 'auto') parseAgent(text)
  const branch = `ralph/${id}`
  const owner: FleetOwner = { kind: 'fleet', task: id, ...(repo === undefined ? {} : { repo, branch }) }
  const loop = await provisional(request, { owner, agents, now })
  const task: FleetTask = {
    id,
    title: (title ?? oneLine(request.prompt)).slice(0, 200),
    submitter,
    repo: repo ?? null,
    base: repo === undefined ? null : (base ?? 'main'),
    branch,
    project: project ?? null,
    priority,
    agents,
    labels: [...labels],
    touches: [...touches],
    depends_on: [...new Set(depends_on)],
    state: depends_on.length > 0 ? 'waiting' : 'ready',
    sentence: null,
    loop_id: loop.id,
    worker: null,
    attempts: 0,
    merge_job: false,
    sent_back: 0,
    pushed: null,
    limit_usd: request.limits?.costUsd ?? null,
    reserved_usd: 0,
    spent_usd: 0,
    due_at: null,
    created_at: now,
    updated_at: now,
  }
  const asked: Asked = { request }
  return { task, loop, asked }
}

type Around = { owner: FleetOwner; agents: readonly string[]; now: number }

/** The loop as far as it is known before a worker reads the repository and its configuration. */
export async function provisional(request: Asked['request'], { owner, agents, now }: Around): Promise<Loop> {
  const { checks, ...rest } = request
  const known = checks?.filter((check) => check !== 'auto')
  const asked = { ...rest, ...(known ? { checks: known } : {}), agents: [...agents] }
  const spec = await resolveSpec(asked, { dir: owner.repo ?? NOWHERE, env: {}, config: {}, owner })
  return startLoop(newLoopId(), spec, { at: now, queued: true })
}

/** Tasks submitted together may depend on each other, and on earlier ones (`known`). */
export function mustBeGraph(tasks: readonly FleetTask[], known: ReadonlySet<string>): void {
  const own = new Set(tasks.map(({ id }) => id))
  for (const { id, depends_on } of tasks) {
    const missing = depends_on.find((other) => !own.has(other) && !known.has(other))
    if (missing !== undefined)
      throw new RalphError(
        'input-invalid',
        `Task ${id} depends on "${missing}", but the fleet has no such task. \`ralph status\` lists its tasks.`,
        { field: 'depends_on' },
      )
  }
  const graph = tasks.map(({ id, depends_on }) => ({
    id,
    dependsOn: depends_on.filter((other) => own.has(other)),
    status: 'open' as const,
  }))
  const problem = graphProblem(graph)
  if (problem !== undefined) throw new RalphError('input-invalid', `depends_on: ${problem}`, { field: 'depends_on' })
}

/** Outputs of operations as models read them: short, and without what only programs need. */
import * as z from 'zod'
import type { Analytics } from '../../analytics/analytics.ts'
import type { Loop } from '../../engine/loop.ts'
import { cutTo, oneLine } from '../../formats/one-line.ts'
import type { IterationRow } from '../../host/store.ts'
import type { ListedFleetTask } from '../../operations/fleet-tasks.ts'
import type { FoundLoop } from '../../operations/get-loop.ts'
import type { ListedTask } from '../../operations/get-task.ts'
import type { Given } from '../../operations/give-order.ts'
import type { ListedLoop } from '../../operations/list-loops.ts'
import { given } from '../../request/given.ts'
import type { View } from './mcp-tool.ts'

const MOST_ITERATIONS = 10

const row = z.object({
  id: z.string(),
  status: z.string(),
  prompt: z.string(),
  dir: z.string(),
  agent: z.string(),
  owner: z.string(),
  iteration: z.number(),
  iterationLimit: z.number(),
  costUsd: z.number(),
  updatedAt: z.string(),
  unattended: z.boolean(),
})

export const loopListView: View<{ loops: ListedLoop[]; next?: string }> = {
  schema: z.object({ loops: z.array(row), next: z.string().optional() }),
  of: ({ loops, next }) => ({ loops: loops.map(rowOf), ...given({ next }) }),
}

function rowOf(loop: ListedLoop): z.infer<typeof row> {
  const { id, status, prompt, dir, agent, owner, iteration, iterationLimit, costUsd, updatedAt, unattended } = loop
  return {
    id,
    status,
    prompt: cutTo(oneLine(prompt), 120),
    dir,
    agent,
    owner,
    iteration,
    iterationLimit,
    costUsd,
    updatedAt: iso(updatedAt),
    unattended,
  }
}

const iteration = z.object({
  n: z.number(),
  agent: z.string(),
  end: z.string(),
  claim: z.string(),
  words: z.string(),
  checks: z.array(z.object({ check: z.string(), result: z.string() })),
})

const loop = z.object({
  id: z.string(),
  status: z.string(),
  sentence: z.string(),
  hint: z.string(),
  proof: z.string().optional(),
  question: z.string().optional(),
  prompt: z.string(),
  dir: z.string(),
  agent: z.string(),
  checks: z.array(z.string()),
  stages: z.array(z.string()),
  passed: z.array(z.string()),
  limits: z.looseObject({}),
  iteration: z.number(),
  tokens: z.number(),
  costUsd: z.number(),
  falseClaims: z.number(),
  findings: z.array(z.string()),
  startedAt: z.string(),
  alive: z.boolean(),
  unattended: z.boolean(),
  whose: z.string().optional(),
  iterations: z.array(iteration),
})

/** The last iterations only: `list_iterations` has all. */
export const loopView: View<FoundLoop> = {
  schema: loop,
  of: ({ loop: found, status, standing, alive, unattended, whose, iterations }): z.infer<typeof loop> => ({
    ...whatIsKnown(found),
    status,
    sentence: standing.sentence,
    hint: standing.hint,
    alive,
    unattended,
    ...given({ whose }),
    iterations: iterations.slice(-MOST_ITERATIONS).map(iterationOf),
  }),
}

function whatIsKnown({ id, spec, tally, next }: Loop) {
  const question = next.kind === 'wait' ? next.question : undefined
  const proof = next.kind === 'complete' ? next.proof : undefined
  return {
    id,
    prompt: cutTo(spec.prompt, 2_000),
    dir: spec.work.dir,
    agent: spec.work.agent,
    checks: spec.checks,
    stages: spec.stages.map(({ name }) => name),
    passed: tally.passed,
    limits: { ...spec.limits },
    iteration: tally.iteration,
    tokens: tally.tokens,
    costUsd: tally.costUsd,
    falseClaims: tally.falseClaims,
    findings: tally.findings.map(({ path, words }) => `${path}: ${words}`),
    startedAt: iso(tally.startedAt),
    ...given({ proof, question }),
  }
}

function iterationOf({ n, agent, end, claim, words, verdicts }: IterationRow): z.infer<typeof iteration> {
  const checks = verdicts.map(({ check, result }) => ({ check, result }))
  return { n, agent, end, claim, words: cutTo(oneLine(words), 200), checks }
}

/** Every field is included; those that a model always needs are named. */
const task = z.looseObject({
  id: z.string(),
  title: z.string(),
  status: z.string(),
  waits_for: z.array(z.string()),
  loop_id: z.string().nullable(),
  loop_status: z.string().nullable(),
})

const MOST_WORDS = 500

export const taskListView: View<{ tasks: ListedTask[]; next?: string }> = {
  schema: z.object({ tasks: z.array(task), next: z.string().optional() }),
  of: ({ tasks, next }) => ({ tasks: tasks.map(withShortWords), ...given({ next }) }),
}

function withShortWords(listed: ListedTask): ListedTask {
  const { description } = listed
  return { ...listed, description: description && cutTo(description, MOST_WORDS) }
}

/** Their state and the reason, without the request. */
export const fleetTaskListView: View<{ tasks: ListedFleetTask[]; next?: string }> = {
  schema: z.object({
    tasks: z.array(
      z.object({
        id: z.string(),
        title: z.string(),
        state: z.string(),
        why: z.string().nullable(),
        loop_id: z.string(),
        worker: z.string().nullable(),
        branch: z.string(),
      }),
    ),
    next: z.string().optional(),
  }),
  of: ({ tasks, next }) => ({
    tasks: tasks.map(({ id, title, state, why, sentence, loop_id, worker, branch }) => ({
      ...{ id, title, state, why: why ?? sentence, loop_id, worker, branch },
    })),
    ...given({ next }),
  }),
}

const MOST_ROWS = 10

/** Without what is only needed for a chart. */
export const analyticsView: View<Analytics> = {
  schema: z.object({
    loops: z.number(),
    success: z.looseObject({}),
    stops: z.array(z.looseObject({})),
    iterations: z.looseObject({}),
    cost: z.looseObject({}),
    falseClaims: z.looseObject({}),
    checks: z.array(z.looseObject({})),
  }),
  of({ days: _days, iterations: { histogram: _bars, ...iterations }, ...rest }) {
    const { byAgent, byType, bySize, checks, finishing } = rest
    const shown = (rows: readonly object[]) => rows.slice(0, MOST_ROWS)
    const most = { byAgent: shown(byAgent), byType: shown(byType), bySize: shown(bySize), checks: shown(checks) }
    return { ...rest, iterations, ...most, finishing: shown(finishing) }
  },
}

/** A list in an object: a tool answers with an object. */
export const ordersView: View<Given[]> = {
  schema: z.object({ loops: z.array(z.object({ loop: z.string(), heard: z.string() })) }),
  of: (loops) => ({ loops }),
}

function iso(at: number): string {
  return new Date(at).toISOString()
}

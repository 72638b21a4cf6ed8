/** Works through the tasks of a project in this process. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { removeLeftPlaces } from '../drive/left-places.ts'
import type { Config } from '../formats/config.ts'
import { canStart } from '../host/check.ts'
import { newLoopId } from '../host/loop-id.ts'
import { mustHaveSandbox } from '../host/sandbox.ts'
import { unmatchedNotes } from '../host/unmatched.ts'
import { mustBeCopyable } from '../host/worktree.ts'
import type { Execution } from '../project/desk.ts'
import { type Executed, execute } from '../project/execute.ts'
import { openProject, type Project } from '../project/folder.ts'
import { lockProject } from '../project/lock.ts'
import { checkRepository, loadRecord, repairLeftovers } from '../project/open.ts'
import type { ProjectRecord } from '../project/record.ts'
import { writeResults } from '../project/results.ts'
import { taskProof } from '../project/task.ts'
import { parseExecute } from '../project/templates.ts'
import { DEFAULTS } from '../request/defaults.ts'
import { given } from '../request/given.ts'
import { mustBeProvable } from '../request/provable.ts'
import type { CrewRequest, LoopRequest } from '../request/request.ts'
import { proofConfig, resolveChecks, resolveLimits, resolveSpec } from '../request/resolve.ts'
import { withSandbox } from '../request/sandbox.ts'
import { chooseAgents, mustSuit } from './choose-agents.ts'
import { openConfig } from './open-config.ts'
import { type Context, selfIn } from './operation.ts'
import { workFolder } from './start-loop.ts'

export type { Executed } from '../project/execute.ts'
export type { Project } from '../project/folder.ts'
export { type ProjectRecord, proofsOf } from '../project/record.ts'

/** Options for the whole project. `iterations`: agent turns in total. */
export type Executing = CrewRequest & { project: string; dir?: string; iterations?: number }

/** Callbacks, and signals to stop. */
export type Watching = Pick<Execution, 'progress' | 'show' | 'saw' | 'note' | 'stop' | 'pause'> & {
  begin(project: Project, record: ProjectRecord, how: StartInfo): void
  say(text: string): void
  end(project: Project, executed: Executed): void
}

export type StartInfo = { agents: string[]; checks: string[]; slots: number; permissions: 'bypass' | 'ask' }

export async function executeProject(context: Context, asked: Executing, watching: Watching): Promise<Executed> {
  const dir = workFolder(context, asked.dir)
  const project = openProject(dir, asked.project)
  const config = await openConfig(context, dir)
  const lock = lockProject(project)
  try {
    await removeLeftPlaces(context.home)
    const { record, notes } = await loadRecord(project, context.store(), context.now)
    const prepared = await prepare(context, withSandbox(asked, config), { project, config, record })
    const executed = await execute({
      ...prepared.execution,
      ...watching,
      hold: lock.hold,
      started: (now) => {
        const { execution, permissions, why } = prepared
        watching.begin(project, now, {
          agents: execution.request.agents ?? [],
          checks: execution.checks,
          slots: asked.slots,
          permissions,
        })
        for (const text of [...why, ...notes, ...prepared.notes, ...whatIsMissing(context, now, prepared)])
          watching.say(text)
      },
    })
    await writeResults(project, executed.record, { stop: executed.stop, store: context.store(), at: context.now() })
    watching.end(project, executed)
    return executed
  } finally {
    lock.release()
  }
}

type Place = { project: Project; config: Config; record: ProjectRecord }
type Prepared = {
  execution: Omit<Execution, 'progress' | 'show' | 'saw' | 'note' | 'stop' | 'pause' | 'hold' | 'started'>
  permissions: 'bypass' | 'ask'
  why: string[]
  notes: string[]
}

/** Validates the request before anything starts. */
async function prepare(context: Context, asked: Executing, { project, config, record }: Place): Promise<Prepared> {
  const { project: _, dir: __, agent, slots, iterations, checks: asksFor, limits: asks, ...request } = asked
  const { dir } = project
  const { env, home, now, root } = context
  const { agents, why } = await chooseAgents(context, { dir, config, asked: agent })
  mustSuit(agents, asked)
  const checks = resolveChecks(given({ checks: asksFor }), { dir, config })
  if (request.sandbox) await mustHaveSandbox(dir, env, request.sandbox)
  const copied = config.worktree_files ?? []
  mustBeCopyable(dir, copied)
  mustRender(project, record)
  const protect = await mustProve(record, { request: { ...request, checks }, dir, config })
  const repaired = await repairLeftovers(project, record, home)
  const { branch, notes } = await checkRepository(project, slots)
  const place = { dir, env, config: { ...config, max_iterations: 0 } }
  const { iterations: ___, ...limits } = await resolveLimits({ size: 'S', ...given({ limits: asks }) }, place)
  return {
    execution: {
      project,
      store: context.store(),
      record,
      checks,
      slots,
      limits,
      home,
      env,
      now,
      self: selfIn(root),
      newId: newLoopId,
      ...given({ iterations, branch }),
      copied,
      ...given({ setup: config.worktree_setup }),
      config: proofConfig(config),
      request: { ...request, agents },
    },
    permissions: request.permissions ?? DEFAULTS.permissions,
    why: why === undefined ? [] : [why],
    notes: [...repaired, ...notes, ...(await unmatchedNotes(dir, protect))],
  }
}

/** Reports a broken template before anything starts. */
function mustRender({ name, dir }: Project, { tasks }: ProjectRecord): void {
  for (const task of tasks.tasks.slice(0, 1)) parseExecute(name, 1, 1, task, { dir })
}

/**
 * Reports a grade that a task can never reach. Tasks that an agent adds later have no check; they halt as unproven.
 * The globs apply to all tasks.
 */
async function mustProve(
  { tasks }: ProjectRecord,
  { request, dir, config }: { request: Omit<LoopRequest, 'prompt'>; dir: string; config: Config },
): Promise<string[]> {
  const protect = new Set<string>()
  for (const task of tasks.tasks.filter(({ status }) => status !== 'completed')) {
    const checks = [...(request.checks ?? []), ...(task.verify ?? [])]
    const asked = { ...request, ...taskProof(request, task), checks, prompt: task.title }
    const spec = await resolveSpec(asked, { dir, owner: { kind: 'project' }, env: {}, config: proofConfig(config) })
    mustBeProvable(spec, { whose: `Task ${task.id}`, check: '--verify "npm test", or with "verify" in tasks.json' })
    for (const glob of spec.protect ?? []) protect.add(glob)
  }
  return [...protect]
}

function whatIsMissing({ env }: Context, { tasks }: ProjectRecord, { execution }: Prepared): string[] {
  const { copied, slots, checks, project } = execution
  const open = tasks.tasks.filter(({ status }) => status !== 'completed')
  return [
    ...copied
      .filter((name) => slots > 1 && !existsSync(join(project.dir, name)))
      .map((name) => `worktree_files: ${name} was not found, so it is not copied to worktrees.`),
    // A check whose program is missing stops the project at the first claim.
    ...[...new Set([...checks, ...open.flatMap(({ verify }) => verify ?? [])])]
      .filter((check) => !canStart(check, project.dir, env.PATH))
      .map(
        (check) =>
          `The program for check "${check}" is not installed yet. Without it, the project will stop (verifier-broken).`,
      ),
  ]
}

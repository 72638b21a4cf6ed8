/** Turns a request into a loop that is ready for its first turn. Any process may drive it. */
import { existsSync, realpathSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { runningAlongside } from '../drive/alongside.ts'
import { measuredFrom } from '../drive/earlier.ts'
import { homeFolder } from '../engine/home-folder.ts'
import { count } from '../engine/limits.ts'
import { type Loop, type Owner, type Spec, type Stage, startLoop, statusOf } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import type { Config } from '../formats/config.ts'
import { newLoopId } from '../host/loop-id.ts'
import { mustHaveSandbox } from '../host/sandbox.ts'
import { openTree } from '../host/tree.ts'
import { unmatchedNotes } from '../host/unmatched.ts'
import { countUncommitted, mustBeCopyable, planWorktree } from '../host/worktree.ts'
import { given } from '../request/given.ts'
import { mustBeProvable } from '../request/provable.ts'
import type { LoopRequest } from '../request/request.ts'
import { resolveSpec } from '../request/resolve.ts'
import { withSandbox } from '../request/sandbox.ts'
import { holderOf } from '../session/elsewhere.ts'
import { askingOf, beginTask, ownerOfTask } from './begin-task.ts'
import { chooseAgents, mcpTrouble, mustSuit } from './choose-agents.ts'
import { openConfig } from './open-config.ts'
import type { Context, Operation } from './operation.ts'
import { pruneOld } from './prune.ts'

/** `agent`: as typed, comma-separated. `worktree`: works in its own linked worktree. */
export type Asking = Omit<LoopRequest, 'agents'> & { dir?: string; agent?: string; worktree?: boolean }

/** Either a prompt, or a task on the board. */
export type Starting = (Asking & { task_id?: never }) | ({ [Field in keyof Asking]?: never } & { task_id: string })

/** `why`: how the agent was chosen, if none was named. `queued`: it starts when there is room. */
export type Started = { loop: string; why?: string; queued?: true }

export const start: Operation<Starting, Started> = {
  name: 'start_loop',
  effect: 'write',
  summary: 'Starts a loop: an agent works on a prompt or a task, again and again, until its checks pass.',
  agent: {
    description: 'Returns at once; follow it with wait_loop. Give `checks`: without them nothing proves the work.',
    openWorld: true,
  },
  async run(context, starting) {
    if (starting.task_id === undefined) {
      const { loop, why } = await prepareLoop(context, starting, context.workers ? { kind: 'board' } : undefined)
      await context.store().create(loop)
      return asStarted(context, loop, why)
    }
    const { loop, why } = await beginTask(context, starting.task_id, async (task) =>
      prepareLoop(context, await askingOf(context, task), ownerOfTask(task)),
    )
    return asStarted(context, loop, why)
  },
}

export function asStarted({ workers }: Pick<Context, 'workers'>, loop: Loop, why: string | undefined): Started {
  const isQueued = statusOf(loop) === 'queued'
  if (isQueued) workers?.look()
  return { loop: loop.id, ...given({ why }), ...(isQueued ? { queued: true } : {}) }
}

/** The requested loop, not stored yet. If workers run it, it is queued. */
async function prepareLoop(
  context: Context,
  { dir: folder, agent, worktree = false, ...asking }: Asking,
  owner: Owner | undefined,
): Promise<{ loop: Loop; why?: string }> {
  const dir = workFolder(context, folder)
  const config = await openConfig(context, dir)
  const request = withSandbox(asking, config)
  const { agents, why } = await chooseAgents(context, { dir, config, asked: agent })
  mustSuit(agents, request)
  const asked = { ...request, mcp: request.mcp ?? offersMcp(context, { config, agents, ...request }) }
  const loop = await makeLoop(context, { ...asked, agents }, { dir, config, worktree, ...given({ owner }) })
  return { loop, ...given({ why }) }
}

/** Settings from the config apply only where supported. */
export function offersMcp(
  { note }: Context,
  { config, agents, ...request }: { config: Config; agents: string[] } & Pick<LoopRequest, 'sandbox'>,
): boolean {
  const trouble = config.mcp ? mcpTrouble(agents, request) : undefined
  if (trouble) note(`\`mcp\` in the config is ignored: ${trouble}.`)
  return config.mcp === true && trouble === undefined
}

/** `worktree`: works in its own linked worktree. */
type Making = { dir: string; config: Config; worktree: boolean; owner?: Owner }

/** A loop that is not stored yet. */
export async function makeLoop(
  context: Context,
  request: LoopRequest,
  { dir, config, worktree, owner }: Making,
): Promise<Loop> {
  const store = context.store()
  const id = newLoopId()
  mustBeNames(request.stages ?? [])
  const history = () => store.history()
  const place = { dir, env: context.env, config, history, ...given({ owner }) }
  const resolved = await resolveSpec(request, place)
  mustBeProvable(resolved)
  if (resolved.work.sandbox) await mustHaveSandbox(dir, context.env, resolved.work.sandbox)
  const { spec, tree } = worktree
    ? await inWorktree(context, { id, spec: resolved, config })
    : await inPlace(context, { id, spec: resolved })
  for (const text of await unmatchedNotes(dir, spec.protect)) context.note(text)
  const queued = owner?.kind === 'board' && context.workers ? ({ queued: true } as const) : {}
  // The queue never runs two loops in one folder at once.
  if (!('queued' in queued)) await noteOthers(context, { id, spec })
  await pruneOld(context, { dir })
  const measured = await measuredFrom(store, spec, tree)
  return startLoop(id, measured, { at: context.now(), ...given({ tree }), ...queued })
}

/** A stage is claimed by name, which must stay recognizable in whatever an agent prints around it. */
export function mustBeNames(stages: readonly Stage[]): void {
  const odd = stages.find(({ name }) => !/^[\w .:-]{1,60}$/.test(name))
  if (odd)
    throw new RalphError(
      'usage',
      `"${odd.name}" is not a valid stage name. Use letters, digits, spaces, and these characters: . : _ -`,
    )
}

/** The folder to work in, with symlinks resolved. */
export function workFolder({ cwd }: Pick<Context, 'cwd'>, dir: string | undefined): string {
  const path = resolve(cwd, dir ?? '.')
  if (!existsSync(path) || !statSync(path).isDirectory())
    throw new RalphError('usage', `${path} is not a folder. Name one that exists.`, { field: 'dir' })
  return realpathSync(path)
}

type Placing = { id: string; spec: Spec }
export type Placed = { spec: Spec; tree?: string }

/** Its own worktree, created when the loop is driven. */
export async function inWorktree(
  { home, note }: Context,
  { id, spec, config }: Placing & { config: Config },
): Promise<Placed> {
  const { dir } = spec.work
  const { worktree_files: copied = [], worktree_setup: setup } = config
  mustBeCopyable(dir, copied)
  const path = join(realpathSync(home), 'worktrees', id)
  const { tree, ...plan } = await planWorktree(dir, { path, branch: `ralph/${id}`, copied, ...given({ setup }) })
  const uncommitted = await countUncommitted(dir)
  if (uncommitted > 0)
    note(
      `The worktree starts from your last commit; ${count(uncommitted, 'uncommitted change')} ${uncommitted === 1 ? 'is' : 'are'} not included.`,
    )
  return { spec: { ...spec, work: { ...spec.work, ...plan } }, tree }
}

export async function inPlace({ home }: Context, { id, spec }: Placing): Promise<Placed> {
  const { look, checkpoints } = await openTree({ dir: spec.work.dir, home, loop: id })
  if (spec.onHalt && 'none' in checkpoints)
    throw new RalphError('usage', `--on-halt ${spec.onHalt} needs checkpoints, but ${checkpoints.none}.`)
  const tree = await look()
  const work = { ...spec.work, ...('none' in checkpoints ? {} : { gitDir: checkpoints.repo.gitDir }) }
  return { spec: { ...spec, work }, ...given({ tree }) }
}

/** Two loops in one folder would mistake each other's changes for their own. */
export async function noteOthers(context: Context, { id, spec }: Placing): Promise<void> {
  const { home, note } = context
  const store = context.store()
  for (const other of await runningAlongside(store, { id, spec }))
    note(`Loop ${other} is also running here. Each will mistake the other's changes for its own.`)
  const dir = homeFolder({ spec })
  for (const { id: other } of (await store.list({ dir, status: ['running'], limit: 20 })).rows) {
    const holder = holderOf(home, other)
    if (holder !== undefined)
      note(`Loop ${other} is also running here, in ${holder}. Each will mistake the other's changes for its own.`)
  }
}

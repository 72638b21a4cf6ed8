/** Makes a loop of a request. It asks for its first turn; whoever wants to drives it. */
import { existsSync, realpathSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { drivenBeside } from '../drive/beside.ts'
import { measuredFrom } from '../drive/earlier.ts'
import { count } from '../engine/limits.ts'
import { type Loop, type Owner, type Spec, type Stage, startLoop } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import type { Config } from '../formats/config.ts'
import { loadConfig } from '../host/config.ts'
import { newLoopId } from '../host/loop-id.ts'
import { mustHaveSandbox } from '../host/sandbox.ts'
import { openTree } from '../host/tree.ts'
import { unmatchedNotes } from '../host/unmatched.ts'
import { countUncommitted, mustBeCopyable, planWorktree } from '../host/worktree.ts'
import { given } from '../request/given.ts'
import { mustBeProvable } from '../request/provable.ts'
import type { LoopRequest } from '../request/request.ts'
import { resolveSpec } from '../request/resolve.ts'
import { holderOf } from '../session/elsewhere.ts'
import { chooseAgents, mustSuit } from './choose-agents.ts'
import type { Context, Operation } from './operation.ts'
import { pruneOld } from './prune.ts'

/** `agent`: as people name it, several with commas. `worktree`: it works in a linked work tree of its own. */
export type Starting = Omit<LoopRequest, 'agents'> & { dir?: string; agent?: string; worktree?: boolean }

/** `why`: how the agent was chosen, where nobody named one. */
export type Started = { loop: string; why?: string }

export const start: Operation<Starting, Started> = {
  name: 'start_loop',
  effect: 'write',
  summary: 'Creates a loop: one prompt that an agent works on again and again until its checks pass.',
  async run(context, { dir: folder, agent, worktree = false, ...request }) {
    const dir = workFolder(context, folder)
    const config = loadConfig(context.home, dir)
    const { agents, why } = await chooseAgents(context, { dir, config, asked: agent })
    mustSuit(agents, request)
    const loop = await makeLoop(context, { ...request, agents }, { dir, config, worktree })
    await context.store().create(loop)
    return { loop: loop.id, ...given({ why }) }
  },
}

/** `worktree`: it works in a linked work tree of its own. */
type Making = { dir: string; config: Config; worktree: boolean; owner?: Owner }

/** A loop that nobody has stored yet. */
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
  if (resolved.work.sandbox) await mustHaveSandbox(dir, context.env)
  const { spec, tree } = worktree
    ? await inWorktree(context, { id, spec: resolved, config })
    : await inPlace(context, { id, spec: resolved })
  for (const text of await unmatchedNotes(dir, spec.protect)) context.note(text)
  await noteOthers(context, { id, spec })
  await pruneOld(context, { dir })
  const measured = await measuredFrom(store, spec, tree)
  return startLoop(id, measured, { at: context.now(), ...given({ tree }) })
}

/** A stage is claimed by its name, which must survive whatever an agent prints around it. */
function mustBeNames(stages: readonly Stage[]): void {
  const odd = stages.find(({ name }) => !/^[\w .:-]{1,60}$/.test(name))
  if (odd)
    throw new RalphError('usage', `"${odd.name}" is not a name for a stage. Use letters, digits, space, and . : _ -`)
}

/** The folder to work in, as it really is. */
export function workFolder({ cwd }: Pick<Context, 'cwd'>, dir: string | undefined): string {
  const path = resolve(cwd, dir ?? '.')
  if (!existsSync(path) || !statSync(path).isDirectory())
    throw new RalphError('usage', `${path} is not a folder. Give --dir an existing one.`)
  return realpathSync(path)
}

type Placing = { id: string; spec: Spec }
type Placed = { spec: Spec; tree?: string }

/** A work tree of its own, which is made when the loop is driven. */
async function inWorktree(
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
      `the work tree begins at your last commit; ${count(uncommitted, 'uncommitted change')} of yours ${uncommitted === 1 ? 'is' : 'are'} not in it.`,
    )
  return { spec: { ...spec, work: { ...spec.work, ...plan } }, tree }
}

async function inPlace({ home }: Context, { id, spec }: Placing): Promise<Placed> {
  const { look, checkpoints } = await openTree({ dir: spec.work.dir, home, loop: id })
  if (spec.onHalt && 'none' in checkpoints)
    throw new RalphError('usage', `--on-halt ${spec.onHalt} needs checkpoints, but ${checkpoints.none}.`)
  const tree = await look()
  const work = { ...spec.work, ...('none' in checkpoints ? {} : { gitDir: checkpoints.repo.gitDir }) }
  return { spec: { ...spec, work }, ...given({ tree }) }
}

/** Two loops in one folder would take each other's changes for their own. */
async function noteOthers(context: Context, { id, spec }: Placing): Promise<void> {
  const { home, note } = context
  const store = context.store()
  for (const other of await drivenBeside(store, { id, spec }))
    note(`loop ${other} is at work here, too. Each will take the other's changes for its own.`)
  const dir = spec.work.worktree?.from ?? spec.work.dir
  for (const { id: other } of (await store.list({ dir, status: ['running'], limit: 20 })).rows) {
    const holder = holderOf(home, other)
    if (holder !== undefined)
      note(`loop ${other} is at work here in ${holder}. Each will take the other's changes for its own.`)
  }
}

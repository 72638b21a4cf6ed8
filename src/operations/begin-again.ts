/** Builds a loop from the request of another one, with changes. */
import { homeFolder } from '../engine/home-folder.ts'
import { type Limits, type Loop, type Owner, type Spec, startLoop } from '../engine/loop.ts'
import { agentsOf } from '../engine/roster.ts'
import type { BoardTask } from '../formats/board-task.ts'
import type { Config } from '../formats/config.ts'
import { markSettings } from '../host/config-trust.ts'
import type { SentOrder } from '../host/store.ts'
import { given } from '../request/given.ts'
import { ownerOfTask } from './begin-task.ts'
import { chooseAgents, locate, mustSuit } from './choose-agents.ts'
import { openConfig } from './open-config.ts'
import type { Context } from './operation.ts'
import { offersMcp, type Placed, workFolder } from './start-loop.ts'

/** What the new loop changes. */
export type Changes = {
  agent?: string
  limits?: Partial<Pick<Limits, 'iterations' | 'minutes' | 'tokens' | 'costUsd'>>
}

/** An extra message for its first iteration. */
export function saying(words: string | undefined): SentOrder[] {
  return words === undefined ? [] : [{ by: 'you', order: { kind: 'say', words } }]
}

/** The spec in the user's own folder. The caller decides where it works and who owns it. */
export async function specAgain(
  context: Context,
  loop: Loop,
  { agent, limits = {} }: Changes,
): Promise<{ spec: Spec; config: Config; why?: string }> {
  const dir = workFolder(context, homeFolder(loop))
  const config = await openConfig(context, dir)
  const {
    settings: _______,
    worktree: _,
    gitDir: __,
    owner: ___,
    faces: ____,
    proofBase: _____,
    parent: ______,
    ...work
  } = loop.spec.work
  const spec = { ...loop.spec, limits: limited(loop.spec.limits, limits), work: { ...work, dir, ...marked(dir) } }
  if (agent === undefined) {
    for (const name of agentsOf(spec)) locate(name, { ...context, dir })
    mustSuit(agentsOf(spec), { limits })
    return { spec, config }
  }
  const { agents, why } = await chooseAgents(context, { dir, config, asked: agent })
  return { spec: suited(context, withAgents(spec, agents), { agents, config }), config, ...given({ why }) }
}

function marked(dir: string): Pick<Spec['work'], 'settings'> {
  const settings = markSettings(dir)
  return Object.keys(settings).length > 0 ? { settings } : {}
}

/** Another agent must support everything that was requested. Settings from the config apply only where supported. */
function suited(context: Context, spec: Spec, { agents, config }: { agents: string[]; config: Config }): Spec {
  const { mcp: asked, ...work } = spec.work
  const { costUsd, tokens } = spec.limits
  const sandbox = work.sandbox !== undefined
  const mcp = asked === true && (!config.mcp || offersMcp(context, { config, agents, sandbox }))
  mustSuit(agents, {
    mcp,
    sandbox,
    limits: given({ tokens, costUsd: costUsd === config.max_cost_usd ? undefined : costUsd }),
  })
  return { ...spec, work: { ...work, ...(mcp ? { mcp } : {}) } }
}

/** An explicit number is fixed. */
function limited({ ceiling, ...limits }: Limits, changed: NonNullable<Changes['limits']>): Limits {
  return { ...limits, ...(changed.iterations === undefined && ceiling !== undefined ? { ceiling } : {}), ...changed }
}

/** A model and arguments belong to the agent they were given for. */
function withAgents({ agents: _, ...spec }: Spec, named: readonly string[]): Spec {
  const { model: __, chain: ___, ...work } = spec.work
  return {
    ...spec,
    ...(named.length > 1 ? { agents: [...named] } : {}),
    work: { ...work, agent: named[0] ?? '', agentArgs: [] },
  }
}

/** Loops that workers run belong to the board, as the previous one may have; any other belongs to its user. `task`: the task it takes over. */
export function ownerAgain({ workers }: Context, { spec }: Loop, task: BoardTask | undefined): Owner | undefined {
  if (task) return ownerOfTask(task)
  return workers || spec.work.owner?.kind === 'board' ? { kind: 'board' } : undefined
}

/** A loop that is not stored yet. If workers run it, it is queued. */
export function loopIn(context: Context, id: string, { spec, tree }: Placed, owner: Owner | undefined): Loop {
  const owned = { ...spec, work: { ...spec.work, ...given({ owner }) } }
  const queued = context.workers ? ({ queued: true } as const) : {}
  return startLoop(id, owned, { at: context.now(), ...given({ tree }), ...queued })
}

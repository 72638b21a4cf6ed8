/** Works on files that arrive in a vault, in this process. */
import { resolve } from 'node:path'
import { agents as known, parseAgent } from '../agents/index.ts'
import { removeLeftPlaces } from '../drive/left-places.ts'
import { doubt } from '../engine/breaker.ts'
import { agentsOf } from '../engine/roster.ts'
import { RalphError } from '../error.ts'
import type { TaskHead } from '../formats/task-file.ts'
import { canStart } from '../host/check.ts'
import { findProgram } from '../host/process.ts'
import { mustHaveSandbox } from '../host/sandbox.ts'
import { DEFAULTS } from '../request/defaults.ts'
import { given } from '../request/given.ts'
import type { CrewRequest } from '../request/request.ts'
import { resolveChecks, resolveLimits } from '../request/resolve.ts'
import { withSandbox } from '../request/sandbox.ts'
import { openVault } from '../vault/place.ts'
import type { Crew } from '../vault/spec.ts'
import { type Watched, watchVault as watch } from '../vault/watch.ts'
import type { WatchEvent } from '../vault/work.ts'
import { chooseAgents, mustSuit } from './choose-agents.ts'
import { openConfig } from './open-config.ts'
import { type Context, selfIn } from './operation.ts'
import { openDesk } from './vault-place.ts'

export { answersTo } from '../vault/answers.ts'
export { statusOfTask } from '../vault/lifecycle.ts'
export { vaultOf } from '../vault/vault-task.ts'
export type { Watched } from '../vault/watch.ts'
export { isAboutFile } from '../vault/where.ts'
export type { WatchEvent } from '../vault/work.ts'

/** `once`: ends when nothing is left to do. */
export type Watching = CrewRequest & {
  vault: string
  once: boolean
  maxIterations?: number
  timeoutMinutes?: number
}

export type StartInfo = {
  vault: string
  agents: string[]
  checks: string[]
  slots: number
  permissions: 'bypass' | 'ask'
  once: boolean
}

/** Callbacks, and how to stop it. */
export type Listener = {
  begin(how: StartInfo): void
  tell(event: WatchEvent): void
  rest: AbortSignal
  stop: AbortSignal
  /** Stops after the current iterations, and says why. */
  windDown(why: string): void
}

/** `useless`: the default agent cannot work, so the remaining tasks were left in place. */
export async function watchVault(
  context: Context,
  asking: Watching,
  listener: Listener,
): Promise<{ watched: Watched; useless: boolean }> {
  const { env, home, root } = context
  const vault = openVault(resolve(context.cwd, asking.vault))
  const config = await openConfig(context, vault)
  const asked = withSandbox(asking, config)
  const note = once((text) => listener.tell({ kind: 'note', text }))
  const desk = openDesk({ ...context, note }, vault, settingsOf(asked))
  const { agents, why } = await chooseAgents(context, { dir: vault, config, asked: asked.agent })
  mustSuit(agents, asked)
  const checks = mustStart(resolveChecks(asked, { dir: vault, config }), vault, env)
  if (asked.sandbox) await mustHaveSandbox(vault, env, asked.sandbox)
  const place = { dir: vault, env: {}, config: { ...config, max_iterations: 0 } }
  const { iterations: _, minutes: __, ...limits } = await resolveLimits({ ...asked, size: 'S' }, place)
  const crew = (head: TaskHead) => crewOf(context, { asked, vault, agents, checks, limits }, head)
  crew({ priority: 1 }) // invalid options are not the fault of any file
  const { slots, once: isOnce, permissions = DEFAULTS.permissions } = asked
  listener.begin({ vault, agents, checks, slots, permissions, once: isOnce })
  if (why !== undefined) listener.tell({ kind: 'note', text: why })
  await removeLeftPlaces(home)
  const isUseless = openDoubts(agents)
  let useless = false
  const tell = (event: WatchEvent) => {
    listener.tell(event)
    if (!isUseless(event)) return
    useless = true
    listener.windDown(`No task can run with ${agents.join(', ')} now. The remaining tasks are left in place.`)
  }
  const { rest, stop } = listener
  const watched = await watch({ desk, slots, once: isOnce, self: selfIn(root), tell, rest, stop, crew })
  return { watched, useless }
}

function settingsOf({ maxIterations, timeoutMinutes }: Watching): Parameters<typeof openDesk>[2] {
  return given({ maxIterations, timeoutMinutes })
}

function mustStart(checks: string[], vault: string, env: Context['env']): string[] {
  const missing = checks.find((check) => !canStart(check, vault, env.PATH))
  if (missing === undefined) return checks
  throw new RalphError('usage', `The program for check "${missing}" is not installed, so no task can pass. Install it.`)
}

type Hiring = {
  asked: Watching
  vault: string
  agents: string[]
  checks: string[]
  limits: NonNullable<Crew['limits']>
}

/** Model and arguments belong to the watcher's agent, not to one that a task names. */
function crewOf(context: Context, { asked, vault, agents, checks, limits }: Hiring, head: TaskHead): Crew {
  const { model, agentArgs, permissions, context: memory, silenceMinutes, checkMinutes } = asked
  const { sandbox, sandboxAllow } = asked
  const { proof, require, protect, mayChange, proofMinutes, proofSetup } = asked
  const names = head.agent === undefined ? agents : agentsIn(head.agent, context, vault)
  const own = head.agent === undefined
  const blind = names.map((name) => parseAgent(name).agent).find(({ reports }) => !reports.includes('cost'))
  if ((head.maxCostUsd ?? limits.costUsd) !== undefined && blind)
    throw new RalphError(
      'input-invalid',
      `The cost limit (max_cost_usd) cannot be enforced: the agent "${blind.name}" does not report its cost.`,
    )
  const crew: Crew = {
    ...given({ permissions, context: memory, sandbox, sandboxAllow, silenceMinutes, checkMinutes }),
    ...given({ proof, require, protect, mayChange, proofMinutes, proofSetup }),
    ...(own ? given({ model, agentArgs }) : {}),
    agents: names,
    checks,
    limits,
  }
  mustSuit(names, { ...crew, limits: {} })
  return crew
}

/** The agents that a task file may name: those that need only a name. */
function agentsIn(text: string, { env }: Context, dir: string): string[] {
  const nameable = Object.values(known).filter(({ targetExample }) => targetExample === undefined)
  return [...new Set(text.split(','))].map((name) => {
    const agent = nameable.find((each) => each.name === name)
    if (!agent)
      throw new RalphError(
        'agent-unknown',
        `A task file cannot name the agent "${name}", only ${nameable.map((each) => each.name).join(', ')}. Name one of them, or leave it to \`ralph watch --agent\`.`,
      )
    const [program = name] = agent.probe?.programs ?? []
    if (findProgram(program, dir, env.PATH)) return name
    throw new RalphError(
      'agent-missing',
      `The agent "${program}" was not found on PATH. Install it, or name another one. \`ralph doctor\` shows which agents are installed.`,
    )
  })
}

function once(say: (text: string) => void): (text: string) => void {
  const said = new Set<string>()
  return (text) => {
    if (said.has(text)) return
    said.add(text)
    say(text)
  }
}

/** Whether the default agents would also fail on the next task. Tasks that name their own agent say nothing about that. */
function openDoubts(agents: readonly string[]): (event: WatchEvent) => boolean {
  let crashed = 0
  return (event) => {
    if (event.kind !== 'ended' || agentsOf(event.loop.spec).join() !== agents.join()) return false
    const doubts = doubt(crashed, event.loop)
    crashed = doubts.crashed
    return doubts.useless
  }
}

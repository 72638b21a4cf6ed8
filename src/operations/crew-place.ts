/** Finds the dispatcher that is meant: its config file, and its agents. */
import { existsSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { agents as known, parseAgent } from '../agents/index.ts'
import { type CrewAgent, crewOf, type PaneRecord, recordIn } from '../dispatch/crew.ts'
import { RalphError } from '../error.ts'
import type { Config } from '../formats/config.ts'
import { type AgentSettings, type CrewConfig, parseCrewConfig, type RalphSettings } from '../formats/crew-config.ts'
import { nearest } from '../formats/nearest.ts'
import { readText } from '../host/config.ts'
import { isFolder, readIfThere } from '../host/files.ts'
import { isLocked } from '../host/lock.ts'
import { sealIn } from '../host/sealed.ts'
import { given } from '../request/given.ts'
import { chooseAgents, locate } from './choose-agents.ts'
import { mustObey, openConfig } from './open-config.ts'
import type { Context } from './operation.ts'

export { tagOf } from '../dispatch/crew.ts'

const NAME = 'config.yaml'

/** The crew with this config file, else the one of this folder, else the only one. */
export type CrewName = { config?: string }

export type CrewPlace = { id: string; config: string; panes: { name: string; record: PaneRecord }[]; running: boolean }

/** The lock that a running dispatcher holds. */
export const lockOf = (crew: string): string => `crew-${crew}`

export async function findCrew(context: Context, { config }: CrewName): Promise<CrewPlace> {
  const rows = (await context.store().panes.list()).map((row) => ({ ...row, record: recordIn(row) }))
  const ids = [...new Set(rows.map(({ crew }) => crew))]
  const here = join(context.cwd, NAME)
  const file = config ?? (ids.includes(crewOf(realPath(here))) || isCrew(here) ? NAME : undefined)
  const asked = file === undefined ? undefined : crewOf(realPath(resolve(context.cwd, file)))
  const id = asked ?? (ids.length === 1 ? ids[0] : undefined)
  const panes = rows
    .filter(({ crew }) => crew === id)
    .sort((one, other) => one.record.agent.number - other.record.agent.number)
  const [first] = panes
  if (id !== undefined && first)
    return { id, config: first.record.config, panes, running: isLocked(context.home, lockOf(id)) }
  const configs = [...new Set(rows.map(({ record }) => record.config))]
  throw new RalphError(
    'pane-unknown',
    file === undefined && configs.length > 1
      ? `There are several dispatchers. Choose one by its config file with --config: ${configs.join(', ')}.`
      : `No dispatcher has been started${file === undefined ? '' : ` with ${file}`} yet. Start one: ralph dispatch --config ${file ?? NAME}`,
  )
}

/** A file of that name may belong to another program. */
function isCrew(path: string): boolean {
  return /^agents:/m.test(readIfThere(path) ?? '')
}

function realPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : path
}

/** By number or name. */
export function findAgent(place: CrewPlace, agent: string): { crew: string; name: string; record: PaneRecord } {
  const found = place.panes.find(
    ({ name, record }) => String(record.agent.number) === agent || name.toLowerCase() === agent.toLowerCase(),
  )
  if (found) return { crew: place.id, ...found }
  const names = place.panes.map(({ name }) => name)
  const close = nearest(agent, names)
  throw new RalphError(
    'pane-unknown',
    `No such agent: "${agent}".${close ? ` Did you mean "${close}"?` : ''} Agents: ${place.panes.map(({ name, record }) => `${record.agent.number} (${name})`).join(', ')}.`,
  )
}

/** Reads a config file and validates its agents. */
export async function readCrew(
  context: Context,
  file: string,
): Promise<{ id: string; config: string; agents: CrewAgent[]; settings: CrewConfig['ralph'] }> {
  const path = realPath(resolve(context.cwd, file))
  await mustObey(context, dirname(path))
  const { ralph, agents } = parseCrewConfig(readText(path, 'config'), path)
  if (agents.length === 0)
    throw new RalphError('input-invalid', `${path}: agents must name at least one agent, such as "- name: api".`)
  const crew: CrewAgent[] = []
  for (const agent of agents) crew.push(await toAgent(context, { path, ralph, agent, number: crew.length + 1 }))
  mustBeApart(
    crew.map((agent, index) => ({ agent, line: agents[index]?.line })),
    path,
  )
  return { id: crewOf(path), config: path, agents: crew, settings: ralph }
}

type Asked = { path: string; ralph: RalphSettings; agent: AgentSettings; number: number }

export async function toAgent(context: Context, { path, ralph, agent, number }: Asked): Promise<CrewAgent> {
  const at = agent.line === undefined ? '' : `${path}:${agent.line}: `
  const dir = resolve(dirname(path), agent.dir ?? '.')
  if (!isFolder(dir)) throw new RalphError('input-invalid', `${at}${agent.name}: folder not found: ${dir}.`)
  const real = realpathSync(dir)
  const around = await openConfig(context, real)
  const breaker = { ...around.circuit_breaker, ...ralph.circuit_breaker, ...agent.ralph?.circuit_breaker }
  const { enabled = true, max_total_cost_usd: _, agent: common, ...config } = { ...ralph, ...agent.ralph }
  const { worktree = false, setup } = agent
  if (worktree && !enabled)
    throw new RalphError(
      'input-invalid',
      `${at}${agent.name} has worktree: true, which needs a loop, but enabled: false starts none. Remove one of the two.`,
    )
  const text = agent.agent ?? context.env.RALPH_AGENT ?? common
  const sealed = sealIn(context.home, {
    agent: await agentOf(context, { text, at, path, dir: real }),
    args: agent.args ?? [],
    checks: agent.checks ?? [],
    ...given({ setup }),
  })
  return {
    name: agent.name,
    number,
    agent: sealed.agent,
    dir: real,
    worktree,
    permissions: agent.permissions ?? 'ask',
    args: sealed.args,
    checks: sealed.checks,
    // Every worktree is set up again, a folder only once.
    config: {
      ...around,
      ...config,
      circuit_breaker: breaker,
      ...(worktree ? given({ worktree_setup: sealed.setup }) : {}),
    } as Config,
    enabled,
    ...given({ model: agent.model, ...(worktree ? {} : { setup: sealed.setup }) }),
  }
}

/** An installed agent that can be used interactively in a terminal. */
async function agentOf(
  context: Context,
  { text: asked, at, path, dir }: { text: string | undefined; at: string; path: string; dir: string },
): Promise<string> {
  const usable = Object.values(known).filter(({ screen }) => screen !== undefined)
  const names = usable.map(({ name }) => name).join(', ')
  try {
    const text = asked === undefined || asked === 'auto' ? await found(context, { dir, names }) : asked
    const { agent } = parseAgent(text)
    if (!agent.screen)
      throw new RalphError('input-invalid', `the agent "${agent.name}" cannot run in a pane. These can: ${names}.`)
    return locate(text, { env: context.env, cwd: dirname(path), dir })
  } catch (cause) {
    if (cause instanceof RalphError) throw new RalphError(cause.code, `${at}${cause.message}`, { cause })
    throw cause
  }
}

/** An agent that is logged in. */
async function found(context: Context, { dir, names }: { dir: string; names: string }): Promise<string> {
  try {
    const { agents } = await chooseAgents(context, { dir, config: {}, asked: 'auto' })
    return agents[0] ?? ''
  } catch (cause) {
    throw new RalphError(
      'agent-missing',
      `no agent is named, and none is logged in. Name one, such as "agent: claude"; supported: ${names}.`,
      { cause },
    )
  }
}

/** Two agents in one folder would mistake each other's changes for their own. */
export function mustBeApart(agents: readonly { agent: CrewAgent; line?: number | undefined }[], path: string): void {
  for (const [index, { agent, line }] of agents.entries()) {
    const before = agents.slice(0, index).find(({ agent: other }) => other.dir === agent.dir)?.agent
    if (before && !agent.worktree && !before.worktree)
      throw new RalphError(
        'input-invalid',
        `${line === undefined ? '' : `${path}:${line}: `}${agent.name} and ${before.name} would work in the same folder, ${agent.dir}. Give one of them its own folder, or worktree: true.`,
      )
  }
}

/** Runs this machine as a worker of the fleet: one per home, with the agents available here. */
import { hostname } from 'node:os'
import { join } from 'node:path'
import { agents as known, parseAgent } from '../agents/index.ts'
import { RalphError } from '../error.ts'
import { mustBeLabels } from '../fleet/submittable.ts'
import { makePrivateFolder } from '../host/files.ts'
import { lockLoop } from '../host/lock.ts'
import { newLoopId } from '../host/loop-id.ts'
import { findAgent } from '../host/probe.ts'
import { type Working, workForFleet } from './fleet-worker.ts'
import type { Context } from './operation.ts'

/** `agents`: by name; absent: all that are available. `accounts`: the account of each agent, if not named after it. */
export type RunningWorker = Pick<Working, 'labels' | 'concurrency' | 'version' | 'drain' | 'stop' | 'say'> & {
  agents?: readonly string[]
  accounts: ReadonlyMap<string, string>
  /** It is about to take tasks. */
  ready(worker: Pick<Working, 'id' | 'host' | 'agents'>): void
}

/** Runs until it is drained. */
export async function runWorker(context: Context, running: RunningWorker): Promise<void> {
  const { home, beats = {} } = context
  mustBeLabels(running.labels)
  const agents = offeredAgents(context, running)
  context.store() // creates the home
  makePrivateFolder(join(home, 'locks'))
  const lock = lockLoop(home, 'worker')
  if (!lock)
    throw new RalphError(
      'server-running',
      `A worker is already running with ${home}. Use it, or set RALPH_HOME to another folder for a second one.`,
    )
  try {
    const host = hostname()
    const { drain, stop, say, labels, concurrency, version } = running
    // Unique per process, so that it is not mistaken for one that has died.
    const id = `${host.split('.')[0]?.replace(/[^\w-]/g, '-') || 'worker'}-${newLoopId().slice(0, 4)}`
    const working = { id, host, version, agents, labels, concurrency, drain, stop, say, beats }
    await workForFleet(context, { ...working, ready: () => running.ready({ id, host, agents }) })
  } finally {
    lock.close()
  }
}

type Offering = Pick<RunningWorker, 'agents' | 'accounts'>

/** Each with its account. Rate limits apply to an account, on every machine that uses it. */
function offeredAgents(context: Context, { agents: asked, accounts }: Offering): Map<string, string> {
  const names = asked ? asked.map((name) => mustBeUsable(context, name)) : usableHere(context)
  const unknown = [...accounts.keys()].find((name) => !names.includes(name))
  if (unknown !== undefined)
    throw new RalphError(
      'usage',
      `--account ${unknown}=…: this worker does not run ${unknown}, only ${names.join(', ')}.`,
    )
  return new Map(names.map((name) => [name, accounts.get(name) ?? name]))
}

function usableHere({ cwd: dir, env }: Context): string[] {
  const found = Object.values(known).filter(({ probe }) => {
    const login = probe && findAgent(probe, { dir, env })?.login
    return login !== undefined && login !== 'no'
  })
  // A task that names its own program finds it, or reports that it is missing.
  return [...found.map(({ name }) => name), 'acp', 'command']
}

function mustBeUsable({ cwd: dir, env }: Context, name: string): string {
  const { agent } = parseAgent(Object.hasOwn(known, name) && known[name]?.targetExample ? `${name}:x` : name)
  const { probe } = agent
  if (name.includes(':'))
    throw new RalphError('usage', `--agents takes names such as claude or command, got "${name}".`)
  const found = probe && findAgent(probe, { dir, env })
  if (probe && !found)
    throw new RalphError('agent-missing', `${name} was not found on PATH. Install it: npm install -g ${probe.install}`)
  if (found?.login === 'no')
    throw new RalphError('agent-unusable', `${name} is not logged in on this machine. Start it once and log in.`)
  return agent.name
}

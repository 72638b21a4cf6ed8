/** Lists the agents that ralph supports, and which of them are available here. */
import type { Agent } from '../agents/agent.ts'
import { agents } from '../agents/index.ts'
import { askVersion, findAgent } from '../host/probe.ts'
import { given } from '../request/given.ts'
import type { Context, Operation } from './operation.ts'

/**
 * `unknown`: installed, but whether it is logged in is unknown. `tested`: the version that ralph was tested with.
 * `can`: the settings it supports and what it reports.
 */
export type Executor = {
  name: string
  state: 'ready' | 'needs-login' | 'unknown' | 'not-found'
  path?: string
  version?: string
  tested: string
  can: string[]
  /** The npm package to install it from. */
  install: string
}

export const listExecutors: Operation<Record<never, never>, { executors: Executor[] }> = {
  name: 'list_executors',
  effect: 'read',
  summary: 'Lists the coding agents ralph supports, and which are installed and logged in.',
  agent: { description: 'Calls no model. Use a name as `agent`; `auto` picks the first that is ready.' },
  async run(context) {
    return { executors: await Promise.all(Object.values(agents).flatMap((agent) => look(context, agent))) }
  },
}

function look(context: Context, { name, probe, settings, reports }: Agent): Promise<Executor>[] {
  if (!probe) return []
  const where = { dir: context.cwd, env: context.env }
  const about = { name, tested: probe.tested, can: [...settings, ...reports], install: probe.install }
  const found = findAgent(probe, where)
  if (!found) return [Promise.resolve({ ...about, state: 'not-found' })]
  const { path, login } = found
  return [
    askVersion(probe, path, where).then((version) => ({ ...about, state: STATES[login], path, ...given({ version }) })),
  ]
}

const STATES = { yes: 'ready', no: 'needs-login', unknown: 'unknown' } as const

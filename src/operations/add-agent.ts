/** Adds and removes agents while a dispatcher is running. */
import { resolve } from 'node:path'
import { type CrewAgent, tagOf } from '../dispatch/crew.ts'
import { RalphError } from '../error.ts'
import { AGENT_NAME, isAgentName } from '../formats/crew-config.ts'
import { openTmux } from '../host/tmux.ts'
import { given } from '../request/given.ts'
import type { Left, OneAgent } from './agent-tasks.ts'
import { refuseBelowTurn } from './below-turn.ts'
import { type CrewName, type CrewPlace, findAgent, findCrew, mustBeApart, toAgent } from './crew-place.ts'
import type { Context, Operation } from './operation.ts'

export type Adding = CrewName & {
  name: string
  /** As `--agent` takes it. */
  agent?: string
  dir?: string
  worktree?: boolean
  model?: string
  checks?: string[]
  permissions?: 'ask' | 'bypass'
}

export const addAgent: Operation<Adding, Left> = {
  name: 'add_agent',
  effect: 'write',
  person: true,
  summary: 'Adds an agent to a running dispatcher, in a pane of its own.',
  async run(context, { config, dir, ...asked }) {
    await refuseBelowTurn(context)
    const place = await findCrew(context, given({ config }))
    if (!place.running) throw notRunning(place.config)
    if (!isAgentName(asked.name))
      throw new RalphError('usage', `The name of an agent must be ${AGENT_NAME}, got "${asked.name}".`)
    const there = [...place.panes.map(({ record }) => record.agent), ...(await onTheirWay(context, place))]
    if (there.some(({ name }) => name.toLowerCase() === asked.name.toLowerCase()))
      throw new RalphError('usage', `An agent named ${asked.name} already exists. Choose another name.`)
    const agent = await toAgent(context, {
      path: place.config,
      ralph: place.panes[0]?.record.agent.config ?? {},
      agent: { ...asked, ...(dir === undefined ? {} : { dir: resolve(context.cwd, dir) }) },
      number: there.length + 1,
    })
    mustBeApart(
      [...there, agent].map((one) => ({ agent: one })),
      place.config,
    )
    await context.store().panes.post({ crew: place.id, name: '' }, { kind: 'add', agent })
    return { agent: asked.name, running: true }
  },
}

/** Agents that were added but that the dispatcher has not picked up yet. */
async function onTheirWay(context: Context, { id }: CrewPlace): Promise<CrewAgent[]> {
  const mail = await context.store().panes.mail(id)
  return mail.flatMap(({ mail: one }) => (one.kind === 'add' ? [one.agent as CrewAgent] : [])) // left by `add_agent`
}

export const removeAgent: Operation<OneAgent, Left> = {
  name: 'remove_agent',
  effect: 'destroy',
  person: true,
  summary: 'Stops an agent and closes its pane. An agent in the config returns when the dispatcher restarts.',
  async run(context, { agent, ...crew }) {
    await refuseBelowTurn(context)
    const place = await findCrew(context, crew)
    const { name, record } = findAgent(place, agent)
    if (record.loop !== undefined)
      throw new RalphError(
        'usage',
        `${name} is working on loop ${record.loop}. Cancel it first: ralph dispatch cancel ${name}`,
      )
    if (place.running) {
      await context.store().panes.post({ crew: place.id, name }, { kind: 'remove' })
      return { agent: name, running: true }
    }
    await openTmux(context.home, context.env).close(tagOf({ crew: place.id, name }))
    await context.store().panes.forget({ crew: place.id, name })
    return { agent: name, running: false }
  },
}

function notRunning(config: string): RalphError {
  return new RalphError('usage', `No dispatcher is running for ${config}. Start one: ralph dispatch --config ${config}`)
}

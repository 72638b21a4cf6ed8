/** Which needs of a task this worker can meet. */
import { parseAgent } from '../agents/index.ts'
import { mayWork, type Offer, serves } from '../fleet/needs.ts'
import { needsOf } from '../fleet/pass.ts'
import type { FleetTask } from '../formats/fleet-task.ts'
import type { Desk } from './fleet-desk.ts'

function offerOf({ agents, labels }: Pick<Desk, 'agents' | 'labels'>): Offer {
  return { agents: [...agents.keys()], labels }
}

export function canRun(desk: Pick<Desk, 'agents' | 'labels'>, task: FleetTask): boolean {
  return serves(offerOf(desk), needsOf(task))
}

/** The agents of a task that are available here, as it names them. `auto` stays: any agent here. */
export function agentsHere(desk: Pick<Desk, 'agents' | 'labels'>, task: FleetTask): string[] {
  const needs = needsOf(task)
  const here = [...desk.agents.keys()].filter((name) => mayWork(name, needs))
  return task.agents.filter((text) => text === 'auto' || here.includes(parseAgent(text).agent.name))
}

/** A rate limit applies to an account, on every worker that uses it. */

import { parseAgent } from '../agents/index.ts'
import type { Loop, Next } from '../engine/loop.ts'
import { agentsOf } from '../engine/roster.ts'
import type { Desk } from './fleet-desk.ts'

type Wait = Extract<Next, { kind: 'wait' }>

/** If another worker has a different account for one of its agents, the task continues there at once. */
export async function pauseAccount({ store, agents, id, queues }: Desk, loop: Loop, next: Wait): Promise<void> {
  const until = next.until
  if (until === undefined) return
  const names = agentsOf(loop.spec).map((text) => parseAgent(text).agent.name)
  const why = loop.tally.trouble ?? 'a rate limit'
  for (const name of names) {
    const account = agents.get(name)
    if (account !== undefined) await store.fleet.accounts.pause({ name: account, paused_until: until, why })
  }
  queues.known = undefined // read again at once
  const paused = new Set((await store.fleet.accounts.list()).map(({ name }) => name))
  const others = (await store.fleet.workers.list()).filter((worker) => worker.id !== id && !worker.draining)
  const isElsewhere = others.some((worker) =>
    names.some((name) => name in worker.agents && !paused.has(worker.agents[name] ?? '')),
  )
  if (isElsewhere) await store.tell(loop.id, 'ralph', { kind: 'resume' })
}

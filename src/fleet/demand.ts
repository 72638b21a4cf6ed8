/** Which workers can serve which needs: workers with the same offer form a pool, tasks with the same needs a demand. */
import { mayWork, type Needs, needsKey, type Offer, serves, sortedNeeds } from './needs.ts'
import type { Held, Lack, LiveWorker, Picture } from './picture.ts'

/** Workers with the same offer. */
export type Pool = {
  /** What it offers, whether or not it takes new tasks now. */
  offer: LiveWorker
  /** The part of the offer open to new tasks: nothing while draining, no agent whose account is paused. */
  now: Offer
  slots: number
  free: number
  /** How many of its free slots each demand has taken in this pass. */
  taken: Map<Demand, number>
}

/** One set of needs, and the pools that can serve it now. */
export type Demand = {
  key: string
  pools: readonly Pool[]
  slots: number
  /** Why there are none. */
  trouble: Held | undefined
  /** Pools before this index have no free slot. */
  first: number
  /** No pool can free a slot for it in this pass. */
  isSlotless: boolean
  /** How many of its tasks are queued without a slot. */
  ahead: number
}

export function poolsOf(picture: Picture): Pool[] {
  const running = new Map<string, number>()
  for (const { state, worker } of picture.busy)
    if (state === 'running' && worker !== undefined) running.set(worker, (running.get(worker) ?? 0) + 1)
  const pools = new Map<string, Pool>()
  for (const worker of picture.workers) {
    const slots = worker.draining ? 0 : worker.concurrency
    const key = offerKey(worker, slots > 0)
    const pool = pools.get(key) ?? newPool(worker, slots > 0, picture)
    pools.set(key, pool)
    pool.slots += slots
    pool.free += Math.max(0, slots - (running.get(worker.id) ?? 0))
  }
  return [...pools.values()]
}

function offerKey({ agents, labels, accounts }: LiveWorker, isOpen: boolean): string {
  const offered = [...agents].sort().map((agent) => [agent, accountOf(accounts, agent)])
  return JSON.stringify([offered, [...labels].sort(), isOpen])
}

function newPool(offer: LiveWorker, isOpen: boolean, { now, pausedUntil }: Picture): Pool {
  const isPaused = (agent: string) => {
    const account = accountOf(offer.accounts, agent)
    return account !== undefined && (pausedUntil.get(account) ?? now) > now
  }
  const agents = isOpen ? offer.agents.filter((agent) => !isPaused(agent)) : []
  return { offer, now: { agents, labels: offer.labels }, slots: 0, free: 0, taken: new Map() }
}

function accountOf(accounts: LiveWorker['accounts'], agent: string): string | undefined {
  return Object.hasOwn(accounts, agent) ? accounts[agent] : undefined
}

/** Looks up the demand for a set of needs. Most tasks list them in the same order, which needs no sorting. */
export function demandsOf(picture: Picture, pools: readonly Pool[]): (needs: Needs) => Demand {
  const asListed = new Map<string, Demand>()
  const all = new Map<string, Demand>()
  return (needs) => {
    const listed = JSON.stringify([needs.agents, needs.labels])
    const known = asListed.get(listed)
    if (known) return known
    const key = needsKey(needs)
    const demand = all.get(key) ?? newDemand(sortedNeeds(needs), picture, pools)
    all.set(key, demand)
    asListed.set(listed, demand)
    return demand
  }
}

function newDemand(needs: Needs, picture: Picture, pools: readonly Pool[]): Demand {
  const serving = pools.filter(({ now }) => serves(now, needs))
  return {
    key: needsKey(needs),
    pools: serving,
    slots: serving.reduce((sum, { slots }) => sum + slots, 0),
    trouble: serving.length > 0 ? undefined : whyNone(needs, picture, pools),
    first: 0,
    isSlotless: false,
    ahead: 0,
  }
}

function whyNone(needs: Needs, { pausedUntil }: Picture, pools: readonly Pool[]): Held {
  const paused = pools.filter(({ offer, slots }) => slots > 0 && serves(offer, needs))
  if (paused.length === 0) return { kind: 'no-worker', lack: lackOf(needs, pools) }
  const accounts = paused.flatMap(({ offer }) =>
    offer.agents.flatMap((agent) => (mayWork(agent, needs) && accountOf(offer.accounts, agent)) || []),
  )
  const until = Math.min(...accounts.map((account) => pausedUntil.get(account) ?? Number.POSITIVE_INFINITY))
  return { kind: 'account-paused', accounts: [...new Set(accounts)].sort(), until }
}

function lackOf(needs: Needs, pools: readonly Pool[]): Lack {
  if (pools.length === 0) return { kind: 'workers' }
  if (pools.some(({ offer }) => serves(offer, needs))) return { kind: 'draining' }
  const labels = needs.labels.filter((label) => !pools.some(({ offer }) => offer.labels.includes(label)))
  if (labels.length > 0) return { kind: 'labels', labels }
  if (!pools.some(({ offer }) => offer.agents.some((agent) => mayWork(agent, needs))))
    return { kind: 'agents', agents: needs.agents }
  return { kind: 'combination' }
}

/** Who can serve which needs: workers that offer the same are one pool, tasks that need the same are one demand. */
import { agentsFor, type Needs, needsKey, serves } from './needs.ts'
import type { Held, Lack, LiveWorker, Picture } from './picture.ts'

/** Workers that offer the same. `taken`: how many of its slots each demand has set aside in this pass. */
export type Pool = { offer: LiveWorker; isOpen: boolean; slots: number; free: number; taken: Map<Demand, number> }

/** One set of needs, and the pools that can serve it now. */
export type Demand = {
  key: string
  pools: readonly Pool[]
  slots: number
  /** Why there are none. */
  trouble: Held | undefined
  /** Pools before this one have no free slot. */
  first: number
  /** There is no slot for one more, whoever moves. */
  hasNoSlot: boolean
  /** How many tasks wait in the queue without a slot, and how many may. */
  ahead: number
  most: number
  isFull: boolean
}

export function poolsOf({ workers, busy }: Picture): Pool[] {
  const running = new Map<string, number>()
  for (const { state, worker } of busy)
    if (state === 'running' && worker !== undefined) running.set(worker, (running.get(worker) ?? 0) + 1)
  const pools = new Map<string, Pool>()
  for (const worker of workers) {
    const isOpen = !worker.draining && worker.concurrency > 0
    const key = offerKey(worker, isOpen)
    const pool = pools.get(key) ?? { offer: worker, isOpen, slots: 0, free: 0, taken: new Map() }
    pools.set(key, pool)
    if (!isOpen) continue
    pool.slots += worker.concurrency
    pool.free += Math.max(0, worker.concurrency - (running.get(worker.id) ?? 0))
  }
  return [...pools.values()]
}

function offerKey({ agents, labels, accounts }: LiveWorker, isOpen: boolean): string {
  const offered = [...agents].sort().map((agent) => [agent, accountOf(accounts, agent)])
  return JSON.stringify([offered, [...labels].sort(), isOpen])
}

function accountOf(accounts: LiveWorker['accounts'], agent: string): string | undefined {
  return Object.hasOwn(accounts, agent) ? accounts[agent] : undefined
}

/** Looks up what is known about a set of needs. Most tasks list them in the same order, which is found without sorting. */
export function demandsOf(picture: Picture, pools: readonly Pool[]): (needs: Needs) => Demand {
  const asListed = new Map<string, Demand>()
  const all = new Map<string, Demand>()
  return (needs) => {
    const listed = JSON.stringify([needs.agents, needs.labels])
    const known = asListed.get(listed)
    if (known) return known
    const key = needsKey(needs)
    const demand = all.get(key) ?? newDemand(key, needs, picture, pools)
    all.set(key, demand)
    asListed.set(listed, demand)
    return demand
  }
}

const MOST_AHEAD = 64

/** Enough that no slot is idle until the next pass, and few enough that fairness is decided late. */
function readAhead(slots: number): number {
  return Math.min(Math.ceil(slots / 4), MOST_AHEAD)
}

function newDemand(key: string, needs: Needs, picture: Picture, pools: readonly Pool[]): Demand {
  const serving = pools.filter(({ offer, isOpen }) => isOpen && serves(offer, needs))
  const isPaused = (account: string | undefined) =>
    account !== undefined && (picture.pausedUntil.get(account) ?? picture.now) > picture.now
  const usable = serving.filter(({ offer }) =>
    agentsFor(offer, needs).some((agent) => !isPaused(accountOf(offer.accounts, agent))),
  )
  const slots = usable.reduce((sum, pool) => sum + pool.slots, 0)
  return {
    key,
    pools: usable,
    slots,
    trouble: slots > 0 ? undefined : whyNone(needs, serving, pools, picture),
    first: 0,
    hasNoSlot: false,
    ahead: 0,
    most: picture.readAhead ?? readAhead(slots),
    isFull: false,
  }
}

function whyNone(needs: Needs, serving: readonly Pool[], pools: readonly Pool[], { pausedUntil }: Picture): Held {
  if (serving.length === 0) return { kind: 'no-worker', lack: lackOf(needs, pools) }
  const accounts = serving.flatMap(({ offer }) =>
    agentsFor(offer, needs).flatMap((agent) => accountOf(offer.accounts, agent) ?? []),
  )
  const until = Math.min(...accounts.map((account) => pausedUntil.get(account) ?? Number.POSITIVE_INFINITY))
  return { kind: 'account-paused', accounts: [...new Set(accounts)].sort(), until }
}

function lackOf(needs: Needs, pools: readonly Pool[]): Lack {
  if (pools.length === 0) return { kind: 'workers' }
  if (pools.some(({ offer }) => serves(offer, needs))) return { kind: 'draining' }
  const labels = needs.labels.filter((label) => !pools.some(({ offer }) => offer.labels.includes(label)))
  if (labels.length > 0) return { kind: 'labels', labels }
  if (!pools.some(({ offer }) => agentsFor(offer, needs).length > 0)) return { kind: 'agents', agents: needs.agents }
  return { kind: 'combination' }
}

/** What a task needs from its worker, which workers have it, and the queue that such tasks wait in. */
import { createHash } from 'node:crypto'

export type Needs = {
  /** Any one of them may work on it. Empty: whichever agent the worker has. */
  agents: readonly string[]
  /** The worker must have all of them. */
  labels: readonly string[]
}

export type Offer = { agents: readonly string[]; labels: readonly string[] }

export function serves(offer: Offer, needs: Needs): boolean {
  return (
    needs.labels.every((label) => offer.labels.includes(label)) && offer.agents.some((agent) => mayWork(agent, needs))
  )
}

export function mayWork(agent: string, { agents }: Needs): boolean {
  return agents.length === 0 || agents.includes(agent)
}

/**
 * The order in which a worker polls its queues: tasks that few workers can run come before tasks that any can, so that
 * the slots are used as the scheduler planned.
 */
export function pickiestFirst(one: Needs, other: Needs): number {
  const choice = ({ agents }: Needs) => agents.length || Number.POSITIVE_INFINITY
  if (one.labels.length !== other.labels.length) return other.labels.length - one.labels.length
  return choice(one) === choice(other) ? 0 : choice(one) - choice(other)
}

/** Equal for equal needs, whatever their order. */
export function sortedNeeds({ agents, labels }: Needs): Needs {
  return { agents: sorted(agents), labels: sorted(labels) }
}

export function needsKey(needs: Needs): string {
  const { agents, labels } = sortedNeeds(needs)
  return JSON.stringify([agents, labels])
}

const READABLE = 50

/** The name of the queue for these needs: a readable part, and a hash that makes it unique. */
export function queueName(needs: Needs): string {
  const [agents, labels] = [sorted(needs.agents).join('.') || 'any', sorted(needs.labels).join('.')]
  // pg-boss allows no other characters in queue names.
  const readable = (labels ? `${agents}/${labels}` : agents).replace(/[^\w.\-/]/g, '_').slice(0, READABLE)
  const hash = createHash('sha256').update(needsKey(needs)).digest('hex').slice(0, 10)
  return `task/${readable}-${hash}`
}

// By code unit: queue names must be the same on machines with different locales.
function sorted(names: readonly string[]): string[] {
  return [...new Set(names)].sort()
}

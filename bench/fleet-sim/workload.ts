/** The workload: four submitters with very different loads, and tasks that depend on each other and share files. */
import type { Needs } from '../../src/fleet/needs.ts'
import type { LiveWorker, Waiting } from '../../src/fleet/picture.ts'
import type { Chance } from './chance.ts'

/** How long the parts of a task take, in milliseconds. */
export type Pace = { setup: number; turn: number; check: number; push: number; merge: number; turns: number }

const SECOND = 1_000
const MINUTE = 60 * SECOND

export const MINUTES: Pace = {
  setup: 8 * SECOND,
  turn: 4 * MINUTE,
  check: 40 * SECOND,
  push: 2 * SECOND,
  merge: 90 * SECOND,
  turns: 3,
}

/** Agents that answer instantly, without git: only the database and the scheduler take time. */
export const AT_ONCE: Pace = { setup: 0, turn: 0, check: 0, push: 0, merge: 0, turns: 1 }

/** About how long a task takes: the mean of a lognormal time is larger than its median. */
export function taskMs({ setup, turn, check, push, turns }: Pace): number {
  return setup + turns * (turn * Math.exp(TURN_SPREAD ** 2 / 2) + check + push)
}

export const TURN_SPREAD = 0.7

/** `load`: the share of all slots that its tasks would keep busy. `batch`: how many arrive together. */
export type Submitter = { name: string; load: number; batch: number }

export const BACKLOG = 'nightly'

export const SUBMITTERS: readonly Submitter[] = [
  { name: 'team', load: 0.2, batch: 20 },
  { name: 'ann', load: 0.05, batch: 1 },
  { name: 'bob', load: 0.01, batch: 3 },
]

const NEEDS: readonly [Needs, ...Needs[]] = [
  { agents: ['claude'], labels: [] },
  { agents: ['claude'], labels: [] },
  { agents: ['claude'], labels: [] },
  { agents: ['claude', 'codex'], labels: [] },
  { agents: [], labels: [] },
  { agents: [], labels: ['linux'] },
  { agents: ['codex'], labels: ['linux'] },
  { agents: ['claude'], labels: ['gpu'] },
]

/** A waiting task; finished dependencies are crossed out, and it is ready when none is left. */
export type SimTask = Omit<Waiting, 'dependsOn'> & {
  dependsOn: string[]
  readyAt: number
  turns: number
  isMerged: boolean
}

const PACKAGES = 40

export function newTask(id: string, submitter: string, now: number, before: readonly string[], world: World): SimTask {
  const { chance, repos, pace } = world
  const isPart = chance.number() < 0.4
  const other = before[chance.below(before.length)]
  return {
    id,
    submitter,
    repo: `repo-${chance.below(repos)}`,
    base: 'main',
    branch: `ralph/${id}`,
    priority: chance.below(3),
    needs: chance.pick(NEEDS),
    touches: isPart ? [`packages/p${chance.below(PACKAGES)}/**`] : [],
    dependsOn: other !== undefined && chance.number() < 0.15 ? [other] : [],
    createdAt: now,
    readyAt: now,
    reserveUsd: 2,
    turns: pace.turns === 1 ? 1 : 1 + chance.below(2 * pace.turns - 1),
    isMerged: pace.merge > 0 && isPart,
  }
}

export type World = { chance: Chance; repos: number; pace: Pace }

/** Every fourth worker also has Codex, every fifth a GPU; two thirds run on Linux. */
export function newWorker(index: number, concurrency: number): LiveWorker {
  return {
    id: `worker-${index}`,
    agents: index % 4 === 0 ? ['claude', 'codex'] : ['claude'],
    labels: [...(index % 3 === 2 ? [] : ['linux']), ...(index % 5 === 0 ? ['gpu'] : [])],
    accounts: { claude: `claude-${index % 8}`, codex: 'codex' },
    concurrency,
    draining: false,
  }
}

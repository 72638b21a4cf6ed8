/** The words of the engine: what a loop is, which facts move it, and what it can ask for next. */
import { deadline } from './limits.ts'
import { freeAgent, nextBack, type Rest } from './roster.ts'

export type Loop = { id: string; spec: Spec; tally: Tally; next: Next }

/** What was asked for, resolved once when the loop is made. */
export type Spec = {
  prompt: string
  /** The text inside `<promise>…</promise>` that claims the whole loop. Empty: there is none. */
  promise: string
  /** Words of their own that claim the whole loop, such as TASK_COMPLETE. */
  signals: string[]
  /** Commands that prove the work; all must pass. */
  checks: string[]
  /** Check after every turn, claim or not. */
  until: boolean
  stages: Stage[]
  limits: Limits
  /** Several agents: the next takes over while one is limited or unusable. Absent: the one of `work`. */
  agents?: string[]
  /** What is left when the loop halts: the best state its checks saw, or the one before it began. Absent: the last one. */
  onHalt?: 'best' | 'restore'
  work: Work
}

/** `needsWork`: nothing but checks that may have passed before speaks for it, so a claim without any change must be made twice. */
export type Stage = { name: string; check?: string; needsWork?: true }

export type Limits = {
  /** 0: no count limit; the breaker stays on. */
  iterations: number
  /** An adaptive limit may grow up to here. Absent: the limit is fixed. */
  ceiling?: number
  minutes?: number
  tokens?: number
  costUsd?: number
  noProgress: number
  sameError: number
}

/** Where the work happens and with whom. For the driver's hands; of it the engine reads only the agent's name. */
export type Work = {
  dir: string
  /** The git folder of the repository it began in. Absent: there was none. */
  gitDir?: string
  /** The linked work tree that `dir` lies in. Absent: the person's own. */
  worktree?: Worktree
  /** Whose loop it is. Absent: a person's. */
  owner?: Owner
  /** Folders with the owner's own files: what changes there is no work. */
  faces?: string[]
  agent: string
  agentArgs: string[]
  model?: string
  /** `bypass`: the agent asks for no permission. `ask`: it works with those its own settings give. */
  permissions: 'bypass' | 'ask'
  /** The agent can write nothing but the work tree and what it keeps about itself. */
  sandbox?: true
  /** `fresh`: every iteration begins anew. `same`: it goes on in the agent's own session. */
  context: 'fresh' | 'same'
  silenceMinutes: number
  checkMinutes: number
}

/** Whose loop it is. What stands here besides the kind is the owner's own, and means nothing to the engine. */
export type Owner = { kind: OwnerKind }
export type OwnerKind = 'person' | 'project' | 'vault' | 'session'

/** `from` is the person's folder, `base` the branch it was on when the loop was made, `commit` where both begin. */
export type Worktree = {
  from: string
  path: string
  branch: string
  commit: string
  base?: string
  /** Files of `from` that are not in git, but that work needs. */
  copied?: string[]
}

/** An agent's own session, and what it has cost by the agent's own count, for agents that count from its beginning. */
export type Session = { id: string; costUsd: number; tokens?: number; agent?: string }

export type Claim = { kind: 'none' | 'weak' | 'clear'; stage?: string }

/** What the agent wants from a person: an answer, a decision only a person can take, or a permission it was denied. */
export type Ask = {
  kind: 'question' | 'person' | 'permission'
  words: string
  /** What an owner asks for itself, in its own word. */
  about?: string
}

/** One go of an agent, as its adapter and the driver saw it. */
export type Turn = {
  end: 'ok' | 'limited' | 'overloaded' | 'unusable' | 'context-full' | 'failed'
  claim: Claim
  /** The final text; for a turn that failed, what the agent or the system said about it. */
  words: string
  ask?: Ask
  /** A fingerprint: equal for the same failure. */
  error?: string
  /** The state of the work tree and HEAD without ralph's own files. Absent: unknown. */
  tree?: string
  /** What this turn changed since the iteration before. Absent: unknown. */
  diff?: Diff
  /** Its work was taken back, so what it claims counts for nothing. */
  refused?: true
  ranTests: boolean
  tokens: number
  costUsd?: number
  /** How often the agent called its model. Absent: unknown. */
  calls?: number
  resetsAt?: number
  session?: Session
  /** What the one who drove it tells of it, where ralph itself did not watch. */
  told?: { action: string; result: string; seconds: number; iteration?: number }
}

export type Diff = { files: number; added: number; removed: number }

/** `broken`: could not be started. `timeout`: did not end in time. */
export type Verdict = {
  check: string
  result: 'pass' | 'fail' | 'broken' | 'timeout'
  failures?: number
  tail: string
}

export type Order =
  /** `rejected`: a person says no to what waited for them. */
  | { kind: 'cancel'; rejected?: true }
  | { kind: 'pause' }
  | { kind: 'resume' }
  | { kind: 'say'; words: string }
  | { kind: 'limits'; limits: Partial<Limits> }
  /** A person has rewritten what is asked for. */
  | { kind: 'edit'; prompt?: string; promise?: string }
  /** Whoever drives it outside of ralph claims that it is done; no turn is counted. */
  | { kind: 'done' }
  /** Whoever drives it outside of ralph gives up for want of time. */
  | { kind: 'out-of-time' }

export type Fact = { at: number } & (
  | { kind: 'turned'; turn: Turn }
  /** `tree`: its state after the checks, so that what they write is not taken for work of the agent. */
  | { kind: 'checked'; verdicts: Verdict[]; findings: string[]; tree?: string }
  /** A wait's time came, or somebody looked at the clock. */
  | { kind: 'woke' }
  /** The files are back at a checkpoint; `trouble`: they could not be put back. */
  | { kind: 'restored'; trouble?: string }
  /** The driver died or was stopped inside `next`: the same iteration goes on as another attempt, and what it cost counts. */
  | { kind: 'lost'; tokens?: number; costUsd?: number }
  /** `id`: the order in the store, so that saving the fact strikes it off. */
  | { kind: 'told'; by: string; order: Order; id?: number }
  // The facts below are written only by who holds the lease.
  /** It is taken up with another spec. What it used up so far does not count against the new limits. */
  | { kind: 'asked'; spec: Spec }
  /** Its folder was moved, and what its owner knows of it has changed with that. */
  | { kind: 'moved'; to: Pick<Work, 'dir' | 'owner' | 'faces'> }
  /** It began outside this record: in an older ralph, or known by its owner's files alone. This is the loop from here on. */
  | { kind: 'adopted'; loop: Omit<Loop, 'id'> }
)

export type Next =
  /** `agent`: which of several takes it. */
  | {
      kind: 'turn'
      iteration: number
      attempt: number
      agent?: string
      fresh: boolean
      feedback: string[]
      /** What people said that this turn is told, in their own words. */
      heard?: string[]
      deadline?: number
    }
  | { kind: 'check'; checks: string[]; because: 'claim' | 'until' | 'last-turn' | 'stalled' }
  /** `about`: what an owner asks for itself, in its own word. */
  | { kind: 'wait'; why: 'limit' | 'overload' | 'person' | 'paused'; until?: number; question?: string; about?: string }
  /** Put the files back to how they were after iteration `to`, then halt. */
  | { kind: 'restore'; to: number; reason: HaltReason; sentence: string; rejected?: true }
  | { kind: 'complete'; proof: 'verified' | 'claimed' }
  /** `rejected`: a person said no to what waited for them. */
  | { kind: 'halt'; reason: HaltReason; sentence: string; rejected?: true }

export type HaltReason =
  | 'max-iterations'
  | 'timeout'
  | 'cost'
  | 'tokens'
  | 'no-progress'
  | 'same-error'
  | 'test-only'
  | 'max-attempts'
  | 'agent-unusable'
  | 'agent-failed'
  | 'cancelled'
  | 'verifier-broken'
  | 'conflict'

/** What the engine remembers. Its size does not grow with the number of iterations. */
export type Tally = {
  startedAt: number
  /** Time spent waiting for a person. It does not count against the time limit. */
  restedMs: number
  restingSince?: number
  /** Iterations that are finished. */
  iteration: number
  /** The attempt at the iteration under way. */
  attempt: number
  tokens: number
  costUsd: number
  /** Iterations an adaptive limit has added. */
  extra: number
  /** What the iteration under way is told; every attempt at it is told the same. */
  feedback: string[]
  /** Of that, what people said, in their own words. */
  heard?: string[]
  /** Words that no turn has been told yet. */
  said: Said[]
  fresh: boolean
  tree?: string
  /** The last words of the agent about its work, cut short. */
  words: string
  /** What was said about the last turn in which it could not work. */
  trouble?: string
  /** The tree before anything happened. */
  startTree?: string
  /** What ralph last noticed about the means of proof. */
  findings: string[]
  /** Whether this loop has changed anything; undefined while nobody could see. */
  changed?: boolean
  claim: Claim
  /** Weak claims in a row. */
  weak: number
  /** Claims that a check refused. */
  falseClaims: number
  ask?: Ask
  /** Turns in a row that ended in a question, or were denied a permission, without progress. */
  asked: number
  denied: number
  stalled: number
  testOnly: number
  crashes: number
  /** Turns in a row that met a rate limit or an overload. */
  faults: number
  error?: string
  repeats: number
  /** Open failures at the last check, and the fewest so far. */
  failures?: number
  best?: number
  /** The iteration whose checks left the fewest open. */
  bestAt?: number
  falling: boolean
  /** Checks that ran out of time the last time. */
  slow: string[]
  session?: Session
  /** Of several agents, those that are limited or unusable. */
  resting?: Readonly<Record<string, Rest>>
  /** Names of the stages passed. */
  passed: string[]
  /** What a pause interrupted. */
  held?: Next
}

/** What somebody wants the next turn to know. */
export type Said = { by: 'person' | 'ralph'; words: string }

/** A new loop that asks for its first turn. `tree` is the state of the work tree before anything happened. */
export function startLoop(id: string, spec: Spec, start: { at: number; tree?: string }): Loop {
  const tally: Tally = {
    startedAt: start.at,
    restedMs: 0,
    iteration: 0,
    attempt: 1,
    tokens: 0,
    costUsd: 0,
    extra: 0,
    feedback: [],
    said: [],
    fresh: true,
    words: '',
    claim: { kind: 'none' },
    weak: 0,
    falseClaims: 0,
    asked: 0,
    denied: 0,
    stalled: 0,
    testOnly: 0,
    crashes: 0,
    faults: 0,
    repeats: 0,
    falling: false,
    slow: [],
    passed: [],
    findings: [],
    ...(start.tree === undefined ? {} : { tree: start.tree, startTree: start.tree, changed: false }),
  }
  return { id, spec, tally, next: turnOf(spec, tally, start.at) }
}

/** Whether it is over. */
export function ended({ next }: Pick<Loop, 'next'>): boolean {
  return next.kind === 'complete' || next.kind === 'halt'
}

/** The words for a loop that is over. */
export const OVER = ['completed', 'halted', 'cancelled'] as const

/** The words for one that is not. */
export const OPEN: readonly Status[] = ['running', 'verifying', 'waiting', 'needs-input', 'paused']

export function isOver(status: string): boolean {
  return OVER.some((word) => word === status)
}

/** The turn a loop in this state asks for. */
export function turnOf(spec: Spec, tally: Tally, at: number): Next {
  const { minutes } = spec.limits
  // Where all rest, a person has asked for a try: the one who would be back first takes it.
  const agent = freeAgent(spec, tally, at) ?? nextBack(spec, tally)?.agent
  return {
    kind: 'turn',
    iteration: tally.iteration + 1,
    attempt: tally.attempt,
    ...(spec.agents && agent !== undefined ? { agent } : {}),
    fresh: tally.fresh,
    feedback: tally.feedback,
    ...(tally.heard ? { heard: tally.heard } : {}),
    ...(minutes === undefined ? {} : { deadline: deadline(minutes, tally) }),
  }
}

export type Status =
  | 'running'
  | 'verifying'
  | 'waiting'
  | 'needs-input'
  | 'paused'
  | 'completed'
  | 'halted'
  | 'cancelled'

/** The one word for where a loop is. */
export function statusOf({ next }: Pick<Loop, 'next'>): Status {
  switch (next.kind) {
    case 'turn':
    case 'restore':
      return 'running'
    case 'check':
      return 'verifying'
    case 'wait':
      return next.why === 'person' ? 'needs-input' : next.why === 'paused' ? 'paused' : 'waiting'
    case 'complete':
      return 'completed'
    case 'halt':
      return next.reason === 'cancelled' ? 'cancelled' : 'halted'
  }
}

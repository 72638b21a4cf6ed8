/** The vocabulary of the engine: what a loop is, which facts move it, and what it can ask for next. */
import type { Trip } from './breaker.ts'
import { deadline } from './limits.ts'
import type { Report } from './report.ts'
import { freeAgent, nextBack, type Rest } from './roster.ts'
import { allChecks } from './stages.ts'

export type Loop = { id: string; spec: Spec; tally: Tally; next: Next }

/** What was asked for, resolved once when the loop is created. */
export type Spec = {
  prompt: string
  /** The text inside `<promise>…</promise>` that claims the whole loop. Empty: there is none. */
  promise: string
  /** Plain words, without a tag, that claim the whole loop, such as TASK_COMPLETE. */
  signals: string[]
  /** Commands that prove the work; all must pass. */
  checks: string[]
  /** Check after every turn, with or without a claim. */
  until: boolean
  stages: Stage[]
  limits: Limits
  /** Several agents: the next takes over while one is rate-limited or unusable. Absent: the one of `work`. */
  agents?: string[]
  /** A single turn: its claim need not be repeated. An answer to its question brings another turn. */
  once?: true
  /**
   * The files left when the loop halts: the state with the fewest failures, or the one before it began. Absent: the
   * last one.
   */
  onHalt?: 'best' | 'restore'
  /** Which experiments run: none, or only those that a changed test calls for. Absent: all. */
  proof?: 'off' | 'seal'
  /** A claim with a weaker proof is refused. */
  require?: Grade
  /** Globs of files that count as means of proof, and of files that the agent is meant to change. */
  protect?: string[]
  mayChange?: string[]
  work: Work
}

export type Stage = { name: string; check?: string }

/** How strong the proof of a completed loop is, best first. */
export type Grade = (typeof GRADES)[number]
export const GRADES = ['verified', 'tested', 'kept', 'altered', 'claimed'] as const

/** The grades that can be required. */
export const REQUIRABLE: readonly Grade[] = ['verified', 'tested', 'kept']

export type Limits = {
  /** 0: no limit on iterations; the breaker stays on. */
  iterations: number
  /** The ceiling of an adaptive limit. Absent: the limit is fixed. */
  ceiling?: number
  minutes?: number
  tokens?: number
  costUsd?: number
  noProgress: number
  sameError: number
  /** How long an open breaker waits before its one retry. Absent or 0: the loop halts at once. */
  cooldownMinutes?: number
  /** How long to wait for an overloaded service before the agent counts as unusable. Absent or 0: forever. */
  overloadMinutes?: number
  /** `stop`: the loop halts at a rate limit if no other agent takes over. Absent: it waits. */
  onLimit?: 'stop'
}

/** Where and with which agent the work happens. For the driver's hands; the engine reads only the agent's name. */
export type Work = {
  dir: string
  /** The git folder of the repository it started in. Absent: none. */
  gitDir?: string
  /** The linked worktree that contains `dir`. Absent: the user's own working tree. */
  worktree?: Worktree
  /** Whose loop it is. Absent: a person's. */
  owner?: Owner
  /** The loop whose work it continues, and after which iteration. */
  parent?: { loop: string; iteration: number }
  /** Folders with the owner's own files: changes there are not work. */
  faces?: string[]
  agent: string
  agentArgs: string[]
  /** Agents that take the iterations in turn, each of which reads what the one before said. */
  chain?: string[][]
  model?: string
  /** The kind of work, in the words of the requester, and its estimated size. */
  type?: string
  size?: Size
  /** Its agent gets tools to report with. */
  mcp?: true
  /** `bypass`: the agent asks for no permission. `ask`: its own settings decide. */
  permissions: 'bypass' | 'ask'
  /**
   * The agent can write only the worktree and its own state. `strict`: the checks also run inside, without a network.
   */
  sandbox?: true | 'strict'
  /** Services of the machine that are reachable from inside. */
  sandboxAllow?: string[]
  /** `fresh`: every iteration starts a new session. `same`: it continues the agent's own session. */
  context: 'fresh' | 'same'
  silenceMinutes: number
  /** How much of the agent's output per turn is kept. Absent: all of it, as in older versions. */
  transcriptMb?: number
  checkMinutes: number
  /** How long the checks may take before any work. 0: they do not run then. Absent: as long as they need. */
  baselineMinutes?: number
  /** How long all experiments of the loop may take. Absent: ten minutes, or twice the duration of the checks. */
  proofMinutes?: number
  /** A command that prepares the place of the experiments. */
  proofSetup?: string
  /** Untracked files of the worktree that experiments need. */
  proofFiles?: string[]
  /** ralph's own configuration at the time of the request: a mark for each existing file. */
  settings?: Record<string, string>
  /** The state whose tests and configuration count as the original ones. Absent: the one before anything happened. */
  proofBase?: string
}

/** The estimated size of a task, before any work. */
export type Size = 'S' | 'M' | 'L' | 'XL'

/** What a loop waits for after its checks were bent twice. */
export const ALLOW = 'allow'

/** Whose loop it is. All fields besides the kind belong to the owner and mean nothing to the engine. */
export type Owner = { kind: OwnerKind }
export type OwnerKind = 'person' | 'project' | 'vault' | 'session' | 'pane' | 'board' | 'fleet'

/** `from` is the user's folder, `base` the branch it was on when the loop was created, `commit` where both start. */
export type Worktree = {
  from: string
  path: string
  branch: string
  commit: string
  base?: string
  /** The address of its repository, if `from` is only a copy of it on this machine. */
  repo?: string
  /** Untracked files of `from` that the work needs. */
  copied?: string[]
  /** A command that prepares it, before any work. */
  setup?: string
}

/** An agent's own session, and its cost so far as the agent counts it, for agents that report session totals. */
export type Session = { id: string; costUsd: number; tokens?: number; usage?: Usage; agent?: string }

/**
 * `form`: how a weak claim was made: `stated` with words after it, `mentioned` in passing, or as a fixed `phrase`.
 * Absent: stated.
 */
export type Claim = { kind: 'none' | 'weak' | 'clear'; form?: 'stated' | 'mentioned' | 'phrase'; stage?: string }

/** What the agent wants from a person: an answer, a decision only a person can make, or a permission it was denied. */
export type Ask = {
  kind: 'question' | 'person' | 'permission'
  words: string
  /** What an owner itself asks for, in its own word. */
  about?: string
}

/** One turn of an agent, as its adapter and the driver saw it. */
export type Turn = {
  end: 'ok' | 'limited' | 'overloaded' | 'unusable' | 'context-full' | 'failed'
  claim: Claim
  /** The final text; for a failed turn, what the agent or the system said about it. */
  words: string
  ask?: Ask
  /** A fingerprint: equal for equal failures. */
  error?: string
  /** The state of the worktree and HEAD, without ralph's own files. Absent: unknown. */
  tree?: string
  /** What this turn changed since the previous iteration. Absent: unknown. */
  diff?: Diff
  /** Its work was undone, so its claim counts for nothing. */
  refused?: true
  ranTests: boolean
  tokens: number
  costUsd?: number
  /** The tokens by kind. Absent: the agent does not report them. */
  usage?: Usage
  /** What it reported through MCP while it worked. */
  reports?: Report[]
  /** How many bytes of its output were not kept. Absent: none. */
  dropped?: number
  /** How often the agent called its model. Absent: unknown. */
  calls?: number
  resetsAt?: number
  /** Its agent is not logged in on the machine that started it. */
  loggedOut?: true
  session?: Session
  /** What its driver reports, if ralph itself did not watch. */
  told?: { action: string; result: string; seconds: number; iteration?: number }
}

/** `cached`: input that the model had read before; not part of `input`. */
export type Usage = { input: number; cached: number; output: number }

export type Diff = { files: number; added: number; removed: number }

/** `broken`: could not be started. `timeout`: did not finish in time. */
export type Verdict = {
  check: string
  result: 'pass' | 'fail' | 'broken' | 'timeout'
  failures?: number
  /** How many tests ran, if the output says so. */
  tests?: number
  tail: string
}

/** What is kept of a verdict. `red`: what made it fail, or only kept it from loading. */
export type Ran = Omit<Verdict, 'tail'> & { red?: 'assertion' | 'load' }

/**
 * What ralph noticed about the means of proof. `mark`: identifies the current content of the path; empty if it no
 * longer exists.
 */
export type Finding = { kind: FindingKind; path: string; words: string; mark?: string }
export type FindingKind =
  | 'tests-changed'
  | 'tests-deleted'
  | 'tests-added'
  | 'tests-skipped'
  | 'means-changed'
  | 'means-deleted'
  | 'means-added'
  /** One of these was changed, deleted or added, as --may-change allows. */
  | 'may-change'
  /** An ignored program that a check runs, such as one in node_modules, has changed. */
  | 'runner-changed'
  /** Tests and work in one file that cannot be separated. */
  | 'not-separable'
  /** It is unknown what happened. */
  | 'unreadable'
  /** It was already like this when the loop began: it differs from the last commit, or an earlier loop left it. */
  | 'inherited'
  | 'fewer-tests'
  | 'flaky'
  /** As an older version stored it. */
  | 'noted'

/**
 * An experiment, named after the files it runs on. `start`: the original files; `sealed`: the current sources with the
 * original means of proof; `reversed`: the original sources with the current means; `control`: the current files, in
 * the same place.
 */
export type Run = 'start' | 'sealed' | 'reversed' | 'control'

/** The outcome of an experiment; `why` it could not run. */
export type Trial = { ran: Ran[]; why?: string }

export type Order =
  /**
   * `rejected`: a person declined what waited for them, and why; `true` if an older version put the reason into `by`.
   */
  | { kind: 'cancel'; rejected?: true | { why?: string } }
  /** `why`: what keeps ralph from continuing, if no person paused it. */
  | { kind: 'pause'; why?: string }
  | { kind: 'resume' }
  /** `comments`: the numbers of the comments that these words contain. */
  | { kind: 'say'; words: string; comments?: number[] }
  | { kind: 'limits'; limits: Partial<Limits> }
  /** New limits, with which a halted loop continues. `since`: when it halted; the time since then does not count. */
  | { kind: 'extend'; limits: Partial<Limits>; since?: number }
  /** A person has changed the request. */
  | { kind: 'edit'; prompt?: string; promise?: string; signals?: string[] }
  /** Its external driver claims that it is done; no turn is counted. */
  | { kind: 'done' }
  /** Its external driver gives up for lack of time. */
  | { kind: 'out-of-time' }
  /** No process has run it since then, and that time does not count. */
  | { kind: 'rested'; since: number }
  /** A person allows changed means of proof. No path: all that were named. */
  | { kind: 'allow'; paths: string[] }
  /** The store holds something that is not a known order; it moves nothing. */
  | { kind: 'dropped'; why: string }

export type Fact = { at: number } & (
  | { kind: 'turned'; turn: Turn }
  /**
   * `marks`: what is known of the means of proof on disk, before any work. `tree`: the state after the checks, so that
   * what they write is not taken for the agent's work.
   */
  | { kind: 'checked'; verdicts: Verdict[]; findings: Finding[]; tree?: string; ms?: number; marks?: string }
  /** An experiment ran, or could not run. */
  | ({ kind: 'proved'; run: Run; ms?: number } & Trial)
  /** A wait ended, or somebody looked at the clock. */
  | { kind: 'woke' }
  /** The files are back at a checkpoint; `trouble`: they could not be restored. */
  | { kind: 'restored'; trouble?: string }
  /**
   * The driver died or was stopped inside `next`: the same iteration continues as another attempt, and its cost counts.
   */
  | { kind: 'lost'; tokens?: number; costUsd?: number }
  /** `id`: the order in the store, so that saving the fact removes it. */
  | { kind: 'told'; by: string; order: Order; id?: number }
  // Only the holder of the lease writes the facts below.
  /** It resumes with another spec. What it has used so far does not count against the new limits. */
  | { kind: 'asked'; spec: Spec }
  /**
   * Its folder was moved, and what its owner knows of it changed accordingly. With a worktree: another machine
   * continues it.
   */
  | { kind: 'moved'; to: Pick<Work, 'dir' | 'gitDir' | 'worktree' | 'owner' | 'faces'> }
  /**
   * It started outside this record: in an older version, or known only from its owner's files. This is the loop from
   * here on.
   */
  | { kind: 'adopted'; loop: Omit<Loop, 'id'> }
)

export type Next =
  /** `agent`: which of several takes the turn. */
  | {
      kind: 'turn'
      iteration: number
      attempt: number
      agent?: string
      fresh: boolean
      feedback: string[]
      /** What people said, in their own words, for this turn to read. */
      heard?: string[]
      /** The numbers of the comments that it contains. */
      comments?: number[]
      deadline?: number
    }
  /** `start`: before any work. `flaky`: they failed before on the same files. */
  | { kind: 'check'; checks: string[]; because: 'start' | 'claim' | 'until' | 'last-turn' | 'stalled' | 'flaky' }
  /** An experiment. `allowed`: changed means that a person allowed. `ms`: how long it may take. */
  | { kind: 'prove'; run: Run; checks: string[]; allowed: string[]; ms: number }
  /**
   * `about`: what an owner itself asks for, in its own word. `queued`: nothing has happened yet; it starts when there
   * is room.
   */
  | {
      kind: 'wait'
      why: 'limit' | 'overload' | 'person' | 'paused' | 'queued'
      until?: number
      question?: string
      about?: string
    }
  /** The breaker opened at `since`. `stop`: what the loop halts with, unless its one retry helps. */
  | { kind: 'wait'; why: 'cooldown'; since: number; until: number; stop: Trip; question?: never; about?: never }
  /** Restore the files to their state after iteration `to`, then halt. */
  | { kind: 'restore'; to: number; reason: HaltReason; sentence: string; rejected?: true }
  /** `sentence`: why it has this grade. `older`: judged by the rules of an older version. */
  | { kind: 'complete'; proof: Grade; sentence: string; older?: true }
  /** `rejected`: a person declined what waited for them. */
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
  | 'unproven'

/** What the engine remembers. Its size does not grow with the number of iterations. */
export type Tally = {
  startedAt: number
  /** Time spent waiting for a person. It does not count against the time limit. */
  restedMs: number
  restingSince?: number
  /** Iterations that are finished. */
  iteration: number
  /** The attempt at the current iteration. */
  attempt: number
  tokens: number
  costUsd: number
  /** Iterations an adaptive limit has added. */
  extra: number
  /** What the current iteration reads; the same for every attempt at it. */
  feedback: string[]
  /** The part of it that people said, in their own words. */
  heard?: string[]
  comments?: number[]
  /** Messages that no turn has received yet. */
  said: Said[]
  fresh: boolean
  tree?: string
  /** The agent's last words about its work, truncated. */
  words: string
  /** What was said about the last turn in which it could not work. */
  trouble?: string
  /** The tree before anything happened. */
  startTree?: string
  /** What ralph last noticed about the means of proof. */
  findings: Finding[]
  /** What the checks said before any work, as far as known, and what they said last. */
  before?: Ran[]
  after?: Ran[]
  /** A hash of what is recorded about the means of proof on disk before any work. */
  marks?: string
  /** How long the last round of checks took, and all experiments so far. */
  checkMs?: number
  proofMs?: number
  /** The checks that failed last, and on which tree. */
  failed?: { tree: string; checks: string[] }
  /** Checks that failed and passed on the same files. */
  flaky?: string[]
  /** Experiments on the tree of the last checks. */
  trials?: { tree: string } & Partial<Record<Run, Trial>>
  /** Claims refused because the checks were bent, and because the proof was too weak. */
  bent?: number
  unproven?: number
  /** The agent was asked whether the changed tests are needed. */
  questioned?: true
  /** Changed means of proof that a person allowed, as they were then. */
  allowed?: { path: string; by: string; mark?: string }[]
  /** Whether this loop has changed anything; undefined while unknown. */
  changed?: boolean
  claim: Claim
  /** Weak claims in a row. */
  weak: number
  /** Claims that a check refuted. */
  falseClaims: number
  ask?: Ask
  /** Turns in a row that ended in a question, or were denied a permission, without progress. */
  asked: number
  denied: number
  stalled: number
  testOnly: number
  crashes: number
  /**
   * The one retry after a cooldown: what opened the breaker, the iterations before it, and whether it made any
   * progress.
   */
  retry?: { stop: Trip; since: number; moved?: true }
  /** Turns in a row that hit a rate limit or an overload. */
  faults: number
  /** When an unbroken series of overloads started. */
  overloadedSince?: number
  error?: string
  repeats: number
  /** Open failures at the last check, and the fewest so far. */
  failures?: number
  best?: number
  /** The iteration whose checks left the fewest failures. */
  bestAt?: number
  falling: boolean
  /** Checks that timed out the last time. */
  slow: string[]
  session?: Session
  /** Which of several agents are rate-limited or unusable. */
  resting?: Readonly<Record<string, Rest>>
  /** Names of the passed stages. */
  passed: string[]
  /** What a pause interrupted. */
  held?: Next
}

/** What somebody wants the next turn to know. */
export type Said = { by: 'person' | 'ralph'; words: string; comments?: number[] }

/**
 * A new loop that asks for its first turn, or for its checks before that. `tree`: the state of the worktree before
 * anything happened. `queued`: it waits until there is room.
 */
export function startLoop(id: string, spec: Spec, start: { at: number; tree?: string; queued?: true }): Loop {
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
  const next: Next = start.queued ? { kind: 'wait', why: 'queued' } : firstNext(spec, tally, start.at)
  return { id, spec, tally, next }
}

/** What a loop asks for before anything else. */
function firstNext(spec: Spec, tally: Tally, at: number): Next {
  const checks = allChecks(spec)
  const isChecked = checks.length > 0 && spec.work.baselineMinutes !== 0
  return isChecked ? { kind: 'check', checks, because: 'start' } : turnOf(spec, tally, at)
}

/** Whether it has ended. */
export function ended({ next }: Pick<Loop, 'next'>): boolean {
  return next.kind === 'complete' || next.kind === 'halt'
}

/** The statuses of an ended loop. */
export const OVER = ['completed', 'halted', 'cancelled'] as const

/** The statuses of one that has not ended. */
export const OPEN: readonly Status[] = ['queued', 'running', 'verifying', 'waiting', 'needs-input', 'paused']

export function isOver(status: string): boolean {
  return OVER.some((word) => word === status)
}

/** The turn that a loop in this state asks for. */
export function turnOf(spec: Spec, tally: Tally, at: number): Next {
  const { minutes } = spec.limits
  // If none is available, a person asked for a try: the first to be back takes it.
  const agent = freeAgent(spec, tally, at) ?? nextBack(spec, tally)?.agent
  return {
    kind: 'turn',
    iteration: tally.iteration + 1,
    attempt: tally.attempt,
    ...(spec.agents && agent !== undefined ? { agent } : {}),
    fresh: tally.fresh,
    feedback: tally.feedback,
    ...(tally.heard ? { heard: tally.heard } : {}),
    ...(tally.comments ? { comments: tally.comments } : {}),
    ...(minutes === undefined ? {} : { deadline: deadline(minutes, tally) }),
  }
}

export type Status =
  | 'queued'
  | 'running'
  | 'verifying'
  | 'waiting'
  | 'needs-input'
  | 'paused'
  | 'completed'
  | 'halted'
  | 'cancelled'

/** The status of a loop in one word. */
export function statusOf({ next }: Pick<Loop, 'next'>): Status {
  switch (next.kind) {
    case 'turn':
    case 'restore':
      return 'running'
    case 'check':
    case 'prove':
      return 'verifying'
    case 'wait':
      if (next.why === 'person') return 'needs-input'
      return next.why === 'paused' || next.why === 'queued' ? next.why : 'waiting'
    case 'complete':
      return 'completed'
    case 'halt':
      return next.reason === 'cancelled' ? 'cancelled' : 'halted'
  }
}

/** The iteration whose state a halting loop leaves behind. Undefined: the last one, unchanged. */
export function leftAt({ spec, tally }: Loop): number | undefined {
  if (tally.changed !== true) return undefined
  return spec.onHalt === 'restore' ? 0 : spec.onHalt === 'best' ? tally.bestAt : undefined
}

/** The words of the engine: what a loop is, which facts move it, and what it can ask for next. */
import type { Trip } from './breaker.ts'
import { deadline } from './limits.ts'
import type { Report } from './report.ts'
import { freeAgent, nextBack, type Rest } from './roster.ts'
import { allChecks } from './stages.ts'

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
  /** One turn is all there is to it: what it claims is not asked twice. An answer to its question brings another. */
  once?: true
  /** What is left when the loop halts: the best state its checks saw, or the one before it began. Absent: the last one. */
  onHalt?: 'best' | 'restore'
  /** Which experiments are run: none, or only those that a changed test calls for. Absent: all. */
  proof?: 'off' | 'seal'
  /** A claim with a weaker proof is refused. */
  require?: Grade
  /** Globs of files that count as means of proof, and of some that the agent is meant to change. */
  protect?: string[]
  mayChange?: string[]
  work: Work
}

export type Stage = { name: string; check?: string }

/** How strong the proof of a completed loop is, best first. */
export type Grade = (typeof GRADES)[number]
export const GRADES = ['verified', 'tested', 'kept', 'altered', 'claimed'] as const

/** The grades that somebody may ask for. */
export const REQUIRABLE: readonly Grade[] = ['verified', 'tested', 'kept']

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
  /** How long an open breaker waits before its one retry. Absent or 0: the loop halts at once. */
  cooldownMinutes?: number
  /** How long an overload is waited for before the agent counts as unusable. Absent or 0: without end. */
  overloadMinutes?: number
  /** `stop`: the loop halts at a rate limit that no other agent stands in for. Absent: it waits. */
  onLimit?: 'stop'
}

/** Where the work happens and with whom. For the driver's hands; of it the engine reads only the agent's name. */
export type Work = {
  dir: string
  /** The git folder of the repository it began in. Absent: there was none. */
  gitDir?: string
  /** The linked worktree that `dir` lies in. Absent: the person's own. */
  worktree?: Worktree
  /** Whose loop it is. Absent: a person's. */
  owner?: Owner
  /** The loop whose work it goes on with, and after which iteration. */
  parent?: { loop: string; iteration: number }
  /** Folders with the owner's own files: what changes there is no work. */
  faces?: string[]
  agent: string
  agentArgs: string[]
  /** Arguments of agents that take the iterations in turn, each told what the one before said. */
  chain?: string[][]
  model?: string
  /** What kind of work it is, in the words of whoever asked for it, and how large it seemed. */
  type?: string
  size?: Size
  /** Its agent gets tools to report with. */
  mcp?: true
  /** `bypass`: the agent asks for no permission. `ask`: it works with those its own settings give. */
  permissions: 'bypass' | 'ask'
  /** The agent can write nothing but the worktree and what it keeps about itself. `strict`: the checks run inside, too, without a network. */
  sandbox?: true | 'strict'
  /** Services of the machine that can be reached from inside. */
  sandboxAllow?: string[]
  /** `fresh`: every iteration begins anew. `same`: it goes on in the agent's own session. */
  context: 'fresh' | 'same'
  silenceMinutes: number
  /** How much of what the agent prints in a turn is kept. Absent: all of it, as an older ralph did. */
  transcriptMb?: number
  checkMinutes: number
  /** How long the checks may take before any work. 0: they are not run then. Absent: as long as they need. */
  baselineMinutes?: number
  /** How long all experiments of the loop may take. Absent: ten minutes, or twice what the checks take. */
  proofMinutes?: number
  /** A command that prepares the place of the experiments. */
  proofSetup?: string
  /** Files of the worktree that are not in git, but that experiments need. */
  proofFiles?: string[]
  /** ralph's own configuration when it was asked for: a mark for each file that there was. */
  settings?: Record<string, string>
  /** The state whose tests and configuration count as those of the start. Absent: the one before anything happened. */
  proofBase?: string
}

/** How large a task seems, before any work. */
export type Size = 'S' | 'M' | 'L' | 'XL'

/** What a loop waits for whose checks were bent twice. */
export const ALLOW = 'allow'

/** Whose loop it is. What stands here besides the kind is the owner's own, and means nothing to the engine. */
export type Owner = { kind: OwnerKind }
export type OwnerKind = 'person' | 'project' | 'vault' | 'session' | 'pane' | 'board' | 'fleet'

/** `from` is the person's folder, `base` the branch it was on when the loop was made, `commit` where both begin. */
export type Worktree = {
  from: string
  path: string
  branch: string
  commit: string
  base?: string
  /** The address of its repository, where `from` is only a copy of it on this machine. */
  repo?: string
  /** Files of `from` that are not in git, but that work needs. */
  copied?: string[]
  /** A command that prepares it, before any work. */
  setup?: string
}

/** An agent's own session, and what it has cost by the agent's own count, for agents that count from its beginning. */
export type Session = { id: string; costUsd: number; tokens?: number; usage?: Usage; agent?: string }

/** `form` says how a weak one was made: `stated` with words behind it, `mentioned` in passing, or as a fixed `phrase`. Absent: stated. */
export type Claim = { kind: 'none' | 'weak' | 'clear'; form?: 'stated' | 'mentioned' | 'phrase'; stage?: string }

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
  /** The state of the worktree and HEAD without ralph's own files. Absent: unknown. */
  tree?: string
  /** What this turn changed since the iteration before. Absent: unknown. */
  diff?: Diff
  /** Its work was taken back, so what it claims counts for nothing. */
  refused?: true
  ranTests: boolean
  tokens: number
  costUsd?: number
  /** The tokens by kind. Absent: the agent does not tell. */
  usage?: Usage
  /** What it reported through MCP while it worked. */
  reports?: Report[]
  /** How many bytes of what it printed were not kept. Absent: none. */
  dropped?: number
  /** How often the agent called its model. Absent: unknown. */
  calls?: number
  resetsAt?: number
  /** Its agent is not logged in on the machine that it was started on. */
  loggedOut?: true
  session?: Session
  /** What the one who drove it tells of it, where ralph itself did not watch. */
  told?: { action: string; result: string; seconds: number; iteration?: number }
}

/** `cached`: of what was read, what the model had read before; it is not in `input`. */
export type Usage = { input: number; cached: number; output: number }

export type Diff = { files: number; added: number; removed: number }

/** `broken`: could not be started. `timeout`: did not end in time. */
export type Verdict = {
  check: string
  result: 'pass' | 'fail' | 'broken' | 'timeout'
  failures?: number
  /** How many tests ran, where the output tells. */
  tests?: number
  tail: string
}

/** What stays known of a verdict. `red`: what made it fail, or only kept it from being loaded. */
export type Ran = Omit<Verdict, 'tail'> & { red?: 'assertion' | 'load' }

/** What ralph noticed about the means of proof. `mark`: of what the path holds now, empty where it is gone. */
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
  /** An ignored program that a check runs, such as one in node_modules, is another one now. */
  | 'runner-changed'
  /** Tests and work in one file that cannot be taken apart. */
  | 'not-separable'
  /** What happened cannot be told. */
  | 'unreadable'
  /** It was so when the loop began: it differs from the last commit, or an earlier loop left it. */
  | 'inherited'
  | 'fewer-tests'
  | 'flaky'
  /** In the words of an older ralph. */
  | 'noted'

/**
 * An experiment, by the files it is run on. `start`: as they were; `sealed`: the present sources with the means of proof as
 * they were; `reversed`: the sources as they were with the present means; `control`: as they are, in the same place.
 */
export type Run = 'start' | 'sealed' | 'reversed' | 'control'

/** What came of an experiment; `why` it could not be tried. */
export type Trial = { ran: Ran[]; why?: string }

export type Order =
  /** `rejected`: a person says no to what waited for them, and why; `true` where an older version put that into `by`. */
  | { kind: 'cancel'; rejected?: true | { why?: string } }
  /** `why`: what keeps ralph from going on, where no person paused it. */
  | { kind: 'pause'; why?: string }
  | { kind: 'resume' }
  /** `comments`: the numbers of those that these words tell. */
  | { kind: 'say'; words: string; comments?: number[] }
  | { kind: 'limits'; limits: Partial<Limits> }
  /** Other limits, with which a loop goes on that halted on one. `since`: when it did; that time does not count. */
  | { kind: 'extend'; limits: Partial<Limits>; since?: number }
  /** A person has rewritten what is asked for. */
  | { kind: 'edit'; prompt?: string; promise?: string; signals?: string[] }
  /** Whoever drives it outside of ralph claims that it is done; no turn is counted. */
  | { kind: 'done' }
  /** Whoever drives it outside of ralph gives up for want of time. */
  | { kind: 'out-of-time' }
  /** Nobody has driven it since then, and that time does not count. */
  | { kind: 'rested'; since: number }
  /** A person lets changed means of proof stand. No path: all that were named. */
  | { kind: 'allow'; paths: string[] }
  /** What was left in the store is no order that ralph knows, and moves nothing. */
  | { kind: 'dropped'; why: string }

export type Fact = { at: number } & (
  | { kind: 'turned'; turn: Turn }
  /** `marks`: what is known of the means of proof on the disk, before any work. `tree`: its state after the checks, so that what they write is not taken for work of the agent. */
  | { kind: 'checked'; verdicts: Verdict[]; findings: Finding[]; tree?: string; ms?: number; marks?: string }
  /** An experiment was run, or could not be. */
  | ({ kind: 'proved'; run: Run; ms?: number } & Trial)
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
  /** Its folder was moved, and what its owner knows of it has changed with that. With a worktree: another machine goes on with it. */
  | { kind: 'moved'; to: Pick<Work, 'dir' | 'gitDir' | 'worktree' | 'owner' | 'faces'> }
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
      /** The numbers of comments that it is told. */
      comments?: number[]
      deadline?: number
    }
  /** `start`: before any work. `flaky`: they failed on the very same files before. */
  | { kind: 'check'; checks: string[]; because: 'start' | 'claim' | 'until' | 'last-turn' | 'stalled' | 'flaky' }
  /** An experiment. `allowed`: changed means that a person lets stand. `ms`: how long it may take. */
  | { kind: 'prove'; run: Run; checks: string[]; allowed: string[]; ms: number }
  /** `about`: what an owner asks for itself, in its own word. `queued`: nothing has happened yet; it begins when there is room. */
  | {
      kind: 'wait'
      why: 'limit' | 'overload' | 'person' | 'paused' | 'queued'
      until?: number
      question?: string
      about?: string
    }
  /** The breaker has opened at `since`. `stop`: what the loop halts with, unless its one retry helps. */
  | { kind: 'wait'; why: 'cooldown'; since: number; until: number; stop: Trip; question?: never; about?: never }
  /** Put the files back to how they were after iteration `to`, then halt. */
  | { kind: 'restore'; to: number; reason: HaltReason; sentence: string; rejected?: true }
  /** `sentence`: why it has this grade. `older`: it was judged by the rules of an older ralph. */
  | { kind: 'complete'; proof: Grade; sentence: string; older?: true }
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
  | 'unproven'

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
  comments?: number[]
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
  findings: Finding[]
  /** What the checks said before any work, as far as it is known, and what they said last. */
  before?: Ran[]
  after?: Ran[]
  /** A hash of what is kept about the means of proof as they lay on the disk before any work. */
  marks?: string
  /** How long the last round of checks took, and all experiments so far. */
  checkMs?: number
  proofMs?: number
  /** The checks that failed last, and on which tree. */
  failed?: { tree: string; checks: string[] }
  /** Checks that failed and passed on the very same files. */
  flaky?: string[]
  /** Experiments on the tree that the last checks saw. */
  trials?: { tree: string } & Partial<Record<Run, Trial>>
  /** Claims that were refused because the checks were bent, and because the proof was too weak. */
  bent?: number
  unproven?: number
  /** The agent was asked whether the changed tests are needed. */
  questioned?: true
  /** Changed means of proof that a person lets stand, as they were then. */
  allowed?: { path: string; by: string; mark?: string }[]
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
  /** The one retry after a cooldown: what opened the breaker, the iterations before it, and whether anything has moved in it. */
  retry?: { stop: Trip; since: number; moved?: true }
  /** Turns in a row that met a rate limit or an overload. */
  faults: number
  /** Since then there was nothing but overloads. */
  overloadedSince?: number
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
export type Said = { by: 'person' | 'ralph'; words: string; comments?: number[] }

/**
 * A new loop that asks for its first turn, or for its checks before that. `tree` is the state of the worktree before anything
 * happened. `queued`: it waits until there is room for it.
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

/** Whether it is over. */
export function ended({ next }: Pick<Loop, 'next'>): boolean {
  return next.kind === 'complete' || next.kind === 'halt'
}

/** The words for a loop that is over. */
export const OVER = ['completed', 'halted', 'cancelled'] as const

/** The words for one that is not. */
export const OPEN: readonly Status[] = ['queued', 'running', 'verifying', 'waiting', 'needs-input', 'paused']

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

/** The one word for where a loop is. */
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

/** Reads stored loops back: somebody else may have written them, or a disk may have damaged them. */
import type { Trip } from './breaker.ts'
import {
  type Claim,
  type Fact,
  type Finding,
  GRADES,
  type Limits,
  type Loop,
  type Next,
  type Order,
  type Ran,
  type Run,
  type Session,
  type Spec,
  type Stage,
  type Tally,
  type Turn,
  type Verdict,
  type Work,
  type Worktree,
} from './loop.ts'
import type { Report } from './report.ts'
import type { Rest } from './roster.ts'
import {
  amount,
  either,
  type Fields,
  flag,
  type Kinds,
  kinds,
  listOf,
  maybe,
  namesTo,
  object,
  oneOf,
  positive,
  type Shape,
  text,
  yes,
} from './shape.ts'

/** An order from the store. One that does not match its kind exactly is dropped, with the reason. */
export function readOrder(json: string): Order {
  try {
    const order: unknown = JSON.parse(json)
    const why = ORDER(order, '', true)
    return why ? { kind: 'dropped', why } : (order as Order) // the shape has just checked this
  } catch {
    return { kind: 'dropped', why: 'it is not JSON' }
  }
}

/**
 * What is wrong with a stored fact; empty: nothing. Facts that only the holder of a lease writes must not have unknown
 * fields: they change what counts as done. An invalid order moves nothing, so it does not make its fact invalid.
 */
export function faultOfFact(fact: unknown): string {
  const loose = FACT(fact, '', false)
  if (loose) return loose
  const { kind } = fact as Fact // the shape has just checked this
  return kind === 'asked' || kind === 'moved' || kind === 'adopted' ? FACT(fact, '', true) : ''
}

/** A stored fact. An unreadable order is kept only as dropped. */
export function readFact(fact: Fact): Fact {
  return fact.kind === 'told' ? { ...fact, order: readOrder(JSON.stringify(fact.order)) } : fact
}

/** What is wrong with a stored loop; empty: nothing. Extra fields from older versions are accepted. */
export function faultOfLoop({ spec, tally, next }: Omit<Loop, 'id'>): string {
  return SPEC(spec, 'spec', false) || TALLY(tally, 'tally', false) || NEXT(next, 'next', false)
}

/** What is wrong with parts of a stored fact. */
export function faultOfClaim(claim: unknown): string {
  return CLAIM(claim, 'claim', false)
}

export function faultOfAsk(ask: unknown): string {
  return ASK(ask, 'ask', false)
}

export function faultOfReports(reports: unknown): string {
  return listOf(REPORT)(reports, 'reports', false)
}

export function faultOfFindings(findings: unknown): string {
  return FINDINGS(findings, 'findings', false)
}

/** What is wrong with the first line of a transcript. */
export function faultOfBeginning({ spec, at }: { spec: unknown; at: unknown }): string {
  return SPEC(spec, 'spec', false) || amount(at, 'at', false)
}

/** What is wrong with what a loop asks for next. */
export function faultOfNext(next: unknown): string {
  return NEXT(next, 'next', false)
}

const texts = listOf(text)
const amounts = listOf(amount)

const LIMITS: Fields<Limits> = {
  iterations: positive,
  ceiling: maybe(positive),
  minutes: maybe(positive),
  tokens: maybe(positive),
  costUsd: maybe(positive),
  noProgress: positive,
  sameError: positive,
  cooldownMinutes: maybe(positive),
  overloadMinutes: maybe(positive),
  onLimit: maybe(oneOf('stop')),
}

const someLimits = object<Partial<Limits>>({
  ...LIMITS,
  iterations: maybe(positive),
  noProgress: maybe(positive),
  sameError: maybe(positive),
})

const ORDER = kinds<Order>({
  cancel: { rejected: maybe(either(yes, object<{ why?: string }>({ why: maybe(text) }))) },
  pause: { why: maybe(text) },
  resume: {},
  say: { words: text, comments: maybe(listOf(positive)) },
  limits: { limits: someLimits },
  extend: { limits: someLimits, since: maybe(positive) },
  edit: { prompt: maybe(text), promise: maybe(text), signals: maybe(texts) },
  done: {},
  'out-of-time': {},
  rested: { since: positive },
  allow: { paths: texts },
  dropped: { why: text },
})

/** An owner's other fields are its own. */
const OWNER: Shape = (value, at) =>
  object<{ kind: string }>({ kind: oneOf('person', 'project', 'vault', 'session', 'pane', 'board', 'fleet') })(
    value,
    at,
    false,
  )

const WORKTREE = object<Worktree>({
  from: text,
  path: text,
  branch: text,
  commit: text,
  base: maybe(text),
  repo: maybe(text),
  copied: maybe(texts),
  setup: maybe(text),
})

const WORK = object<Work>({
  dir: text,
  gitDir: maybe(text),
  worktree: maybe(WORKTREE),
  owner: maybe(OWNER),
  parent: maybe(object<NonNullable<Work['parent']>>({ loop: text, iteration: amount })),
  faces: maybe(texts),
  agent: text,
  agentArgs: texts,
  chain: maybe(listOf(texts)),
  model: maybe(text),
  type: maybe(text),
  size: maybe(oneOf('S', 'M', 'L', 'XL')),
  mcp: maybe(yes),
  permissions: oneOf('bypass', 'ask'),
  sandbox: maybe(oneOf(true, 'strict')),
  sandboxAllow: maybe(texts),
  transcriptMb: maybe(amount),
  context: oneOf('fresh', 'same'),
  silenceMinutes: amount,
  checkMinutes: amount,
  baselineMinutes: maybe(amount),
  proofMinutes: maybe(amount),
  proofSetup: maybe(text),
  proofFiles: maybe(texts),
  proofBase: maybe(text),
  settings: maybe(namesTo(text)),
})

const SPEC = object<Spec>({
  prompt: text,
  promise: text,
  signals: texts,
  checks: texts,
  until: flag,
  stages: listOf(object<Stage>({ name: text, check: maybe(text) })),
  limits: object<Limits>(LIMITS),
  agents: maybe(texts),
  once: maybe(yes),
  onHalt: maybe(oneOf('best', 'restore')),
  proof: maybe(oneOf('off', 'seal')),
  require: maybe(oneOf(...GRADES)),
  protect: maybe(texts),
  mayChange: maybe(texts),
  work: WORK,
})

const CLAIM = object<Claim>({
  kind: oneOf('none', 'weak', 'clear'),
  form: maybe(oneOf('stated', 'mentioned', 'phrase')),
  stage: maybe(text),
})
const ASK = object<NonNullable<Turn['ask']>>({
  kind: oneOf('question', 'person', 'permission'),
  words: text,
  about: maybe(text),
})
const USAGE = object<NonNullable<Turn['usage']>>({ input: amount, cached: amount, output: amount })
const SESSION = object<Session>({
  id: text,
  costUsd: amount,
  tokens: maybe(amount),
  usage: maybe(USAGE),
  agent: maybe(text),
})
const REPORT = kinds<Report>({
  stage: { at: amount, stage: maybe(text), evidence: text },
  blocked: { at: amount, reason: text },
  question: { at: amount, question: text },
})
const TURN = object<Turn>({
  end: oneOf('ok', 'limited', 'overloaded', 'unusable', 'context-full', 'failed'),
  claim: CLAIM,
  words: text,
  ask: maybe(ASK),
  error: maybe(text),
  tree: maybe(text),
  diff: maybe(object<NonNullable<Turn['diff']>>({ files: amount, added: amount, removed: amount })),
  refused: maybe(yes),
  ranTests: flag,
  dropped: maybe(amount),
  loggedOut: maybe(yes),
  tokens: amount,
  costUsd: maybe(amount),
  usage: maybe(USAGE),
  reports: maybe(listOf(REPORT)),
  calls: maybe(amount),
  resetsAt: maybe(amount),
  session: maybe(SESSION),
  told: maybe(
    object<NonNullable<Turn['told']>>({ action: text, result: text, seconds: amount, iteration: maybe(amount) }),
  ),
})

const RAN_FIELDS: Omit<Fields<Ran>, 'red'> = {
  check: text,
  result: oneOf('pass', 'fail', 'broken', 'timeout'),
  failures: maybe(amount),
  tests: maybe(amount),
}
const VERDICT = object<Verdict>({ ...RAN_FIELDS, tail: text })
const RANS = listOf(object<Ran>({ ...RAN_FIELDS, red: maybe(oneOf('assertion', 'load')) }))
const RUN = oneOf('start', 'sealed', 'reversed', 'control')
const TRIAL = object<{ ran: Ran[]; why?: string }>({ ran: RANS, why: maybe(text) })

// Findings were once sentences; engine/upgrade.ts converts them.
const FINDINGS = listOf(either(text, object<Finding>({ kind: text, path: text, words: text, mark: maybe(text) })))

const TRIP = object<Trip>({ reason: oneOf('agent-failed', 'same-error', 'test-only', 'no-progress'), sentence: text })
const REASON = oneOf(
  ...['max-iterations', 'timeout', 'cost', 'tokens', 'no-progress', 'same-error', 'test-only', 'max-attempts'],
  ...['agent-unusable', 'agent-failed', 'cancelled', 'verifier-broken', 'conflict', 'unproven'],
)

type Waiting = Extract<Next, { kind: 'wait' }>
const COOLDOWN = object<Omit<Extract<Waiting, { why: 'cooldown' }>, 'question' | 'about'>>({
  kind: text,
  why: text,
  since: amount,
  until: amount,
  stop: TRIP,
})
const WAITING = object<Exclude<Waiting, { why: 'cooldown' }>>({
  kind: text,
  why: oneOf('limit', 'overload', 'person', 'paused', 'queued'),
  until: maybe(amount),
  question: maybe(text),
  about: maybe(text),
})

const OTHER_NEXT = kinds<Exclude<Next, { kind: 'wait' }>>({
  turn: {
    iteration: amount,
    attempt: amount,
    agent: maybe(text),
    fresh: flag,
    feedback: texts,
    heard: maybe(texts),
    comments: maybe(amounts),
    deadline: maybe(amount),
  },
  check: { checks: texts, because: oneOf('start', 'claim', 'until', 'last-turn', 'stalled', 'flaky') },
  prove: { run: RUN, checks: texts, allowed: texts, ms: amount },
  restore: { to: amount, reason: REASON, sentence: text, rejected: maybe(yes) },
  // The first version stored no sentence.
  complete: { proof: oneOf(...GRADES), sentence: maybe(text), older: maybe(yes) } as never,
  halt: { reason: REASON, sentence: text, rejected: maybe(yes) },
})

function NEXT(value: unknown, at: string, strict: boolean): string {
  const { kind, why } = (value ?? {}) as Partial<Waiting> // read before its shape is known
  return (kind !== 'wait' ? OTHER_NEXT : why === 'cooldown' ? COOLDOWN : WAITING)(value, at, strict)
}

const TALLY = object<Tally>({
  startedAt: amount,
  restedMs: amount,
  restingSince: maybe(amount),
  iteration: amount,
  attempt: amount,
  tokens: amount,
  costUsd: amount,
  extra: amount,
  feedback: texts,
  heard: maybe(texts),
  comments: maybe(amounts),
  said: listOf(
    either(
      text, // as an older version stored it
      object<Tally['said'][number]>({ by: oneOf('person', 'ralph'), words: text, comments: maybe(amounts) }),
    ),
  ),
  fresh: flag,
  tree: maybe(text),
  words: text,
  trouble: maybe(text),
  startTree: maybe(text),
  findings: FINDINGS,
  before: maybe(RANS),
  after: maybe(RANS),
  marks: maybe(text),
  checkMs: maybe(amount),
  proofMs: maybe(amount),
  failed: maybe(object<NonNullable<Tally['failed']>>({ tree: text, checks: texts })),
  flaky: maybe(texts),
  trials: maybe(
    object<{ tree: string } & Partial<Record<Run, unknown>>>({
      tree: text,
      start: maybe(TRIAL),
      sealed: maybe(TRIAL),
      reversed: maybe(TRIAL),
      control: maybe(TRIAL),
    }),
  ),
  bent: maybe(amount),
  unproven: maybe(amount),
  questioned: maybe(yes),
  allowed: maybe(listOf(object<NonNullable<Tally['allowed']>[number]>({ path: text, by: text, mark: maybe(text) }))),
  changed: maybe(flag),
  claim: CLAIM,
  weak: amount,
  falseClaims: amount,
  ask: maybe(ASK),
  asked: amount,
  denied: amount,
  stalled: amount,
  testOnly: amount,
  crashes: amount,
  retry: maybe(object<NonNullable<Tally['retry']>>({ stop: TRIP, since: amount, moved: maybe(yes) })),
  faults: amount,
  error: maybe(text),
  repeats: amount,
  failures: maybe(amount),
  best: maybe(amount),
  bestAt: maybe(amount),
  falling: flag,
  slow: texts,
  session: maybe(SESSION),
  overloadedSince: maybe(amount),
  resting: maybe(namesTo(object<Rest>({ until: maybe(amount), faults: amount, words: text, resetsAt: maybe(amount) }))),
  passed: texts,
  held: maybe(NEXT),
})

const FACT = kinds<Fact>({
  turned: { at: amount, turn: TURN },
  checked: {
    at: amount,
    verdicts: listOf(VERDICT),
    findings: FINDINGS,
    tree: maybe(text),
    ms: maybe(amount),
    marks: maybe(text),
  },
  proved: { at: amount, run: RUN, ms: maybe(amount), ran: RANS, why: maybe(text) },
  woke: { at: amount },
  restored: { at: amount, trouble: maybe(text) },
  lost: { at: amount, tokens: maybe(amount), costUsd: maybe(amount) },
  // The order itself is validated by its own shape.
  told: { at: amount, by: text, order: () => '', id: maybe(amount) },
  asked: { at: amount, spec: SPEC },
  moved: {
    at: amount,
    to: object<Extract<Fact, { kind: 'moved' }>['to']>({
      dir: text,
      gitDir: maybe(text),
      worktree: maybe(WORKTREE),
      owner: maybe(OWNER),
      faces: maybe(texts),
    }),
  },
  adopted: { at: amount, loop: object<Omit<Loop, 'id'>>({ spec: SPEC, tally: TALLY, next: NEXT }) },
} satisfies Kinds<Fact>)

/**
 * The vocabulary of the engine's tests: facts with plain names, and `play`, which names what a loop asks for after
 * each.
 */
import type {
  Claim,
  Fact,
  Finding,
  FindingKind,
  Limits,
  Loop,
  Next,
  Order,
  Ran,
  Run,
  Spec,
  Turn,
  Verdict,
} from './loop.ts'
import { startLoop } from './loop.ts'
import { step } from './step.ts'

export const START: number = Date.UTC(2026, 0, 5, 9)
export const MINUTE = 60_000

/** A fact, or one that depends on the loop's state: a turn that works changes whatever tree there was. */
export type Happening = Fact | ((loop: Loop) => Fact)

/** Folds `step` over a story and names what the loop asks for after each fact. */
export function play(start: Spec | Loop, ...story: Happening[]): string[] {
  return loops(start, story).map(({ next }) => nameOf(next))
}

/** The loop at the end of a story. */
export function loopAfter(start: Spec | Loop, ...story: Happening[]): Loop {
  return loops(start, story).at(-1) ?? begin(start)
}

/** The feedback of the turn that a story ends at. */
export function feedbackAfter(start: Spec | Loop, ...story: Happening[]): string {
  const { next } = loopAfter(start, ...story)
  return next.kind === 'turn' ? next.feedback.join('\n') : `no turn, but ${nameOf(next)}`
}

/** The sentence a story ends with. */
export function sentenceAfter(start: Spec | Loop, ...story: Happening[]): string {
  const { next } = loopAfter(start, ...story)
  return next.kind === 'halt' || next.kind === 'complete' ? next.sentence : `no end, but ${nameOf(next)}`
}

function loops(start: Spec | Loop, story: readonly Happening[]): Loop[] {
  let loop = begin(start)
  return story.map((happening) => {
    loop = step(loop, happen(happening, loop))
    return loop
  })
}

/** By default, every check fails before any work. */
function begin(start: Spec | Loop): Loop {
  if ('tally' in start) return start
  const loop = startLoop('L1', start, { at: START, tree: 'tree 0' })
  return loop.next.kind === 'check' ? step(loop, happen(checks('fail', undefined, ''), loop)) : loop
}

/** A loop with this baseline. */
export function startedWith(spec: Spec, result: Verdict['result']): Loop {
  const loop = startLoop('L1', spec, { at: START, tree: 'tree 0' })
  return step(loop, happen(checks(result), loop))
}

function happen(happening: Happening, loop: Loop): Fact {
  return typeof happening === 'function' ? happening(loop) : happening
}

export function nameOf(next: Next): string {
  switch (next.kind) {
    case 'turn':
      return next.attempt === 1 ? `turn ${next.iteration}` : `turn ${next.iteration} attempt ${next.attempt}`
    case 'check':
      return next.because === 'flaky' ? 'check again' : 'check'
    case 'prove':
      return `prove ${next.run}`
    case 'wait':
      return `wait ${next.why}`
    case 'restore':
      return `restore ${next.to} ${next.reason}`
    case 'complete':
      return `complete ${next.proof}`
    case 'halt':
      return `halt ${next.reason}`
  }
}

/** A loop without checks that takes ten iterations, unless stated otherwise. */
export function specOf(change: Partial<Omit<Spec, 'limits'>> = {}, limits: Partial<Limits> = {}): Spec {
  return {
    prompt: 'Make the parser faster.',
    promise: 'COMPLETE',
    signals: [],
    checks: [],
    until: false,
    stages: [],
    work: {
      dir: '.',
      agent: 'scripted',
      agentArgs: [],
      permissions: 'bypass',
      context: 'fresh',
      silenceMinutes: 10,
      checkMinutes: 10,
    },
    ...change,
    limits: { iterations: 10, noProgress: 3, sameError: 5, ...limits },
  }
}

export const unchecked: Spec = specOf()
export const checkedByTests: Spec = specOf({ checks: ['npm test'] })

export const oneTurn: Spec = specOf({}, { iterations: 1 })
export const threeTurns: Spec = specOf({}, { iterations: 3 })
export const halfAnHour: Spec = specOf({}, { minutes: 30 })
export const endless: Spec = specOf({}, { iterations: 0 })

/** A loop whose breaker waits half an hour before it gives up. */
export function cooling(change: Partial<Omit<Spec, 'limits'>> = {}, limits: Partial<Limits> = {}): Spec {
  return specOf(change, { cooldownMinutes: 30, ...limits })
}

/** A loop whose worktree is unknown. */
export function blind(spec: Spec): Loop {
  return startLoop('L1', spec, { at: START })
}

/** The same, this many minutes after the start. */
export function at(minute: number, happening: Happening): Happening {
  return (loop) => ({ ...happen(happening, loop), at: START + minute * MINUTE })
}

export function times(count: number, ...story: Happening[]): Happening[] {
  return Array.from({ length: count }, () => story).flat()
}

export const works: Happening = turn((loop) => ({ words: stepOf(loop), ...changed(loop) }))
export const idles: Happening = turn((loop) => ({ words: 'I looked around.', ...same(loop) }))
export const runsTests: Happening = turn((loop) => ({ words: 'I ran the tests.', ranTests: true, ...same(loop) }))
export const fillsContext: Happening = turn((loop) => ({ end: 'context-full', words: stepOf(loop), ...changed(loop) }))
export const isOverloaded: Happening = turn((loop) => ({ end: 'overloaded', words: 'Overloaded.', ...same(loop) }))
export const isLimited: Happening = turn((loop) => ({ end: 'limited', words: 'You hit your limit.', ...same(loop) }))

export function isLimitedUntil(minute: number): Happening {
  const resetsAt = START + minute * MINUTE
  return turn((loop) => ({ end: 'limited', words: 'You hit your limit.', resetsAt, ...same(loop) }))
}

export function isUnusable(words: string): Happening {
  return turn((loop) => ({ end: 'unusable', words, ...same(loop) }))
}

/** The agent's program crashed. */
export function crashes(words = 'Segmentation fault'): Happening {
  return turn((loop) => ({ end: 'failed', words, error: words, ...same(loop) }))
}

/** Worked, changed something, and still hit this error. */
export function failsWith(error: string): Happening {
  return turn((loop) => ({ words: stepOf(loop), error, ...changed(loop) }))
}

export function uses(cost: Pick<Partial<Turn>, 'tokens' | 'costUsd' | 'usage'>): Happening {
  return turn((loop) => ({ words: stepOf(loop), ...cost, ...changed(loop) }))
}

type Said = Claim['kind'] | NonNullable<Claim['form']>

export function claims(kind: Said, stage?: string): Happening {
  return turn((loop) => ({ words: stepOf(loop), claim: claimOf(kind, stage), ...changed(loop) }))
}

/** Claims without having changed anything in this turn. */
export function claimsIdly(kind: Said, stage?: string): Happening {
  return turn((loop) => ({ words: 'It is done.', claim: claimOf(kind, stage), ...same(loop) }))
}

export function asks(words = 'Which database do you want?'): Happening {
  return turn((loop) => ({ words, ask: { kind: 'question', words }, ...same(loop) }))
}

export function asksAfterWork(words = 'Which database do you want?'): Happening {
  return turn((loop) => ({ words, ask: { kind: 'question', words }, ...changed(loop) }))
}

export function wantsPerson(words = 'May I delete the old data?'): Happening {
  return turn((loop) => ({ words, ask: { kind: 'person', words }, ...changed(loop) }))
}

export function isDenied(words = 'Bash(rm)'): Happening {
  return turn((loop) => ({ words: 'I was denied.', ask: { kind: 'permission', words }, ...same(loop) }))
}

/** Every requested check ends this way. */
export function checks(result: Verdict['result'], failures?: number, tail: string = result): Happening {
  return (loop) => {
    const asked = loop.next.kind === 'check' ? loop.next.checks : ['npm test']
    return checked(asked.map((check) => verdictOf(check, result, failures, tail)))
  }
}

/** Some checks pass, others do not. */
export function verdicts(results: Record<string, Verdict['result']>): Happening {
  return checked(Object.entries(results).map(([check, result]) => verdictOf(check, result)))
}

export function checked(verdicts: Verdict[], findings: Finding[] = []): Fact {
  return { at: START, kind: 'checked', verdicts, findings }
}

/** What a round of checks sees besides their results. */
type Seen = { findings?: Finding[]; tree?: string; tests?: number; ms?: number }

/** Every requested check ends this way on the current tree, unless another is named. */
export function checksOn(result: Verdict['result'], { findings = [], tree, tests, ms = 0 }: Seen = {}): Happening {
  return (loop) => ({
    ...checked(
      (loop.next.kind === 'check' ? loop.next.checks : []).map((check) => ({
        ...verdictOf(check, result),
        ...(tests === undefined ? {} : { tests }),
      })),
      findings,
    ),
    tree: tree ?? loop.tally.tree ?? '',
    ms,
  })
}

/** What ralph noticed about these files. */
export function noticed(kind: FindingKind, ...paths: string[]): Finding[] {
  return paths.map((path) => ({ kind, path, words: 'noticed' }))
}

/** An experiment: how all of its checks end, or each; `why` it could not run. */
export function proved(
  run: Run,
  result: Ran['result'] | Record<string, Ran['result']>,
  { ms, why, ...more }: { ms?: number; why?: string; tests?: number; red?: 'assertion' | 'load' } = {},
): Happening {
  return (loop) => {
    const asked = loop.next.kind === 'prove' ? loop.next.checks : []
    const each = typeof result === 'string' ? Object.fromEntries(asked.map((check) => [check, result])) : result
    const ran = Object.entries(each).map(([check, how]) => ({ check, result: how, ...more }))
    return {
      at: START,
      kind: 'proved',
      run,
      ran: why === undefined ? ran : [],
      ...(why === undefined ? {} : { why }),
      ...(ms === undefined ? {} : { ms }),
    }
  }
}

/** An experiment that could not run. */
export function untried(run: Run, why = 'there is no room for it'): Happening {
  return proved(run, 'pass', { why })
}

function verdictOf(check: string, result: Verdict['result'], failures?: number, tail: string = result): Verdict {
  return { check, result, tail, ...(failures === undefined ? {} : { failures }) }
}

export const woke: Fact = { at: START, kind: 'woke' }
export const lost: Extract<Fact, { kind: 'lost' }> = { at: START, kind: 'lost' }
export const cancel: Fact = told({ kind: 'cancel' })
export const pause: Fact = told({ kind: 'pause' })
export const resume: Fact = told({ kind: 'resume' })

export function say(words: string): Fact {
  return told({ kind: 'say', words })
}

/** A person allows changed means of proof. */
export function allow(...paths: string[]): Fact {
  return told({ kind: 'allow', paths })
}

export function setLimits(limits: Partial<Limits>): Fact {
  return told({ kind: 'limits', limits })
}

export function told(order: Order): Fact {
  return { at: START, kind: 'told', by: 'Ada', order }
}

/** Everything a loop with checks can ask for, and how it gets there. */
export const everyNext: Record<string, Happening[]> = {
  'turn 1': [],
  'turn 2': [works],
  'turn 1 attempt 2': [crashes()],
  check: [claims('clear')],
  'wait limit': [isLimited],
  'wait overload': [isOverloaded],
  'wait person': [wantsPerson()],
  'wait paused': [pause],
}

/** A custom turn; unless stated, the tree is unknown. */
export function turn(made: Partial<Turn> | ((loop: Loop) => Partial<Turn>)): Happening {
  return (loop) => ({
    at: START,
    kind: 'turned',
    turn: {
      end: 'ok',
      claim: { kind: 'none' },
      words: '',
      ranTests: false,
      tokens: 0,
      ...(typeof made === 'function' ? made(loop) : made),
    },
  })
}

/** A claim by its kind, or a weak one by its form. */
export function claimOf(kind: Said, stage?: string): Claim {
  const claim: Claim = kind === 'none' || kind === 'weak' || kind === 'clear' ? { kind } : { kind: 'weak', form: kind }
  return stage === undefined ? claim : { ...claim, stage }
}

function stepOf({ tally }: Loop): string {
  return `Step ${tally.iteration + 1}.${tally.attempt} is taken.`
}

function changed({ tally }: Loop): { tree?: string } {
  return tally.tree === undefined ? {} : { tree: `tree ${Number(tally.tree.slice(5)) + 1}` }
}

function same({ tally }: Loop): { tree?: string } {
  return tally.tree === undefined ? {} : { tree: tally.tree }
}

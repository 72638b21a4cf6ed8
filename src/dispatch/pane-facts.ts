/** What is known about an agent in its pane, updated by each report. Pure: the caller supplies the mail. */
import type { Outcome } from '../agents/agent.ts'
import type { Mail } from '../host/store.ts'

export type PaneFacts = {
  /** It accepts input, as reported by its hook or seen on its screen. */
  up?: true
  /** The folder it was started in. */
  dir?: string
  startedAt?: number
  /** How often it has been started: a late report of an earlier program is not about this one. */
  launch?: number
  /** Which server has its terminal. */
  server?: string
  /** How often in a row it has exited without ever coming up. */
  failed?: number
  /** Its own session. */
  session?: string
  /** It waits for a permission or an answer: nothing may be typed now. */
  asks?: string
  /** Whose turn it is working on. `turn`: its own name for it. */
  at?: { kind: 'ours'; mark: TurnMark; turn?: string } | { kind: 'theirs'; turn?: string }
  /** The last prompt it was given. */
  sent?: Sent
  /** How the last of our turns ended. */
  over?: { mark: TurnMark; outcome: Outcome | 'aborted' }
  /** When a turn last ended. */
  stoppedAt?: number
  /** What the user typed on their own. */
  typed?: string
  /** Its program has exited. */
  ended?: { code: number; closed?: true }
}

/** One turn of a loop. */
export type TurnMark = { loop: string; iteration: number; attempt: number }

/** `times`: how often it was typed and submitted. `stalled`: it did not arrive, and the user must look. */
export type Sent = { mark: TurnMark; text: string; at: number; times: number; stalled?: true }

type Report = Extract<Mail, { kind: 'started' | 'session' | 'prompt' | 'stop' | 'asks' | 'answered' | 'ended' }>

export function applyReport(facts: PaneFacts, mail: Report, at: number): PaneFacts {
  if (mail.launch !== undefined && mail.launch !== facts.launch) return facts
  switch (mail.kind) {
    case 'started': {
      const { ended: _, failed: __, ...rest } = facts
      return { ...rest, up: true, ...(mail.session ? { session: mail.session } : {}) }
    }
    case 'session':
      return { ...facts, session: mail.session }
    case 'prompt':
      return facts.ended ? facts : afterPrompt(withSession(facts, mail), mail)
    case 'stop':
      return mail.background ? facts : stopped(withSession(facts, mail), mail, at)
    case 'asks':
      return facts.ended ? facts : { ...facts, asks: mail.question }
    case 'answered':
      return withoutQuestion(facts)
    case 'ended':
      return gone(facts, mail, at)
  }
}

/** Mail of a program that has exited may come late; only a started one is up again. */
function withSession(facts: PaneFacts, { session }: { session?: string }): PaneFacts {
  return {
    ...withoutQuestion(facts),
    ...(facts.ended ? {} : { up: true }),
    ...(session === undefined ? {} : { session }),
  }
}

function withoutQuestion({ asks: _, ...facts }: PaneFacts): PaneFacts {
  return facts
}

function afterPrompt(facts: PaneFacts, { words, turn }: Extract<Mail, { kind: 'prompt' }>): PaneFacts {
  const { sent, at } = facts
  const named = turn === undefined ? {} : { turn }
  if (sent && isOurs(words, sent.text) && !isOver(facts, sent.mark)) {
    const { stalled: _, ...arrived } = sent
    return { ...facts, sent: arrived, at: { kind: 'ours', mark: sent.mark, ...named } }
  }
  // Words for the current turn: that one continues.
  if (at?.kind === 'ours') return { ...facts, typed: words }
  return { ...facts, at: { kind: 'theirs', ...named }, typed: words }
}

function isOver({ over }: PaneFacts, mark: TurnMark): boolean {
  return over !== undefined && isSame(over.mark, mark)
}

/** Clients change blanks and tabs and drop invisible characters; the user may have left a word in the input line. A secret may have another mark. */
export function isOurs(words: string, text: string): boolean {
  return bare(words).includes(bare(text))
}

function bare(text: string): string {
  return text
    .replace(/…masked[^…]*…/g, '')
    .normalize('NFC')
    .replace(/[\s\p{C}]+/gu, '')
}

function stopped(facts: PaneFacts, { outcome, turn }: Extract<Mail, { kind: 'stop' }>, at: number): PaneFacts {
  const { at: was, ...rest } = facts
  if (!was) return facts
  // The end of a turn other than the current one: the report came late.
  if (was.turn !== undefined && turn !== undefined && was.turn !== turn) return facts
  if (was.kind === 'theirs') return { ...rest, stoppedAt: at }
  return { ...rest, stoppedAt: at, over: { mark: was.mark, outcome } }
}

function gone(facts: PaneFacts, { code, closed }: Extract<Mail, { kind: 'ended' }>, at: number): PaneFacts {
  // Its terminal and the shell around it both report; the exit code is the shell's.
  if (facts.ended) return { ...facts, ended: { ...facts.ended, code, ...(closed ? { closed } : {}) } }
  const { up, asks: _, at: was, ...rest } = facts
  const failed = up || closed ? {} : { failed: (facts.failed ?? 0) + 1 }
  const ended = { ...rest, ...failed, stoppedAt: at, ended: { code, ...(closed ? { closed } : {}) } }
  // An agent whose terminal was closed did not fail; the caller decides what that means.
  if (closed || was?.kind !== 'ours') return { ...ended, ...(was?.kind === 'ours' ? { at: was } : {}) }
  return { ...ended, over: { mark: was.mark, outcome: crash(code) } }
}

function crash(code: number): Outcome {
  const message = `it exited with code ${code} in the middle of a turn`
  return { kind: 'crash', finalText: '', message, tokens: 0, denied: [], ran: [] }
}

export function isSame(one: TurnMark, other: TurnMark): boolean {
  return one.loop === other.loop && one.iteration === other.iteration && one.attempt === other.attempt
}

/** Carries out what the hook program answers, in the session that the person is in. Decides nothing. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer, CommandName, Stop, Verdict } from './answer.ts'
import { openApart } from './apart.ts'
import { openAsker } from './asker.ts'
import { drafts, reportCard, turnCard } from './card.ts'
import { afterEvent, type ChildEvent } from './child-loop.ts'
import type { Program } from './hook-program.ts'
import type { Draft, Message } from './host.ts'
import type { Session } from './session.ts'
import { openTurnRecord } from './turn-record.ts'
import { clock, endWords, type Progress, statusWords } from './words.ts'

/**
 * idle: nothing to do here. turn: the agent is at work for the loop. asking: its turn is judged, checks run.
 * waiting: until the program wants to be woken. apart: the loop goes on in a process of its own. person: it waits for an answer.
 */
type Phase = 'idle' | 'turn' | 'asking' | 'waiting' | 'apart' | 'person'

export type Drive = {
  phase(): Phase
  isActive(): boolean
  /** Whether the model shall not remember earlier turns. */
  isFresh(): boolean
  /** What a person typed behind a `/`; undefined when ralph gave no answer. */
  command(name: CommandName, args: string): Promise<Answer | undefined>
  /** What a person typed while the loop waits for an answer. */
  reply(text: string): Promise<Answer | undefined>
  /** A session that Pi has taken up again may have a loop. */
  find(): Promise<void>
  /** The person's own run may come before the loop's first turn: only what follows its prompt is the loop's. */
  prompted(): void
  saw(message: Message): void
  /** The run is about to end: the entries with which it goes on, or undefined when it may settle. */
  boundary(outcome: Stop['outcome']): Promise<Draft[] | undefined>
  /** The run has ended. Without an outcome it is read from the last message. */
  settle(outcome?: Stop['outcome']): Promise<void>
  /** The run has ended, and Pi may go on by itself. */
  settleUnless(goesOn: (error: string | undefined) => Promise<boolean>): Promise<void>
  /** ESC, where Pi would not tell of it. */
  escape(): { consume: true } | undefined
  /** When nothing is under way any more, neither the loop nor a run of the agent. */
  over(): Promise<Answer | undefined>
  /** Pi leaves the session: what is under way ends, and the loop can be resumed. Returns what to tell the person later. */
  leave(): Promise<string | undefined>
}

const OVER: readonly Answer['status'][] = ['none', 'completed', 'halted', 'cancelled']
const GOING_ON = 'Ralph: the loop of this session is going on.'
const COMMAND_MS = 120_000
const FAREWELL_MS = 5_000
const LOOK_MS = 25
/** A Pi that has not begun a turn after this time never will: no model, no key. */
const BEGIN_MS = 5_000

export function openDrive(session: Session, program: Program): Drive {
  const { board } = session
  let phase: Phase = 'idle'
  let answer: Answer | undefined
  let record = openTurnRecord()
  const asker = openAsker(session, program, {
    checking: (check) => show({ doing: `checking: ${check}` }),
    failed: () => enter('idle'),
  })
  const { ask } = asker
  const apart = openApart(session, program, { saw: sawApart, ended: () => enter('idle') })
  /** An older Pi may still go on by itself. */
  let settling = false
  let escaped = false
  let fresh = false
  let ending = openEnding()
  let shown: { doing: string; since: number; checks: readonly Verdict[] } = { doing: '', since: 0, checks: [] }

  const isActive = () => phase !== 'idle' && phase !== 'person'
  const progress = (): Progress => ({
    iteration: answer?.iteration ?? 0,
    maxIterations: answer?.maxIterations ?? 0,
    checks: shown.checks,
    elapsedMs: Date.now() - shown.since,
    doing: shown.doing,
    costUsd: (answer?.costUsd ?? 0) + (phase === 'turn' || phase === 'asking' ? record.costUsd() : 0),
  })

  function enter(next: Phase, doing = ''): void {
    if (!isActive()) ending = openEnding()
    phase = next
    show({ doing })
    if (isActive()) return
    shown = { ...shown, checks: [] }
    ending.resolve()
  }

  function show(change: Partial<typeof shown>): void {
    shown = { ...shown, ...change }
    board.show(isActive() ? progress : undefined)
  }

  function tell(told: Answer): void {
    const end = endWords(told)
    board.say([...(end === undefined ? [] : [{ level: 'info', text: end } as const]), ...told.show])
    if (told.checks.length > 0) shown = { ...shown, checks: told.checks }
  }

  /** From one turn to the next the card and the lines above the editor tell the rest. */
  function onlyNews(told: Answer): Answer {
    if (!isActive() || !session.hasPerson()) return told
    return { ...told, show: told.show.filter(({ level }) => level !== 'info') }
  }

  /** Everything that an answer can ask for, outside of a run of the agent. */
  function carryOut(told: Answer): void {
    if (told.status !== 'paused' || answer?.status !== 'paused') tell(told.next === 'turn' ? onlyNews(told) : told)
    // While it waits, it is at the iteration that it waits for.
    const iteration = told.next === 'wait' ? Math.max(told.iteration, answer?.iteration ?? 0) : told.iteration
    answer = { ...told, iteration }
    if (told.next === 'turn') give(told)
    else if (told.next === 'wait') wait(told.waitMs)
    else if (told.context === 'process' && !OVER.includes(told.status)) runApart(told.loop)
    else enter(told.status === 'needs-input' ? 'person' : 'idle')
  }

  function begin(told: Answer): void {
    answer = told
    fresh = told.fresh
    escaped = false
    record = openTurnRecord()
    shown = { ...shown, since: Date.now() }
    enter('turn', 'the agent is at work')
  }

  function give(told: Answer): void {
    begin(told)
    if (session.send(turnCard(told), { triggerTurn: true, deliverAs: 'followUp' })) void expectBegin()
    else enter('idle')
  }

  async function expectBegin(): Promise<void> {
    const given = record
    for (let idleMs = 0; idleMs < BEGIN_MS; idleMs += LOOK_MS) {
      await sleep(LOOK_MS)
      if (session.isBusy() || phase !== 'turn' || record !== given) return
      if (!session.isIdle()) idleMs = 0
    }
    await settle('error')
  }

  function wait(ms: number): void {
    const until = Date.now() + ms
    enter('waiting')
    board.show(() => ({ ...progress(), doing: `waiting ${clock(until - Date.now())}, ESC pauses` }))
    const wake = async () => {
      await session.untilIdle()
      const told = phase === 'waiting' ? await ask({ event: 'woke' }) : undefined
      if (told && phase === 'waiting') carryOut(told)
    }
    sleep(ms, undefined, { signal: asker.signal() }).then(wake, () => undefined) // ended: somebody else goes on
  }

  async function judge(outcome?: Stop['outcome']): Promise<Answer | undefined> {
    enter('asking', 'judging the turn')
    const told = await ask({ event: 'stop', ...record.stop(outcome) })
    return phase === 'asking' ? told : undefined
  }

  async function settle(outcome?: Stop['outcome']): Promise<void> {
    const told = await judge(outcome ?? (escaped && record.stop().outcome === 'error' ? 'aborted' : undefined))
    if (told) carryOut(told)
  }

  function runApart(loop: string): void {
    shown = { ...shown, since: Date.now() }
    enter('apart', 'a process of its own begins')
    apart.run(loop)
  }

  function sawApart(event: ChildEvent): void {
    if (!answer) return
    answer = afterEvent(answer, event)
    if (event.kind === 'iteration') show({ since: Date.now(), doing: 'the agent is at work' })
    if (event.kind === 'doing') show({ doing: event.doing })
    if (event.kind === 'checked') show({ checks: event.checks })
    if (event.kind === 'message') session.say('info', event.text)
    if (event.kind === 'error') session.say('error', `Ralph: ${event.text}`)
    if (event.kind === 'end') tell(answer)
    // A busy agent would take it for an order.
    if (event.kind === 'said' && event.text && session.hasPerson() && session.isIdle())
      session.send(reportCard(event.text, answer), { triggerTurn: false })
  }

  /** Ends what is under way here, and tells ralph why. */
  async function interrupt(order: 'pause' | 'cancel', args = ''): Promise<void> {
    await halt()
    const told = await ask({ event: 'command', command: order, args }, COMMAND_MS)
    if (told) answer = told
    if (told) tell(told)
    enter('idle')
  }

  async function halt(): Promise<void> {
    asker.end()
    if (isActive()) phase = 'idle' // whoever waits for an answer finds that it is not wanted any more
    show({})
    await apart.halt()
  }

  async function command(name: CommandName, args: string): Promise<Answer | undefined> {
    asker.complainAgain()
    if (name === 'cancel' || (name === 'pause' && (phase === 'asking' || phase === 'waiting'))) {
      const was = phase
      await interrupt(name, args)
      if (was === 'turn') session.abort()
      return answer
    }
    if (name === 'resume' && isActive() && phase !== 'waiting' && answer?.status !== 'paused') {
      session.say('info', GOING_ON)
      return answer
    }
    const told = await ask({ event: 'command', command: name, args }, name === 'resume' ? undefined : COMMAND_MS)
    if (!told) return undefined
    const begins = (name === 'loop' || name === 'resume') && (told.next !== 'none' || !isActive())
    if (begins && phase === 'waiting') await halt()
    if (begins && phase !== 'turn') {
      carryOut(told)
      return told
    }
    tell(told)
    // The turn that is under way will be judged by this.
    if (begins || name === 'pause') answer = told
    return told
  }

  return {
    phase: () => phase,
    isActive,
    isFresh: () => isActive() && fresh,
    command,
    async reply(text) {
      const told = await ask({ event: 'prompt', prompt: text })
      if (told) carryOut(told)
      return told
    },
    async find() {
      const told = await ask({ event: 'command', command: 'status', args: '' }, COMMAND_MS)
      if (!told || OVER.includes(told.status) || isActive()) return
      answer = told
      if (told.status === 'needs-input') {
        tell(told)
        enter('person')
        return
      }
      const words = `Ralph: a loop of this session is not over (${statusWords(told)}).`
      session.say('info', `${words} /ralph-resume goes on with it, /cancel-ralph ends it.`)
    },
    prompted() {
      if (phase === 'turn') record = openTurnRecord()
    },
    saw: (message) => record.saw(message),
    async boundary(outcome) {
      if (phase !== 'turn') return undefined
      const told = await judge(outcome)
      if (told?.next !== 'turn') {
        if (told) carryOut(told)
        return undefined
      }
      tell(onlyNews(told))
      begin(told)
      return drafts(told)
    },
    settle,
    async settleUnless(goesOn) {
      if (phase !== 'turn') return
      const given = record
      settling = true
      const isOver = !(await goesOn(record.stop().error_message))
      settling = false
      if (isOver && phase === 'turn' && record === given) await settle()
    },
    escape() {
      if (!isActive()) return undefined
      const isPis = phase === 'turn' || phase === 'asking' // it ends its own run, too
      if (phase === 'turn' && !settling) escaped = true
      else if (phase === 'apart') apart.end()
      else void interrupt('pause')
      return isPis ? undefined : { consume: true }
    },
    async over() {
      await ending.promise
      await session.untilIdle()
      return answer
    },
    async leave() {
      session.leave()
      if (isActive()) {
        await halt()
        await ask({ event: 'command', command: 'pause', args: '' }, FAREWELL_MS)
        ending.resolve()
      }
      if (!answer || OVER.includes(answer.status)) return undefined
      return `Ralph: the loop ${answer.loop} is paused (${statusWords(answer)}). /ralph-resume ${answer.loop} takes it up here.`
    },
  }
}

/** `Promise.withResolvers`, which Node 20 has not. */
function openEnding(): { promise: Promise<void>; resolve(): void } {
  let resolve = () => {}
  const promise = new Promise<void>((settle) => {
    resolve = settle
  })
  return { promise, resolve: () => resolve() }
}

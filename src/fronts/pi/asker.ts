/** Asks the hook program one question at a time; a running call can be stopped. */
import type { Answer, Ask, CommandName } from './answer.ts'
import type { Program } from './hook-program.ts'
import type { Session } from './session.ts'

export type Asker = {
  /** A call that was stopped or failed has no answer. */
  ask(question: Ask, withinMs?: number): Promise<Answer | undefined>
  /** Aborted when the running call is stopped. */
  signal(): AbortSignal
  end(): void
  /** A failure is shown once, until the user types the next command. */
  complainAgain(): void
}

const ASIDE: ReadonlySet<CommandName> = new Set(['status', 'help', 'steer'])

export function openAsker(
  session: Session,
  program: Program,
  heard: { checking(check: string): void; failed(): void },
): Asker {
  let stop = new AbortController()
  let calls: Promise<unknown> = Promise.resolve()
  let complained = false
  return {
    async ask(question, withinMs) {
      const { signal } = stop
      const limit = withinMs === undefined ? {} : { withinMs }
      const call = () => program.call(session.place(), question, { signal, checking: heard.checking, ...limit })
      // A question that changes nothing need not wait for the checks to finish.
      const isAside = question.event === 'command' && ASIDE.has(question.command)
      const calling = isAside ? call() : calls.then(call)
      if (!isAside) calls = calling
      const called = await calling
      if ('stopped' in called) return undefined
      if (!('failed' in called)) return called
      if (!complained) session.say('error', `Ralph: ${called.failed}`)
      complained = true
      if (!isAside) heard.failed()
      return undefined
    },
    signal: () => stop.signal,
    end() {
      stop.abort()
      stop = new AbortController()
    },
    complainAgain() {
      complained = false
    },
  }
}

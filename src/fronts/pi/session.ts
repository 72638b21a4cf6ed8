/** Pi's current session: whom to show things to, when its agent is idle, and whether Pi has left it. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Board, openBoard } from './board.ts'
import type { Place } from './hook-program.ts'
import type { Context, CustomMessage, Pi } from './host.ts'
import type { Notice } from './words.ts'

export type Session = {
  /** The context of the latest event. */
  use(context: Context): void
  place(): Place
  board: Board
  say(level: Notice['level'], text: string): void
  /** A run of the agent has started or ended, as far as Pi reports it. */
  busy(is: boolean): void
  isBusy(): boolean
  untilIdle(): Promise<void>
  isIdle(): boolean
  /** Whether it could be sent. */
  send(message: CustomMessage, options: Parameters<Pi['sendMessage']>[1]): boolean
  abort(): void
  /** A key in a dialog is meant for the dialog. */
  dialog<Chosen>(asked: Promise<Chosen>): Promise<Chosen>
  hasDialog(): boolean
  hasPerson(): boolean
  /** Asks the user. Undefined when they chose nothing, or when nobody is there. */
  choose(question: string, choices: string[]): Promise<string | undefined>
  leave(): void
}

const LOOK_MS = 25

export function openSession(pi: Pi): Session {
  const board = openBoard()
  let context: Context | undefined
  let place: Place = { session: '', cwd: '' }
  let busy = false
  let left = false
  let dialogs = 0
  const say = (level: Notice['level'], text: string) => board.say([{ level, text }])
  const isIdle = () => {
    try {
      return left || (!busy && context?.isIdle() === true)
    } catch {
      return true // Pi has left this session: nothing is running
    }
  }
  const dialog: Session['dialog'] = (asked) => {
    dialogs += 1
    return asked.finally(() => (dialogs -= 1))
  }
  return {
    board,
    say,
    isIdle,
    use(latest) {
      context = latest
      board.use(latest)
      place = { session: latest.sessionManager.getSessionId(), cwd: latest.cwd }
    },
    place: () => place,
    busy(is) {
      busy = is
    },
    isBusy: () => busy,
    async untilIdle() {
      while (!isIdle()) await sleep(LOOK_MS)
    },
    send(message, options) {
      try {
        pi.sendMessage(message, options)
        return true
      } catch (cause) {
        if (!left) say('error', `Ralph: ${cause instanceof Error ? cause.message : cause}`)
        return false
      }
    },
    abort() {
      if (!isIdle()) context?.abort()
    },
    dialog,
    choose: async (question, choices) => (context?.hasUI ? dialog(context.ui.select(question, choices)) : undefined),
    hasDialog: () => dialogs > 0,
    hasPerson: () => context?.hasUI === true,
    leave() {
      left = true
    },
  }
}

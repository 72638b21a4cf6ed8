/** A machine that is short of open files, processes or memory: what needs them waits until there is room again. */
import { closeSync, openSync } from 'node:fs'
import { isRalphError } from '../error.ts'
import { codeOf, isShortage, machineLimit, shortageWords } from './plain-words.ts'
import { LONG_PATIENCE_MS, untilItWorks } from './waiting.ts'

type Patience = { signal?: AbortSignal | undefined; patienceMs?: number }

/** Runs a program as soon as there is room for it. `run`: starts it at once, and resolves when it has ended. */
export function startWhenRoom<Result>(run: () => Promise<Result>, patience?: Patience): Promise<Result> {
  return waitForRoom(async () => {
    mustHaveRoom()
    underWay += 1
    try {
      return await run()
    } finally {
      underWay -= 1
    }
  }, patience)
}

/** Programs that ralph has started, each with its own open files. */
let underWay = 0

/** Does something that needs room on the machine, as soon as there is some. */
export async function waitForRoom<Result>(work: () => Promise<Result>, patience: Patience = {}): Promise<Result> {
  const { signal, patienceMs = LONG_PATIENCE_MS } = patience
  let hopeful = 0
  const why = (thrown: unknown, waitedMs: number) => {
    const cause = shortageIn(thrown)
    // The open files are ralph's own: they are free again when one of its programs ends, and not before.
    const own = codeOf(cause) === 'EMFILE'
    if (own && underWay > 0) hopeful = waitedMs
    const isOver = own ? waitedMs - hopeful > HOPELESS_MS : waitedMs >= patienceMs
    return cause === undefined || isOver ? undefined : waitingWords(cause)
  }
  try {
    return await untilItWorks(work, { signal, why })
  } catch (cause) {
    throw isShortage(cause) ? machineLimit(cause) : cause
  }
}

const HOPELESS_MS = 2_000

/** Node's error, even if it is wrapped in a sentence about a file that could not be opened. */
function shortageIn(thrown: unknown): unknown {
  const cause = isRalphError(thrown) && thrown.code === 'machine-limit' ? thrown.cause : thrown
  return isShortage(cause) ? cause : undefined
}

function waitingWords(cause: unknown): string {
  const [what, help] = shortageWords(cause)
  return `Cannot start another program, because ${what}. Waiting. ${help}`
}

/**
 * Throws if another program would need more open files than possible. Called right before one is started: if Node
 * itself runs out of them on the way, it never closes those it had opened by then.
 */
function mustHaveRoom(): void {
  const held: number[] = []
  try {
    while (held.length < FILES_OF_A_START) held.push(openSync('/dev/null', 'r'))
  } finally {
    for (const file of held) closeSync(file)
  }
}

// Both ends of four pipes, and of the one by which Node learns how the start went. Some are left for everything else.
const FILES_OF_A_START = 16

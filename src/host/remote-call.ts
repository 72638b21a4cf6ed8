/** Calls of git to a remote repository: the outcome is a value, even if the network is down. */
import { isRalphError } from '../error.ts'
import { type Answer, inOneLine, type Repository } from './git.ts'
import { maskUrl, PROTOCOLS } from './repo-url.ts'

/** `unreachable`: it may work later. `refused`: it will not, until somebody changes something. `why` is a sentence. */
export type Trouble = { kind: 'unreachable' | 'refused'; why: string }

/** `loop`: marks the git that is started, so that the next ralph can kill it. */
export type Calling = { signal?: AbortSignal | undefined; minutes?: number | undefined; loop?: string | undefined }

export type RemoteAnswer = { ok: true; out: string } | { ok: false; says: string; trouble: Trouble }

export async function askRemote(
  repo: Repository,
  args: readonly string[],
  calling: Calling = {},
): Promise<RemoteAnswer> {
  const { signal, minutes = 10, loop } = calling
  const env = { GIT_ALLOW_PROTOCOL: PROTOCOLS, ...(loop === undefined ? {} : { RALPH_LOOP_ID: loop }) }
  const answer = await repo.ask([...STALLED, ...args], { env, minutes, ...(signal ? { signal } : {}) }).catch(noAnswer)
  return answer.ok ? answer : { ok: false, says: answer.says, trouble: troubleOf(answer.says) }
}

// Without this, a server that stops sending would be waited for until the timeout.
const STALLED = ['-c', 'http.lowSpeedLimit=1', '-c', 'http.lowSpeedTime=60']

/** It timed out. */
function noAnswer(cause: unknown): Extract<Answer, { ok: false }> {
  if (!isRalphError(cause)) throw cause
  return { ok: false, code: undefined, says: cause.message }
}

/** Waiting for others on this machine can be interrupted as well. */
export async function unlessInterrupted<Result>(work: Promise<Result>): Promise<Result | Trouble> {
  try {
    return await work
  } catch (cause) {
    if (cause instanceof Error && cause.name === 'AbortError')
      return { kind: 'unreachable', why: 'It was interrupted.' }
    throw cause
  }
}

/** What git said about its failure, and whether another try is worthwhile. */
export function troubleOf(says: string): Trouble {
  const lines = says.split('\n').filter((line) => line.trim() !== '' && !IDLE.test(line))
  const passing = lines.find((line) => PASSING.test(line))
  // If one ref of a push is refused, git reports all others as refused too: only the one that says why matters.
  const telling = passing ?? lines.find((line) => REFUSED.test(line) && !/atomic transaction failed/.test(line))
  const line = telling ?? lines[0] ?? 'git said nothing'
  const why = inOneLine(maskUrl(line.replace(/^\s*(remote: )?((fatal|error): |! )?/i, '')))
  return { kind: passing === undefined && telling !== undefined ? 'refused' : 'unreachable', why }
}

/** Lines that say nothing about the cause. */
const IDLE = /^(warning|hint): |Could not read from remote repository|^Please make sure you|^and the repository exists/

/**
 * The server refuses, but nobody decided so: its disk, its memory, its locks, or a repository that was moved meanwhile.
 */
const PASSING =
  /No space left on device|Too many open files|out of memory|missing necessary objects|unable to migrate objects|internal server error/i

/**
 * What another try will not change. A path without a repository may just be moved or not mounted, and a failing server
 * may be repaired: those are worth another try.
 */
const REFUSED = new RegExp(
  [
    "couldn't find remote ref",
    'repository .*not found',
    'Authentication failed',
    'could not read (Username|Password)',
    'Permission denied',
    'access denied',
    'Host key verification failed',
    'returned error: (400|401|403|404)',
    'dubious ownership',
    'does not support --atomic',
    'not allowed|not supported',
    'unable to find remote helper',
    'insufficient permission',
    '\\[(remote )?rejected\\]',
    'exists; cannot create',
  ].join('|'),
  'i',
)

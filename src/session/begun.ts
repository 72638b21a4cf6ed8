/** What a person is told when a loop begins in their session. */
import { claimTag } from '../engine/claim.ts'
import { count } from '../engine/limits.ts'
import type { Loop, Spec } from '../engine/loop.ts'
import { beforeLines } from '../formats/proof-words.ts'
import { tokenWords } from '../formats/spent-words.ts'
import { canStart } from '../host/check.ts'
import type { Note } from './answer.ts'
import type { Env, Host } from './hosts.ts'

export function begunNotes({ spec }: Loop, host: Host, env: Env): Note[] {
  return [{ level: 'info', text: settingsOf(spec, host) }, ...doubts(spec, env)]
}

/** What the checks say before any work. */
export function beforeNotes(loop: Loop): Note[] {
  return beforeLines(loop).map((line) => ({ level: 'info', text: `ralph: ${line}` }))
}

export function facelessNote({ folder }: Host): Note {
  return { level: 'warning', text: `ralph: ${folder} cannot hold this loop as a file; all else works.` }
}

const LEFT_IN =
  /(?:^|\s)(?:--|—)(verify|max-iterations|completion-promise|timeout|context|file|require|protect|may-change|proof)\b/i

/** Options that a person may know from the command line. */
const OF_RUN =
  /(?:^|\s)--(worktree|sandbox|agent|model|max-cost|on-limit|overload|on-halt|until|stage|permissions|notify|no-progress|same-error)(?=[\s=]|$)/

/** What may not have been meant so. */
function doubts({ prompt, checks, work }: Spec, env: Env): Note[] {
  const option = LEFT_IN.exec(prompt)?.[1]?.toLowerCase()
  const left =
    option &&
    `--${option} was taken for a part of the prompt. Put its value in quotes, and options before or behind the prompt.`
  const foreign = OF_RUN.exec(prompt)?.[1]
  const missing = checks.filter((check) => !canStart(check, work.dir, env.PATH))
  return [
    ...(left ? [left] : []),
    ...(foreign
      ? [`--${foreign} was taken for a part of the prompt: it is an option of \`ralph run\`, and not of a session.`]
      : []),
    ...missing.map((check) => `The program of the check "${check}" is not here yet. Without it the loop will halt.`),
  ].map(doubt)
}

export function doubt(text: string): Note {
  return { level: 'warning', text: `ralph: ${text}` }
}

/** What was understood, so that nobody finds out later that a limit was not taken. */
function settingsOf({ checks, promise, signals, limits }: Spec, host: Host): string {
  const parts = [
    limits.iterations > 0 ? `at most ${count(limits.iterations, 'iteration')}` : 'no limit on iterations',
    ...(limits.minutes === undefined ? [] : [count(limits.minutes, 'minute')]),
    ...(limits.tokens === undefined ? [] : [tokenWords(limits.tokens)]),
    `done when it says ${promise && !host.escapes ? claimTag(promise) : signals[0]}`,
    checks.length > 0 ? `checked by ${checks.join(', ')}` : 'no check, so its word is taken',
  ]
  const ways = host.deaf
    ? `${host.title} keeps back what you type meanwhile: Esc pauses the loop, \`ralph cancel\` in another terminal ends it.`
    : `${host.types('status')} shows it, ${host.types('cancel')} ends it.`
  return `ralph: the loop begins: ${parts.join(' · ')}. ${ways}`
}

/** What the user sees when a loop starts in their session. */
import { claimTag } from '../engine/claim.ts'
import { count } from '../engine/limits.ts'
import type { Loop, Spec } from '../engine/loop.ts'
import { beforeLines } from '../formats/proof-words.ts'
import { tokenWords } from '../formats/spent-words.ts'
import { canStart } from '../host/check.ts'
import type { Note } from './answer.ts'
import type { Env, Host } from './hosts.ts'

export function startNotes({ spec }: Loop, host: Host, env: Env): Note[] {
  return [{ level: 'info', text: settingsOf(spec, host) }, ...doubts(spec, env)]
}

/** The result of the checks before any work. */
export function beforeNotes(loop: Loop): Note[] {
  return beforeLines(loop).map((line) => ({ level: 'info', text: `ralph: ${line}` }))
}

export function facelessNote({ folder }: Host): Note {
  return { level: 'warning', text: `ralph: cannot write the loop file in ${folder}; everything else works.` }
}

const LEFT_IN =
  /(?:^|\s)(?:--|—)(verify|max-iterations|completion-promise|timeout|context|file|require|protect|may-change|proof)\b/i

/** Options that users may know from the command line. */
const OF_RUN =
  /(?:^|\s)--(worktree|sandbox|agent|model|max-cost|on-limit|overload|on-halt|until|stage|permissions|notify|no-progress|same-error)(?=[\s=]|$)/

/** What the user may not have meant. */
function doubts({ prompt, checks, work }: Spec, env: Env): Note[] {
  const option = LEFT_IN.exec(prompt)?.[1]?.toLowerCase()
  const left =
    option && `--${option} was read as part of the prompt. Quote its value, and put options before or after the prompt.`
  const foreign = OF_RUN.exec(prompt)?.[1]
  const missing = checks.filter((check) => !canStart(check, work.dir, env.PATH))
  return [
    ...(left ? [left] : []),
    ...(foreign
      ? [`--${foreign} was read as part of the prompt: it is an option of \`ralph run\`, not of a session.`]
      : []),
    ...missing.map((check) => `The program for check "${check}" is not installed yet. Without it the loop will halt.`),
  ].map(doubt)
}

export function doubt(text: string): Note {
  return { level: 'warning', text: `ralph: ${text}` }
}

/** The settings as understood, so that a limit that was not recognized shows at once. */
function settingsOf({ checks, promise, signals, limits }: Spec, host: Host): string {
  const parts = [
    limits.iterations > 0 ? `at most ${count(limits.iterations, 'iteration')}` : 'no iteration limit',
    ...(limits.minutes === undefined ? [] : [count(limits.minutes, 'minute')]),
    ...(limits.tokens === undefined ? [] : [tokenWords(limits.tokens)]),
    `done when the agent says ${promise && !host.escapes ? claimTag(promise) : signals[0]}`,
    checks.length > 0 ? `checked by ${checks.join(', ')}` : 'no check: the agent is taken at its word',
  ]
  const ways = host.deaf
    ? `${host.title} holds back what you type while the loop runs: Esc pauses it, \`ralph cancel\` in another terminal ends it.`
    : `${host.types('status')} shows it, ${host.types('cancel')} ends it.`
  return `ralph: loop started: ${parts.join(' · ')}. ${ways}`
}

/** `ralph proof --again` and `--why`: repeat the proof of a loop and print each step. */
import type { Explained } from '../../drive/explain-proof.ts'
import type { Repeated } from '../../drive/repeat-proof.ts'
import { type Again, explainGreen, proveAgain } from '../../operations/repeat-proof.ts'
import type { Context } from './context.ts'
import { eventSentence } from './story.ts'
import { jsonLine, paint } from './text.ts'

export async function tryAgain(context: Context, name: string | undefined, json: boolean): Promise<number> {
  const { out, now } = context
  const again = await untilInterrupted((signal) =>
    proveAgain(context, name, {
      signal,
      saw: (run, trial) =>
        out.write(
          json
            ? jsonLine({ type: 'proof-end', run, ...trial })
            : `${eventSentence({ kind: 'proved', at: now(), run, ...trial })}\n`,
        ),
    }),
  )
  if (json) out.write(jsonLine({ type: 'proof-repeated', ...again }))
  else {
    const [mark, style] = again.isAsGood ? (['✓', 'green'] as const) : (['✗', 'red'] as const)
    out.write(`${paint(out, style, mark)} ${againSentence(again)}\n`)
  }
  return again.repeated.kind === 'stopped' ? 130 : again.isAsGood ? 0 : 1
}

export async function explainWhy(context: Context, name: string | undefined, json: boolean): Promise<number> {
  const { out } = context
  const { loop, explained } = await untilInterrupted((signal) =>
    explainGreen(context, name, {
      signal,
      saw(paths, passes) {
        const words = `With only the changes to ${paths.join(', ')}, the checks ${passes ? 'pass' : 'fail'}.`
        out.write(json ? jsonLine({ type: 'tried', paths, passes }) : `${paint(out, 'dim', words)}\n`)
      },
    }),
  )
  out.write(json ? jsonLine({ type: 'proof-explained', loop, ...explained }) : `${whySentence(explained)}\n`)
  if (explained.kind === 'stopped') return 130
  return explained.kind === 'cannot' || explained.kind === 'fails' ? 1 : 0
}

/** Ctrl-C stops the running check, and the worktree is removed. */
async function untilInterrupted<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const controller = new AbortController()
  const stop = () => controller.abort()
  process.on('SIGINT', stop).on('SIGTERM', stop).on('SIGHUP', stop)
  try {
    return await work(controller.signal)
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop).off('SIGHUP', stop)
  }
}

export function againSentence({ grade, repeated, isAsGood }: Again): string {
  if (repeated.kind !== 'graded') return notGraded(repeated)
  const { grade: now, sentence } = repeated
  if (grade === undefined) return `The loop has no grade; these files would get "${now}". ${sentence}`
  if (now === grade) return `Same grade again: ${now}. ${sentence}`
  return `${isAsGood ? 'Better' : 'Weaker'} grade: ${now} instead of ${grade}. ${sentence}`
}

function notGraded(repeated: Exclude<Repeated, { kind: 'graded' }>): string {
  switch (repeated.kind) {
    case 'bent':
      return `The checks pass only because of the changes to ${repeated.paths.join(', ')}: they also pass without the work, and fail without these changes.`
    case 'fails':
      return `${listed(repeated.checks)} ${repeated.checks.length === 1 ? 'does' : 'do'} not pass on these files in a clean worktree.`
    case 'stopped':
      return 'Interrupted. Nothing was changed.'
    case 'cannot':
      return `The proof cannot be repeated: ${repeated.why}`
  }
}

export function whySentence(explained: Explained): string {
  switch (explained.kind) {
    case 'untouched':
      return 'No tests or check configuration were changed.'
    case 'needless':
      return 'The checks also pass with the original tests and configuration, so they do not depend on the changed files.'
    case 'found':
      return foundSentence(explained)
    case 'fails':
    case 'stopped':
      return notGraded(explained)
    case 'cannot':
      return `Cannot tell: ${explained.why}`
  }
}

function foundSentence({ checks, paths, isSmallest }: Extract<Explained, { kind: 'found' }>): string {
  if (!isSmallest)
    return `${listed(checks)} ${checks.length === 1 ? 'needs' : 'need'} some of these changes, but there was no time to find out which: ${paths.join(', ')}`
  if (paths.length === 1) return `${paths[0]} alone makes ${listed(checks)} pass.`
  return `${listed(paths)} together make ${listed(checks)} pass; none of them can be left out.`
}

function listed(words: readonly string[]): string {
  return new Intl.ListFormat('en').format(words)
}

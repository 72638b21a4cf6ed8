/** The prompt for one turn: the task, how to claim it, and the outcome of the last iteration. */
import { claimTag } from '../engine/claim.ts'
import { iterationLimit } from '../engine/limits.ts'
import type { Loop, Next } from '../engine/loop.ts'
import { allChecks, openStages } from '../engine/stages.ts'

/**
 * A tag never stands alone on a line here, and what others said is quoted, so that an agent that repeats its prompt
 * claims nothing. `tools`: what it can report with.
 */
export function buildTurnPrompt(loop: Loop, next: Extract<Next, { kind: 'turn' }>, tools = ''): string {
  const parts = [
    loop.spec.prompt.trimEnd(),
    '---',
    whereWeAre(loop, next),
    howItIsChecked(loop),
    howToClaim(loop),
    HOW_TO_ASK,
    tools,
  ]
  return `${[...parts.filter(Boolean), ...lessons(next)].join('\n\n')}\n`
}

/** The task of one agent in a chain: `{previous}` stands for what the one before said; without it, that is appended. */
export function inChain(prompt: string, previous: string): string {
  if (prompt.includes('{previous}')) return prompt.replaceAll('{previous}', () => previous)
  return previous === '' ? prompt : `${prompt.trimEnd()}\n\nThe agent before you said:\n\n${quoted(previous)}`
}

/**
 * A short prompt for an agent that still has the task: where the loop is, how to claim, and what is new. `file`: where
 * the task is.
 */
export function buildReminder(loop: Loop, next: Extract<Next, { kind: 'turn' }>, file: string): string {
  const where = `This is iteration ${iterationWords(loop, next)} in the loop; the task and its rules have not changed.`
  const parts = [where, `The task is in ${file}.`, howToClaim(loop)]
  return `${[parts.filter(Boolean).join(' '), ...lessons(next)].join('\n\n')}\n`
}

/** What every turn of a loop reads: it applies until this changes. */
export function lastingWords(loop: Loop): string {
  const most = iterationLimit(loop.spec.limits, loop.tally)
  return [loop.spec.prompt, most, howItIsChecked(loop), howToClaim(loop)].join('\0')
}

/** The prompt for one task of a project; the rendered template says where the loop is and how to claim. */
export function buildTaskPrompt(rendered: string, loop: Loop, next: Extract<Next, { kind: 'turn' }>): string {
  const parts = [rendered.trimEnd(), '---', howItIsChecked(loop), HOW_TO_ASK, ...lessons(next)]
  return `${parts.filter(Boolean).join('\n\n')}\n`
}

function lessons({ feedback, iteration }: { feedback: readonly string[]; iteration: number }): string[] {
  if (feedback.length === 0) return []
  return [iteration === 1 ? 'What is known so far:' : 'Outcome of the last iteration:', ...feedback.map(quoted)]
}

function quoted(words: string): string {
  return words.replace(/^/gm, '> ')
}

function whereWeAre(loop: Loop, next: { iteration: number; fresh: boolean }): string {
  const remembers = loop.spec.work.context === 'same' && (!next.fresh || next.iteration === 1)
  return `This is iteration ${iterationWords(loop, next)} in a loop.${remembers ? '' : ' You have no memory of the earlier ones: the files and the git log show what they did.'} Nobody is watching: instead of asking, make a sensible choice and note it.`
}

function iterationWords({ spec, tally }: Loop, { iteration }: { iteration: number }): string {
  const most = iterationLimit(spec.limits, tally)
  return `${iteration}${most > 0 ? ` of at most ${most}` : ''}`
}

function howItIsChecked({ spec }: Loop): string {
  const checks = allChecks(spec).map((check) => `\`${check}\``)
  if (checks.length === 0) return ''
  return `Your word alone is not enough: ralph runs ${checks.join(' and ')} itself, and everything must pass. Do not weaken, skip or delete tests or checks.`
}

const HOW_TO_ASK =
  'If only a person can decide something, end your answer with the question between `<ask>` and `</ask>` on a line of its own.'

function howToClaim({ spec, tally }: Loop): string {
  const [stage] = openStages(spec, tally)
  if (stage) {
    const later = openStages(spec, tally).slice(1)
    return `The work is split into stages. The current stage is ${stage.name}: when it is done, and not before, put \`${claimTag(stage.name)}\` alone on the last line, after an empty line.${later.length > 0 ? ` Later stages: ${later.map(({ name }) => name).join(', ')}.` : ''}`
  }
  const claim = spec.promise ? claimTag(spec.promise) : spec.signals[0]
  if (!claim) return ''
  return `When the whole task is done, and not before, put \`${claim}\` alone on the last line, after an empty line.`
}

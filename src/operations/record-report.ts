/** Records the answers of operations for a report, so that its page needs no server. */
import { count } from '../engine/limits.ts'
import { ended, type Loop } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { type Answer, answerKey, type Recorded, type RecordedDetail } from '../formats/recorded.ts'
import { shareable } from '../formats/shareable.ts'
import { given } from '../request/given.ts'
import { listComments } from './comments.ts'
import { findLoop } from './find-loop.ts'
import { getActivity } from './get-activity.ts'
import { type AnalyticsFilter, getAnalytics, placed } from './get-analytics.ts'
import { getChecks } from './get-checks.ts'
import { getDiff } from './get-diff.ts'
import { getForecast } from './get-forecast.ts'
import { getIteration } from './get-iteration.ts'
import { getLoop } from './get-loop.ts'
import { getProof } from './get-proof.ts'
import { type ListingIterations, listIterations } from './list-iterations.ts'
import type { Context, Operation } from './operation.ts'
import { editorIn, foldersOf } from './personal.ts'
import { waitLoop } from './wait-loop.ts'

/** `redact`: removes names, addresses and paths. Secrets are always removed. */
export type Recording = { version: string; redact: boolean }

/** `title`: the prompt in one line. `details` come one at a time, because together they may be large. */
export type LoopRecord = { title: string; summary: Recorded; details: AsyncIterable<RecordedDetail> }

export async function recordLoop(context: Context, name: string | undefined, how: Recording): Promise<LoopRecord> {
  const found = await context.store().load(await findLoop(context, name))
  const { id: loop, spec } = found
  const edit = editorIn(context, { redact: how.redact, project: foldersOf(found) })
  const record = recorder(context, edit)
  const { answers, iterations } = await recordIterations(loop, record)
  const shown = inDetail(iterations)
  const left = iterations.length - shown.length
  const note =
    left > 0
      ? `${count(left, 'iteration')} in the middle ${left === 1 ? 'is' : 'are'} listed without details.`
      : undefined
  return {
    title: shareable(spec.prompt, edit),
    summary: {
      ...heading(context, how),
      kind: 'loop',
      loop,
      ...given({ note }),
      answers: [...(await recordWhole(found, record)), ...answers],
    },
    details: recordDetails(loop, shown, record),
  }
}

export async function recordStats(context: Context, asked: AnalyticsFilter, how: Recording): Promise<Recorded> {
  const { dir } = placed(context, asked)
  const edit = editorIn(context, { redact: how.redact, project: dir === undefined ? [] : [dir] })
  const filter = shareable(asked, edit)
  const value = shareable(await getAnalytics.run(context, asked), edit)
  // The page sends the same input as recorded here.
  const answers = [{ key: answerKey(getAnalytics.name, filter), value }]
  return { ...heading(context, how), kind: 'stats', filter, answers }
}

function heading({ now }: Context, { version }: Recording): Pick<Recorded, 'version' | 'made_at'> {
  return { version, made_at: now() }
}

type Recorder = <Input extends object, Output>(
  operation: Operation<Input, Output>,
  input: Input,
) => Promise<Answer & { value: Output }>

function recorder(context: Context, edit: (text: string) => string): Recorder {
  return async (operation, input) => ({
    key: answerKey(operation.name, input),
    value: shareable(await operation.run(context, input), edit),
  })
}

async function recordWhole(found: Loop, record: Recorder): Promise<Answer[]> {
  const { id: loop } = found
  return [
    await record(getLoop, { loop, brief: true }),
    await record(getChecks, { loop }),
    await record(getProof, { loop }),
    await record(listComments, { loop }),
    await record(waitLoop, { loop, after: 0, seconds: 0 }),
    ...(ended(found) ? [] : [await record(getForecast, { loop })]),
  ]
}

const PAGE = 1_000

/** All pages, and the iteration numbers. */
async function recordIterations(
  loop: string,
  record: Recorder,
): Promise<{ answers: Answer[]; iterations: readonly number[] }> {
  const answers: Answer[] = []
  const iterations: number[] = []
  let after: number | undefined
  do {
    const asked: ListingIterations = { loop, brief: true, limit: PAGE, ...given({ after }) }
    const page = await record(listIterations, asked)
    answers.push(page)
    iterations.push(...page.value.iterations.map(({ n }) => n))
    after = page.value.next
  } while (after !== undefined)
  return { answers, iterations }
}

/** The start and the end of a loop matter most. */
const FIRST = 20
const LAST = 180

export function inDetail(iterations: readonly number[]): readonly number[] {
  return iterations.length <= FIRST + LAST ? iterations : [...iterations.slice(0, FIRST), ...iterations.slice(-LAST)]
}

/** The most bytes of agent output, as the page requests them. */
const TRANSCRIPT = 262_144

async function* recordDetails(
  loop: string,
  iterations: readonly number[],
  record: Recorder,
): AsyncGenerator<RecordedDetail> {
  for (const iteration of iterations) {
    const asked = { loop, iteration }
    const isLast = iteration === iterations.at(-1)
    const parts = await Promise.all([
      record(getIteration, asked).then(withOwnNote),
      recordDiff(record, { ...asked, against: 'previous' }),
      isLast ? recordDiff(record, { ...asked, against: 'start' }) : [],
      record(getActivity, { ...asked, from: 0, to: TRANSCRIPT }),
    ])
    yield { iteration, answers: parts.flat() }
  }
}

/** Empty without a checkpoint. */
async function recordDiff(
  record: Recorder,
  asked: { loop: string; iteration: number; against: 'previous' | 'start' },
): Promise<Answer[]> {
  try {
    return [withOwnNote(await record(getDiff, asked))]
  } catch (cause) {
    if (cause instanceof RalphError && cause.code === 'checkpoint-missing') return []
    throw cause
  }
}

/** The usual note about missing lines is for readers who can request more. */
function withOwnNote({ key, value }: Answer & { value: { note?: string } }): Answer {
  const note = 'This diff is too long for a report: its last lines are omitted.'
  return { key, value: value.note === undefined ? value : { ...value, note } }
}

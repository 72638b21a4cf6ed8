/** `ralph show`: the history of a loop in plain sentences, or one iteration in full. */
import { once } from 'node:events'
import { type Refusals, refusalsOf } from '../../drive/refusals.ts'
import { shownFolder } from '../../engine/home-folder.ts'
import { ended, type Loop, type Next } from '../../engine/loop.ts'
import { agentsOf } from '../../engine/roster.ts'
import { cutWords } from '../../formats/amounts.ts'
import { beforeLines, gradeWords, proofFields } from '../../formats/proof-words.ts'
import { spent } from '../../formats/spent-words.ts'
import type { StoredEvent } from '../../host/store.ts'
import { readTurnLog } from '../../host/transcript.ts'
import { findLoop } from '../../operations/find-loop.ts'
import { getDiff } from '../../operations/get-diff.ts'
import { getIteration } from '../../operations/get-iteration.ts'
import { getLoop } from '../../operations/get-loop.ts'
import { listEvents } from '../../operations/list-events.ts'
import { printActivity } from './activity-view.ts'
import { type CommandSpec, parseArgs, usage } from './args.ts'
import type { Command, Context } from './context.ts'
import { REDACT, reportIn, writeReport } from './report.ts'
import {
  changedWords,
  diffWords,
  eventSentence,
  gradeOf,
  iterationMark,
  iterationSentence,
  nextSentence,
  printEnding,
  printStanding,
  settledOf,
} from './story.ts'
import { clock, jsonLine, paint, short, table } from './text.ts'

const spec: CommandSpec = {
  name: 'show',
  words: '[LOOP] [N] [options]',
  summary:
    'Shows the history of a loop, or iteration N in full: prompt, agent output, tool calls, changes and check results.',
  about: 'LOOP is a loop id or the start of one (default: the newest loop in this folder).',
  options: {
    raw: { help: 'with N: print the raw output of the agent instead of its messages and tool calls' },
    follow: { help: 'keep printing until the loop ends' },
    json: { help: 'print one JSON object per line: events, or with N the transcript' },
    output: {
      value: 'FILE',
      short: 'o',
      help: 'write a report: FILE.html opens offline in any browser, FILE.md is Markdown',
    },
    markdown: { help: 'print a short summary for a pull request description' },
    redact: REDACT,
  },
  examples: [
    ['ralph show -o report.html', 'a report on the newest loop in this folder, readable without ralph'],
    ['ralph show k3f 2', 'messages, tool calls, diff and checks of iteration 2'],
    ['ralph show k3f --markdown --redact', 'a summary for a pull request'],
  ],
}

export const show: Command = {
  spec,
  async run(argv, context) {
    const args = parseArgs(spec, argv)
    const [name, number, ...more] = args.words
    if (more.length > 0) throw usage(spec, `Unexpected argument: "${more[0]}".`)
    const report = reportIn(args)
    if (report && number !== undefined)
      throw usage(spec, 'A report covers the whole loop. Leave out the iteration number.')
    const id = await findLoop(context, name)
    if (report) return writeReport(context, id, report)
    if (number !== undefined)
      return showIteration(context, id, { number, json: args.flag('json'), asIs: args.flag('raw') })
    await tell(context, id, { json: args.flag('json'), follow: args.flag('follow') })
    return 0
  },
}

async function tell(context: Context, id: string, { json, follow }: { json: boolean; follow: boolean }): Promise<void> {
  const { loop, whose } = await getLoop.run(context, { loop: id, brief: true })
  const refusals = refusalsOf(loop)
  let seen = 0
  // A loop with checks starts by running them.
  let before: Pick<StoredEvent, 'next' | 'at'> = { next: { kind: 'check', checks: [], because: 'start' }, at: 0 }
  const print = async () => {
    const { events } = await listEvents.run(context, { loop: id, after: seen })
    for (const event of events) {
      seen = event.seq
      context.out.write(json ? jsonLine(event) : `${sentences(event, before)}\n`)
      refusals.see(event)
      before = event
    }
  }
  if (!json)
    context.out.write(
      `loop ${id} · agent ${agentsOf(loop.spec).join(', then ')} · ${shownFolder(loop)}\n${paint(context.out, 'dim', short(loop.spec.prompt, context.out.columns * 2))}\n${whose ? `${whose}\n` : ''}\n`,
    )
  if (follow) await untilEnded(context, id, print)
  await print() // catches events that arrived after the last look
  if (!json) context.out.write(await summary(context, id, refusals))
}

/** Prints new events until the loop has ended or the user presses Ctrl-C. */
async function untilEnded(context: Context, id: string, print: () => Promise<void>): Promise<void> {
  const store = context.store()
  const enough = once(process, 'SIGINT').then(() => true)
  const idle = setInterval(() => {}, 2 ** 30) // a pending promise alone does not keep the process alive
  try {
    for (let over = false; !over; ) {
      let unwatch = () => {}
      const changed = new Promise<boolean>((resolve) => {
        unwatch = store.onChange(() => resolve(false))
      })
      await print()
      over = ended(await store.load(id)) || (await Promise.race([changed, enough]))
      unwatch()
    }
  } finally {
    clearInterval(idle)
  }
}

function sentences(event: StoredEvent, before: Pick<StoredEvent, 'next' | 'at'>): string {
  const { at, fact, next } = event
  const why = isRefusal(event) ? ` Feedback for the agent: ${short(event.next.feedback.at(-1) ?? '', 300)}` : ''
  return `${new Date(at).toTimeString().slice(0, 8)}  ${eventSentence(fact, before.next, before.at)}${why} ${nextSentence(next, at)}`
}

/** An experiment refused the claim, so the agent continues. */
function isRefusal(event: StoredEvent): event is StoredEvent & { next: Extract<Next, { kind: 'turn' }> } {
  return event.fact.kind === 'proved' && event.next.kind === 'turn'
}

async function summary(context: Context, id: string, refusals: Refusals): Promise<string> {
  const { loop, iterations, standing } = await getLoop.run(context, { loop: id })
  const rows = iterations.map((row, index) => {
    const last = index === iterations.length - 1
    const grade = last ? gradeOf(loop) : undefined
    const pending = last && (loop.next.kind === 'check' || loop.next.kind === 'prove')
    const settled = settledOf(row, grade ? undefined : refusals.of(row.n))
    return [
      ...(loop.spec.agents ? [row.agent] : []),
      String(row.n),
      iterationMark(settled, grade),
      clock(row.endedAt - row.startedAt),
      changedWords(row),
      spent(row),
      iterationSentence(settled, grade, pending),
    ]
  })
  const head = [...(loop.spec.agents ? ['agent'] : []), 'n', ' ', 'time', 'changed', 'cost', 'outcome']
  return `${rows.length > 0 ? `\n${table([head, ...rows], context.out.columns)}` : ''}\n${printEnding(loop, context.out, standing)}`
}

async function showIteration(
  context: Context,
  id: string,
  { number, json, asIs }: { number: string; json: boolean; asIs: boolean },
): Promise<number> {
  if (!/^\d{1,9}$/.test(number)) throw usage(spec, `Not an iteration number: "${number}".`)
  const { loop } = await getLoop.run(context, { loop: id })
  const asked = { loop: id, iteration: Number(number) }
  const { row, diff: shown, note } = await getIteration.run(context, asked)
  const diff = note ? (await getDiff.run(context, { ...asked, limit: Number.POSITIVE_INFINITY })).text : shown
  const heads: string[] = []
  let cut = ''
  let found = false
  for await (const entry of readTurnLog(context.store().transcripts, id, Number(number))) {
    found = true
    if (json) context.out.write(jsonLine(entry))
    else if ('prompt' in entry) {
      const how = entry.command.length > 0 ? ` (${entry.command.join(' ')})` : ''
      const head = `${heading(context, `attempt ${entry.attempt}: prompt`)}${entry.prompt}\n${heading(context, `${asIs ? 'raw output' : 'output'}${how}`)}`
      if (asIs) context.out.write(head)
      else heads.push(head)
    } else if (!asIs) cut = 'limitMb' in entry ? heading(context, cutWords(entry)) : cut
    else if ('out' in entry) context.out.write(entry.out)
    else if ('err' in entry) context.out.write(entry.err)
    else if ('limitMb' in entry) context.out.write(heading(context, cutWords(entry)))
    else context.out.write(heading(context, `ended: ${entry.signal ?? `exit code ${entry.exit}`}`))
  }
  if (!json && !asIs && found) await printActivity(context, asked, (attempt) => context.out.write(heads[attempt] ?? ''))
  context.out.write(cut)
  if (!found && row && !json)
    context.out.write('The transcript of this iteration has been removed; see `ralph prune`.\n')
  if (json && diff !== undefined) context.out.write(jsonLine({ diff }))
  if (json && isLast(loop, number)) context.out.write(jsonLine(proofFields(loop)))
  if (json || !row) return 0
  if (diff) context.out.write(`${heading(context, `changes (${diffWords(row.diff)})`)}${colored(context, diff)}\n`)
  for (const verdict of row.verdicts)
    context.out.write(`${heading(context, `check ${verdict.check}: ${verdict.result}`)}${verdict.tail.trimEnd()}\n`)
  if (isLast(loop, number)) context.out.write(printProof(context, loop))
  return 0
}

function isLast({ tally }: Loop, number: string): boolean {
  return tally.iteration === Number(number)
}

/** The proof, shown with the iteration that completed the loop. */
function printProof(context: Context, loop: Loop): string {
  if (loop.next.kind !== 'complete') return ''
  const { next } = loop
  const before = beforeLines(loop).map((line) => `${line}\n`)
  return `${heading(context, `proof: ${gradeWords(next)}`)}${before.join('')}${printStanding(loop, context.out, next.sentence)}`
}

function colored({ out }: Context, diff: string): string {
  const style = (line: string) =>
    /^[+]/.test(line) ? 'green' : /^[-]/.test(line) ? 'red' : /^@@/.test(line) ? 'cyan' : undefined
  return diff
    .split('\n')
    .map((line) => {
      const found = style(line)
      return found ? paint(out, found, line) : line
    })
    .join('\n')
}

function heading(context: Context, text: string): string {
  return `\n${paint(context.out, 'cyan', `── ${text}`)}\n`
}

/** Lists the iterations of a loop, in order, one page at a time. */
import type { Report } from '../engine/report.ts'
import { cutTo, oneLine } from '../formats/one-line.ts'
import { given } from '../request/given.ts'
import { findLoop } from './find-loop.ts'
import { type Iteration, viewIterations } from './iteration-view.ts'
import type { Operation } from './operation.ts'

/** `after`: the number of the last known one. `brief`: one line of each message, and no check output. */
export type ListingIterations = { loop: string; after?: number; limit?: number; brief?: boolean }

/** `next` is set if more follow. */
export type ListedIterations = { loop: string; iterations: Iteration[]; next?: number }

export const listIterations: Operation<ListingIterations, ListedIterations> = {
  name: 'list_iterations',
  effect: 'read',
  summary: 'Lists the iterations of a loop: how each ended, its claim, check results, tokens, cost, commit.',
  agent: {},
  report: true,
  async run(context, { loop: name, after = 0, limit = 100, brief = false }) {
    const store = context.store()
    const loop = await store.load(await findLoop(context, name))
    const rows = await store.iterations(loop.id, { after, limit: limit + 1 }) // one extra: is there another page?
    const page = rows.slice(0, limit)
    const next = rows.length > limit ? page.at(-1)?.n : undefined
    const iterations = await viewIterations(store, loop, page)
    return { loop: loop.id, iterations: iterations.map(brief ? inBrief : inShort), ...given({ next }) }
  },
}

const WORDS_SHOWN = 1_000

/** Only the end of long texts; get_iteration returns all of them. */
function inShort(iteration: Iteration): Iteration {
  return {
    ...iteration,
    words: iteration.words.slice(-WORDS_SHOWN),
    verdicts: iteration.verdicts.map((verdict) => ({ ...verdict, tail: verdict.tail.slice(-WORDS_SHOWN) })),
  }
}

const LINE_SHOWN = 160

/** Small enough to list a thousand. */
function inBrief(iteration: Iteration): Iteration {
  const { words, verdicts, findings, reports, refused } = iteration
  return {
    ...iteration,
    words: cutTo(gistOf(words), LINE_SHOWN),
    verdicts: verdicts.map((verdict) => ({ ...verdict, tail: '' })),
    findings: findings.map(({ kind, path, words: found }) => ({ kind, path, words: cutTo(found, LINE_SHOWN) })),
    reports: reports.map(cutReport),
    ...given({ refused: refused === undefined ? undefined : cutTo(refused, LINE_SHOWN) }),
  }
}

/** The first line of the last paragraph, because agents summarize at the end. A bare promise says nothing. */
function gistOf(words: string): string {
  const paragraphs = words.split(/\n\s*\n/).filter((text) => text.trim() !== '')
  const last = paragraphs.findLast((text) => !/^<promise>[^<]*<\/promise>$/.test(text.trim())) ?? paragraphs.at(-1)
  return oneLine(last?.trim().split('\n')[0] ?? '')
}

function cutReport(report: Report): Report {
  switch (report.kind) {
    case 'stage':
      return { ...report, evidence: cutTo(report.evidence, LINE_SHOWN) }
    case 'blocked':
      return { ...report, reason: cutTo(report.reason, LINE_SHOWN) }
    case 'question':
      return { ...report, question: cutTo(report.question, LINE_SHOWN) }
  }
}

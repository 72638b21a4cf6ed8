/** `ralph stats`: statistics about past loops. */
import type { OwnerKind } from '../../engine/loop.ts'
import { parseSince } from '../../formats/since.ts'
import { exportLoops } from '../../operations/export-loops.ts'
import { type AnalyticsFilter, getAnalytics } from '../../operations/get-analytics.ts'
import { given } from '../../request/given.ts'
import { type Args, type CommandSpec, parseArgs, usage } from './args.ts'
import type { Command } from './context.ts'
import { REDACT, reportIn, writeStats } from './report.ts'
import { oneOf } from './request.ts'
import { printStats } from './stats-view.ts'
import { jsonLine } from './text.ts'

const OWNERS: readonly OwnerKind[] = ['person', 'project', 'vault', 'session', 'pane', 'board', 'fleet']

const spec: CommandSpec = {
  name: 'stats',
  words: '[options]',
  summary:
    'Shows statistics about past loops: outcomes, iterations, cost, false claims, and the checks that fail most often.',
  about: `Percentages come with their 95% confidence interval. See docs/analytics.md.`,
  options: {
    since: { value: 'TIME', help: 'only loops started since TIME: 24h, 7d, 2w, a date or a time' },
    until: { value: 'TIME', help: 'only loops started before TIME' },
    dir: { value: 'D', help: 'only loops in this folder' },
    agent: { value: 'A', help: 'only loops of this agent' },
    type: { value: 'TEXT', help: 'only loops of this kind of work' },
    owner: { value: 'KIND', help: 'only loops started by KIND: person, project, vault, session, pane, board or fleet' },
    group: { value: 'ID', help: 'only loops for tasks in this group of the board' },
    json: { help: 'print one JSON object' },
    csv: { help: 'print one row per loop, for spreadsheets' },
    output: { value: 'FILE', short: 'o', help: 'write a report: FILE.html opens offline in any browser' },
    redact: REDACT,
  },
  examples: [
    ['ralph stats --since 7d', 'the last week'],
    ['ralph stats --csv', 'all loops, for a spreadsheet'],
    ['ralph stats -o stats.html --redact', 'a report to share, without names and paths'],
  ],
}

const NONE = 'No loops yet. Start one: ralph run "Make the tests pass" --agent … --verify "npm test"\n'

export const stats: Command = {
  spec,
  async run(argv, context) {
    const { out } = context
    const args = parseArgs(spec, argv, 0)
    const filter = filterOf(args, context.now())
    if (args.flag('csv') && args.flag('json')) throw usage(spec, 'Use either --json or --csv, not both.')
    const report = reportIn(args)
    if (report) {
      await writeStats(context, filter, report)
      return 0
    }
    if (args.flag('csv')) {
      out.write((await exportLoops.run(context, filter)).csv)
      return 0
    }
    const analytics = await getAnalytics.run(context, filter)
    if (args.flag('json')) out.write(jsonLine(analytics))
    else if (analytics.loops > 0) out.write(printStats(analytics, out.columns))
    else out.write(Object.keys(filter).length > 0 ? 'No loops match these filters.\n' : NONE)
    return 0
  },
}

function filterOf(args: Args, now: number): AnalyticsFilter {
  return given({
    since: timeOf(args, 'since', now),
    until: timeOf(args, 'until', now),
    dir: args.text('dir'),
    agent: args.text('agent'),
    type: args.text('type'),
    owner: oneOf(args, 'owner', OWNERS),
    project_id: args.text('group'),
  })
}

function timeOf(args: Args, name: 'since' | 'until', now: number): number | undefined {
  const text = args.text(name)
  if (text === undefined) return undefined
  const time = parseSince(text, now)
  if (time === undefined)
    throw usage(spec, `--${name} must be a time in the past, such as 24h, 7d or 2026-11-01, got "${text}".`)
  return time
}

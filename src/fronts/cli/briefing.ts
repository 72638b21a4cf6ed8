/** `ralph briefing`: what happened in a vault, and what to do next. */
import { printBriefing } from '../../formats/briefing.ts'
import { parseSince } from '../../formats/since.ts'
import { briefVault } from '../../operations/brief-vault.ts'
import { type CommandSpec, parseArgs, usage } from './args.ts'
import type { Command } from './context.ts'
import { jsonLine } from './text.ts'

const spec: CommandSpec = {
  name: 'briefing',
  words: '[VAULT] [options]',
  summary: 'Summarizes a vault in Markdown: what is done, what is stuck, what is waiting for you, and what to do next.',
  about:
    'VAULT defaults to RALPH_VAULT, then to the vault that contains this folder. Waiting and running tasks are always listed.',
  options: {
    since: {
      value: 'WHEN',
      help: 'start of the period: 90m, 24h, 7d, a date such as 2026-11-15, or a time (default: 24h)',
    },
    json: { help: 'print it as one JSON object' },
  },
  examples: [
    ['ralph briefing ~/Vault', 'the last day'],
    ['ralph briefing ~/Vault --since 7d', 'the last week'],
  ],
}

export const briefing: Command = {
  spec,
  async run(argv, context) {
    const args = parseArgs(spec, argv, 1)
    const given = args.text('since') ?? '24h'
    const since = parseSince(given, context.now())
    if (since === undefined)
      throw usage(
        spec,
        `--since must be a time in the past, such as 90m, 24h, 7d, 2026-11-15 or 2026-11-15T08:00, got "${given}".`,
      )
    const [named] = args.words
    const found = await briefVault.run(context, { since, ...(named === undefined ? {} : { vault: named }) })
    context.out.write(args.flag('json') ? jsonLine(found) : printBriefing(found))
    return 0
  },
}

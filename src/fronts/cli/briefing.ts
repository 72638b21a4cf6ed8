/** `ralph briefing`: what happened in a vault, and what a person should do now. */
import { printBriefing } from '../../formats/briefing.ts'
import { parseSince } from '../../formats/since.ts'
import { briefVault } from '../../operations/brief-vault.ts'
import { type CommandSpec, parseArgs, usage } from './args.ts'
import type { Command } from './context.ts'
import { jsonLine } from './text.ts'

const spec: CommandSpec = {
  name: 'briefing',
  words: '[VAULT] [options]',
  summary: 'Tells in Markdown what was done in a vault, what is stuck, what waits for you, and what to do next.',
  about:
    'Without VAULT: RALPH_VAULT, else the one this folder lies in. What waits or is under way is told whatever its age.',
  options: {
    since: { value: 'WHEN', help: 'from when on: 90m, 24h (default), 7d, a day as 2026-11-15, or a time' },
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
        `--since must be a time that is over, such as 90m, 24h, 7d, 2026-11-15 or 2026-11-15T08:00, but is "${given}".`,
      )
    const [named] = args.words
    const found = await briefVault.run(context, { since, ...(named === undefined ? {} : { vault: named }) })
    context.out.write(args.flag('json') ? jsonLine(found) : printBriefing(found))
    return 0
  },
}

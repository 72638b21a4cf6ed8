/** `ralph stats`: what all loops together tell. */
import { GRADES } from '../../engine/loop.ts'
import { stats as operation } from '../../operations/stats.ts'
import { type CommandSpec, parseArgs } from './args.ts'
import type { Command } from './context.ts'
import { count, money, table } from './text.ts'

const spec: CommandSpec = {
  name: 'stats',
  words: '[options]',
  summary: 'Numbers over all loops: how they ended, false claims caught, iterations, cost, by agent.',
  options: { json: { help: 'print one JSON object' } },
}

export const stats: Command = {
  spec,
  async run(argv, context) {
    const { out } = context
    const args = parseArgs(spec, argv, 0)
    const totals = await operation.run(context, {})
    if (args.flag('json')) {
      out.write(`${JSON.stringify(totals)}\n`)
      return 0
    }
    if (totals.loops === 0) {
      out.write('No loops yet. Start one: ralph run "Make the tests pass" --agent … --verify "npm test"\n')
      return 0
    }
    const mean = totals.meanIterationsToDone
    out.write(
      table(
        [
          ['loops', String(totals.loops)],
          ['completed', GRADES.map((grade) => `${totals.byProof[grade]} ${grade}`).join(', ')],
          ['false claims caught', String(totals.falseClaims)],
          ['iterations', `${totals.iterations}${mean === undefined ? '' : `; ${mean.toFixed(1)} on average to done`}`],
          ['tokens', String(totals.tokens)],
          ['cost', money(totals.costUsd)],
          ...Object.entries(totals.byReason).map(([reason, number]) => [`halted: ${reason}`, count(number, 'loop')]),
        ],
        out.columns,
      ),
    )
    const head = ['agent', 'loops', 'completed', 'iterations', 'cost']
    const rows = totals.byAgent.map((row) => [
      row.agent,
      String(row.loops),
      String(row.completed),
      String(row.iterations),
      money(row.costUsd),
    ])
    out.write(`\n${table([head, ...rows], out.columns)}`)
    return 0
  },
}

/** Options and messages shared by the commands about one loop. */
import type { Changes } from '../../operations/begin-again.ts'
import type { Given } from '../../operations/give-order.ts'
import { standingOf } from '../../operations/standing.ts'
import { given } from '../../request/given.ts'
import { type Args, usage } from './args.ts'
import type { Context } from './context.ts'

export const LOOP_WORDS =
  'LOOP is a loop id or the start of one, the name of a project in this folder, or a fleet task (default: the newest loop in this folder).'

export const DRIVING = {
  notify: { help: 'when it stops: terminal bell, desktop notification and the configured webhook' },
  json: { help: 'print one JSON object per line' },
} as const

/** What a fork or a retry can change. */
export const AGAIN = {
  agent: { value: 'A[,B…]', help: 'switch to another agent' },
  'max-iterations': { value: 'N', help: 'change the iteration limit; 0: no limit' },
  timeout: { value: 'MIN', help: 'change the time limit, in minutes' },
} as const

export function changesIn(args: Args): Changes {
  const limits = given({ iterations: args.whole('max-iterations', 0), minutes: args.amount('timeout') })
  return given({ agent: args.text('agent'), limits: Object.keys(limits).length > 0 ? limits : undefined })
}

/** `driver`: what to print for a loop that a process is running. */
export async function givenWords(
  context: Context,
  { loop: id, heard, session }: Given,
  driver: string,
): Promise<string> {
  if (heard === 'driver') return `Loop ${id} ${driver}\n`
  if (heard === 'session')
    return `Loop ${id} will pick this up when it continues: resume it in ${session}, or pause it and resume it here.\n`
  return `Loop ${id}: ${standingOf(await context.store().load(id)).sentence}\n`
}

/** The loop, for commands that require one. */
export function loopNamed({ spec, words: [loop] }: Args): string {
  if (loop !== undefined) return loop
  throw usage(spec, `Name a loop: ralph ${spec.name} LOOP. \`ralph status\` lists all loops.`)
}

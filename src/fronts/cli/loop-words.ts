/** What the commands about one loop have in common. */
import type { Changes } from '../../operations/begin-again.ts'
import type { Given } from '../../operations/give-order.ts'
import { standingOf } from '../../operations/standing.ts'
import { given } from '../../request/given.ts'
import { type Args, usage } from './args.ts'
import type { Context } from './context.ts'

export const LOOP_WORDS =
  'LOOP is an id, the beginning of one, the name of a project in this folder, or a task of the fleet. Without it: the newest loop of this folder.'

export const DRIVING = {
  notify: { help: 'bell, desktop message and webhook when it stops' },
  json: { help: 'print one JSON object per line' },
} as const

/** What a loop that is begun again may do otherwise. */
export const AGAIN = {
  agent: { value: 'A[,B…]', help: 'switch to another agent' },
  'max-iterations': { value: 'N', help: 'another limit than before; 0 for none' },
  timeout: { value: 'MIN', help: 'another time limit than before, in minutes' },
} as const

export function changesIn(args: Args): Changes {
  const limits = given({ iterations: args.whole('max-iterations', 0), minutes: args.amount('timeout') })
  return given({ agent: args.text('agent'), limits: Object.keys(limits).length > 0 ? limits : undefined })
}

/** `driver`: what a loop does that somebody drives. */
export async function givenWords(
  context: Context,
  { loop: id, heard, session }: Given,
  driver: string,
): Promise<string> {
  if (heard === 'driver') return `Told loop ${id}. ${driver}\n`
  if (heard === 'session')
    return `Told loop ${id}. It hears it when it goes on: resume it in ${session}, or pause and resume it here.\n`
  return `Loop ${id}: ${standingOf(await context.store().load(id)).sentence}\n`
}

/** The loop that must be named. */
export function loopNamed({ spec, words: [loop] }: Args): string {
  if (loop !== undefined) return loop
  throw usage(spec, `Name a loop: ralph ${spec.name} LOOP. \`ralph status\` lists them.`)
}

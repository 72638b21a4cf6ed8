/** `ralph resume`: resumes a loop in this process. */
import { resume as operation } from '../../operations/resume.ts'
import { given } from '../../request/given.ts'
import { type CommandSpec, parseArgs, usage } from './args.ts'
import type { Command } from './context.ts'
import { driveHere } from './drive-here.ts'
import { DRIVING, givenWords, LOOP_WORDS } from './loop-words.ts'

const spec: CommandSpec = {
  name: 'resume',
  words: '[LOOP] [options]',
  summary: 'Resumes a loop that was paused, is waiting, was killed, or halted on a limit.',
  about: `${LOOP_WORDS}\nAn interrupted turn is repeated; no iteration is counted twice. A loop that waits for a rate limit tries again at once, and an open breaker is reset.\nA loop that halted on a limit needs a higher one. Limits are totals, counted from the start of the loop.`,
  options: {
    'max-iterations': { value: 'N', help: 'total iteration limit; 0: no limit' },
    timeout: { value: 'MIN', help: 'total time limit in minutes, not counting the time since the loop ended' },
    'max-cost': { value: 'USD', help: 'total cost limit' },
    'max-tokens': { value: 'N', help: 'total token limit' },
    ...DRIVING,
  },
  examples: [['ralph resume k3f --max-iterations 20', 'ten more iterations for a loop that has used its ten']],
}

export const resume: Command = {
  spec,
  async run(argv, context) {
    const args = parseArgs(spec, argv)
    const [loop, ...more] = args.words
    if (more.length > 0) throw usage(spec, `Unexpected argument: "${more[0]}".`)
    const limits = given({
      iterations: args.whole('max-iterations', 0),
      minutes: args.amount('timeout'),
      costUsd: args.amount('max-cost'),
      tokens: args.whole('max-tokens', 1),
    })
    const isMore = Object.keys(limits).length > 0
    const resumed = await operation.run(context, { ...given({ loop }), ...(isMore ? { limits } : {}) })
    if (resumed.heard === 'nobody')
      return driveHere(context, resumed.loop, { json: args.flag('json'), notify: args.flag('notify') })
    context.out.write(
      await givenWords(context, resumed, isMore ? 'continues with these limits.' : 'tries again at once.'),
    )
    return 0
  },
}

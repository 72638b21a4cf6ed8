/** `ralph resume`: goes on with a loop, here. */
import { resume as operation } from '../../operations/resume.ts'
import { given } from '../../request/given.ts'
import { type CommandSpec, parseArgs, usage } from './args.ts'
import type { Command } from './context.ts'
import { driveHere } from './drive-here.ts'
import { DRIVING, givenWords, LOOP_WORDS } from './loop-words.ts'

const spec: CommandSpec = {
  name: 'resume',
  words: '[LOOP] [options]',
  summary: 'Goes on with a loop that was paused, waits, whose ralph was killed, or that halted on a limit.',
  about: `${LOOP_WORDS}\nA turn that was interrupted is tried again; no iteration is counted twice. A loop that waits for a rate limit is tried at once; an open breaker is reset.\nA loop that halted on a limit needs another one; all limits count from its beginning.`,
  options: {
    'max-iterations': { value: 'N', help: 'the iterations it may take in all; 0 for no count limit' },
    timeout: { value: 'MIN', help: 'its minutes in all, without the time in which it was over' },
    'max-cost': { value: 'USD', help: 'what it may spend in all' },
    'max-tokens': { value: 'N', help: 'the tokens it may use in all' },
    ...DRIVING,
  },
  examples: [['ralph resume k3f --max-iterations 20', 'ten more, for a loop that has used its ten']],
}

export const resume: Command = {
  spec,
  async run(argv, context) {
    const args = parseArgs(spec, argv)
    const [loop, ...more] = args.words
    if (more.length > 0) throw usage(spec, 'Name one loop.')
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
      await givenWords(context, resumed, isMore ? 'It goes on with these limits.' : 'It tries at once.'),
    )
    return 0
  },
}

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
  summary: 'Goes on with a loop that was paused, waits, or whose ralph was killed.',
  about: `${LOOP_WORDS}\nA turn that was interrupted is tried again; no iteration is counted twice. A loop that waits for a rate limit is tried at once; an open breaker is reset.`,
  options: DRIVING,
}

export const resume: Command = {
  spec,
  async run(argv, context) {
    const args = parseArgs(spec, argv)
    const [loop, ...more] = args.words
    if (more.length > 0) throw usage(spec, 'Name one loop.')
    const resumed = await operation.run(context, given({ loop }))
    if (resumed.heard === 'nobody')
      return driveHere(context, resumed.loop, { json: args.flag('json'), notify: args.flag('notify') })
    context.out.write(await givenWords(context, resumed, 'It tries at once.'))
    return 0
  },
}

/** `ralph accept`: takes the work of a loop over. */
import { accept as operation } from '../../operations/accept.ts'
import { type CommandSpec, parseArgs } from './args.ts'
import type { Command } from './context.ts'
import { loopNamed } from './loop-words.ts'

const spec: CommandSpec = {
  name: 'accept',
  words: 'LOOP [options]',
  summary: 'Merges the work of a loop that ran with --worktree into your branch, and removes its work tree.',
  about:
    'What the agent left uncommitted is committed first, with your hooks. If it does not merge, nothing is changed.',
  options: { branch: { help: 'do not merge: leave the branch, ready for a pull request' } },
}

export const accept: Command = {
  spec,
  async run(argv, context) {
    const args = parseArgs(spec, argv, 1)
    const merge = !args.flag('branch')
    const { branch, base } = await operation.run(context, { loop: loopNamed(args), merge })
    context.out.write(
      merge ? `Merged into ${base}.\n` : `The branch ${branch} is ready: git push -u origin ${branch}\n`,
    )
    return 0
  },
}

/** `ralph accept`: takes the work of a loop over. */
import { ended } from '../../engine/loop.ts'
import { accept as operation } from '../../operations/accept.ts'
import { findLoop } from '../../operations/find-loop.ts'
import { getLoop } from '../../operations/get-loop.ts'
import { standingOf } from '../../operations/standing.ts'
import { type CommandSpec, parseArgs } from './args.ts'
import type { Command } from './context.ts'
import { loopNamed } from './loop-words.ts'
import { printStanding } from './story.ts'

const spec: CommandSpec = {
  name: 'accept',
  words: 'LOOP [options]',
  summary: 'Merges the work of a loop that ran with --worktree into your branch, and removes its work tree.',
  about:
    'What the agent left uncommitted is committed first, with your hooks. If it does not merge, nothing is changed. Its commit carries the trailers Ralph-Loop and Ralph-Proof.',
  options: { branch: { help: 'do not merge: leave the branch, ready for a pull request' } },
}

export const accept: Command = {
  spec,
  async run(argv, context) {
    const args = parseArgs(spec, argv, 1)
    const merge = !args.flag('branch')
    const id = await findLoop(context, loopNamed(args))
    const { loop } = await getLoop.run(context, { loop: id })
    if (ended(loop)) context.out.write(printStanding(loop, context.out, standingOf(loop).sentence))
    const { branch, base } = await operation.run(context, { loop: id, merge })
    context.out.write(
      merge ? `Merged into ${base}.\n` : `The branch ${branch} is ready: git push -u origin ${branch}\n`,
    )
    return 0
  },
}

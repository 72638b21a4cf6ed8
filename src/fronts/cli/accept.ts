/** `ralph accept`: merges the work of a loop. */
import type { AcceptHow } from '../../drive/accept.ts'
import { ended } from '../../engine/loop.ts'
import { type Accepted, accept as operation } from '../../operations/accept.ts'
import { findLoop } from '../../operations/find-loop.ts'
import { getLoop } from '../../operations/get-loop.ts'
import { standingOf } from '../../operations/standing.ts'
import { type Args, type CommandSpec, parseArgs, usage } from './args.ts'
import type { Command } from './context.ts'
import { loopNamed } from './loop-words.ts'
import { printStanding } from './story.ts'
import { jsonLine } from './text.ts'

const spec: CommandSpec = {
  name: 'accept',
  words: 'LOOP [options]',
  summary: 'Merges the work of a loop that ran with --worktree into your branch and removes its worktree.',
  about: `Uncommitted work is committed first, with your hooks; hooks and git settings that the loop changed are listed and not used. If
the merge fails, nothing changes. The commit gets the trailers Ralph-Loop and Ralph-Proof, but no Ralph-Proof if files changed after
the loop ended. If ralph is killed during the merge, the next accept, status or doctor restores your files and says so.`,
  options: {
    squash: { help: 'merge as a single commit' },
    branch: { help: 'do not merge; keep the branch for a pull request' },
    json: { help: 'print one JSON object' },
  },
}

export const accept: Command = {
  spec,
  async run(argv, context) {
    const args = parseArgs(spec, argv, 1)
    const how = howOf(args)
    const id = await findLoop(context, loopNamed(args))
    const { loop } = await getLoop.run(context, { loop: id })
    const json = args.flag('json')
    if (ended(loop) && !json) context.out.write(printStanding(loop, context.out, standingOf(loop).sentence))
    const accepted = await operation.run(context, { loop: id, how })
    context.out.write(json ? jsonLine(lineOf(accepted, how)) : `${wordsOf(accepted, how)}${changesOf(accepted)}`)
    return 0
  },
}

function howOf(args: Args): AcceptHow {
  if (args.flag('squash') && args.flag('branch')) throw usage(spec, 'Use either --squash or --branch, not both.')
  return args.flag('squash') ? 'squash' : args.flag('branch') ? 'branch' : 'merge'
}

function lineOf({ loop, branch, base, proof, unchecked, nothing, changes }: Accepted, how: AcceptHow): object {
  return {
    type: 'accept',
    loop_id: loop,
    branch,
    merged_into: how === 'branch' || nothing ? null : base,
    squashed: how === 'squash' && !nothing,
    proof: proof ?? null,
    unchecked: unchecked ?? null,
    ...(changes ? { changes } : {}),
  }
}

function changesOf({ changes = [] }: Accepted): string {
  return changes.map((sentence) => `${sentence}\n`).join('')
}

function wordsOf({ branch, base, unchecked, nothing }: Accepted, how: AcceptHow): string {
  if (nothing) return `${base} already contains this work, so no commit was made.\n`
  const done =
    how === 'branch'
      ? `The branch ${branch} is ready: git push -u origin ${branch}`
      : `Merged into ${base}${how === 'squash' ? ' as one commit' : ''}.`
  if (unchecked === 'changed')
    return `${done}\nFiles changed after the loop ended, so the commit has no Ralph-Proof trailer.\n`
  if (unchecked === 'merged') return `${done}\n${base} has new commits, so the merged files have not been checked.\n`
  return `${done}\n`
}

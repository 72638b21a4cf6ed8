/** `ralph rollback`, `undo` and `accept`: what a person does with the work of a loop. */

import { accept as acceptLoop, type Desk, rollback as rollBack, undo as undoRollback } from '../../drive/rollback.ts'
import { RalphError } from '../../error.ts'
import { holderOf } from '../../session/elsewhere.ts'
import { type CommandSpec, parseArgs, usage } from './args.ts'
import { type Command, type Context, findLoop } from './context.ts'

const rollbackSpec: CommandSpec = {
  name: 'rollback',
  words: 'LOOP N',
  summary: 'Puts files, HEAD and index back to how they were after iteration N; 0 is the start.',
  about: `Ignored files stay as they are. What is there now is kept first, so \`ralph undo LOOP\` brings it back.
A loop that has not ended goes on from there with \`ralph resume\`. Submodules are left alone.`,
  options: {},
  examples: [['ralph rollback k3f 0', 'as if the loop had never run']],
}

export const rollback: Command = {
  spec: rollbackSpec,
  async run(argv, context) {
    const [name, number, ...more] = parseArgs(rollbackSpec, argv).words
    if (name === undefined || number === undefined || more.length > 0)
      throw usage(rollbackSpec, 'Name a loop and an iteration: ralph rollback LOOP 2.')
    if (!/^\d{1,9}$/.test(number)) throw usage(rollbackSpec, `"${number}" is not the number of an iteration.`)
    const id = await findLoop(context, name)
    await mustNotBeInSession(context, id)
    const notes = await rollBack(deskOf(context), id, Number(number))
    const state = Number(number) === 0 ? 'before the loop began' : `after iteration ${Number(number)}`
    print(context, [`The files are as they were ${state}. Take that back: ralph undo ${id}`, ...notes])
    return 0
  },
}

/** The agent there would claim work that is not there any more. */
async function mustNotBeInSession(context: Context, id: string): Promise<void> {
  const holder = holderOf(context.home, id)
  if (holder !== undefined && (await context.store().load(id)).next.kind === 'turn')
    throw new RalphError('loop-held', `Loop ${id} is at work in ${holder}. Pause it first: ralph pause ${id}`)
}

const undoSpec: CommandSpec = {
  name: 'undo',
  words: 'LOOP',
  summary: 'Takes the last rollback of a loop back, also the one that --on-halt made.',
  options: {},
}

export const undo: Command = {
  spec: undoSpec,
  async run(argv, context) {
    const id = await oneLoop(undoSpec, argv, context)
    await mustNotBeInSession(context, id)
    const notes = await undoRollback(deskOf(context), id)
    print(context, ['The files are as they were before the rollback.', ...notes])
    return 0
  },
}

const acceptSpec: CommandSpec = {
  name: 'accept',
  words: 'LOOP [options]',
  summary: 'Merges the work of a loop that ran with --worktree into your branch, and removes its work tree.',
  about:
    'What the agent left uncommitted is committed first, with your hooks. If it does not merge, nothing is changed.',
  options: { branch: { help: 'do not merge: leave the branch, ready for a pull request' } },
}

export const accept: Command = {
  spec: acceptSpec,
  async run(argv, context) {
    const merge = !parseArgs(acceptSpec, argv).flag('branch')
    const id = await oneLoop(acceptSpec, argv, context)
    const { branch, base } = await acceptLoop(deskOf(context), id, { merge })
    print(context, [merge ? `Merged into ${base}.` : `The branch ${branch} is ready: git push -u origin ${branch}`])
    return 0
  },
}

async function oneLoop(spec: CommandSpec, argv: readonly string[], context: Context): Promise<string> {
  const { words } = parseArgs(spec, argv, 1)
  if (words[0] === undefined) throw usage(spec, `Name a loop: ralph ${spec.name} LOOP. \`ralph status\` lists them.`)
  return findLoop(context, words[0])
}

function deskOf(context: Context): Desk {
  return { store: context.store(), home: context.home }
}

function print(context: Context, lines: readonly string[]): void {
  context.out.write(`${lines.join('\n')}\n`)
}

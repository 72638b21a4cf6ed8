/** `ralph allow`: accepts changed tests or configuration. */
import { statusOf } from '../../engine/loop.ts'
import { type Allowed, allow as operation } from '../../operations/allow.ts'
import { standingOf } from '../../operations/standing.ts'
import { type CommandSpec, parseArgs } from './args.ts'
import type { Command, Context } from './context.ts'
import { driveHere } from './drive-here.ts'
import { DRIVING, loopNamed } from './loop-words.ts'
import { jsonLine } from './text.ts'

const spec: CommandSpec = {
  name: 'allow',
  words: 'LOOP [PATH…] [options]',
  summary:
    'Allows the changes to tests or configuration that a loop asks you to allow, and continues it in this terminal.',
  about: `A loop waits for this when its checks pass only because the agent changed the tests or their configuration. PATH is one of the
files it names (default: all of them). The checks run again with these files as they are, and the proof records who allowed them.
To refuse, say what to do instead: ralph steer LOOP "restore the test". Agents cannot allow changes.`,
  options: DRIVING,
}

export const allow: Command = {
  spec,
  async run(argv, context) {
    const args = parseArgs(spec, argv)
    const json = args.flag('json')
    const [, ...paths] = args.words
    const allowed = await operation.run(context, { loop: loopNamed(args), paths })
    context.out.write(json ? jsonLine(await lineOf(context, allowed)) : `${await wordsOf(context, allowed)}\n`)
    return allowed.heard === 'nobody' ? driveHere(context, allowed.loop, { json, notify: args.flag('notify') }) : 0
  },
}

async function lineOf({ store }: Context, { loop, paths, heard }: Allowed): Promise<object> {
  return { type: 'allow', loop_id: loop, paths, heard, status: statusOf(await store().load(loop)) }
}

async function wordsOf({ store }: Context, allowed: Allowed): Promise<string> {
  const { loop: id, paths } = allowed
  const lead = `Allowed loop ${id} to keep its changes to ${paths.join(', ')}.`
  switch (allowed.heard) {
    case 'nobody':
      return lead
    case 'driver':
      return `${lead} It takes effect now.`
    case 'later':
      return `${lead} ${allowed.how}`
    case 'session':
      return `${lead} It is not done yet, and continues with the next turn in ${allowed.session}.`
    case 'here': {
      const { sentence, hint } = standingOf(await store().load(id))
      return `${lead}\nLoop ${id}: ${sentence}\n${hint}`
    }
  }
}

/** `ralph allow`: lets changed tests or configuration stand. */
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
  summary: 'Accepts the changes to tests or configuration that a loop is waiting on, and continues the loop here.',
  about: `A loop waits for this when its checks pass only because of what the agent changed in the tests or in their configuration.
PATH is one of the files it names; without PATH, all of them. The checks are tried again with these files as they are, and the proof
says who allowed them. To refuse, say what to do instead: ralph steer LOOP "put the test back". No agent can allow anything.`,
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
  const lead = `Loop ${id} may keep its changes to ${paths.join(', ')}.`
  switch (allowed.heard) {
    case 'nobody':
      return lead
    case 'driver':
      return `${lead} Whoever drives it hears that now.`
    case 'later':
      return `${lead} ${allowed.how}`
    case 'session':
      return `${lead} It is not done yet, and goes on at the next turn of ${allowed.session}.`
    case 'here': {
      const { sentence, hint } = standingOf(await store().load(id))
      return `${lead}\nLoop ${id}: ${sentence}\n${hint}`
    }
  }
}

/** `ralph interview`: agents ask about a project's spec in this terminal, and the last one writes its tasks. */
import { resolve } from 'node:path'
import { isatty } from 'node:tty'
import { RalphError } from '../../error.ts'
import type { TaskList } from '../../formats/tasks.ts'
import { readText } from '../../host/config.ts'
import { type Interviewing, interviewProject } from '../../operations/interview-project.ts'
import { given } from '../../request/given.ts'
import { type Args, type CommandSpec, parseArgs } from './args.ts'
import type { Command, Context } from './context.ts'
import { projectName } from './init.ts'
import { oneOf, withHelp } from './request.ts'
import { count, paint, short } from './text.ts'
import { bypassLine } from './view.ts'

const spec: CommandSpec = {
  name: 'interview',
  words: 'NAME [options] [-- arguments for the agent]',
  summary: 'Lets agents interview you about the spec of a project, then write its tasks.',
  about: `Each round is a new agent in this terminal that reads the spec, asks you questions, and adds your answers to the spec; the last
one writes tasks.json. Talk to it as usual. When it is finished, ralph ends it and starts the next round.
Exit codes: 0 tasks written, 1 a round failed, 2 usage error, 3 agent missing or unusable, 130 stopped.`,
  options: {
    rounds: { value: 'N', help: 'number of rounds, each with a new agent (default: 3)' },
    agent: {
      value: 'A',
      help: 'agent to use: a name from `ralph doctor`, command:"program with arguments", or auto (default: auto, or RALPH_AGENT)',
    },
    model: { value: 'M', help: 'model for the agent to use' },
    permissions: {
      value: 'MODE',
      help: 'bypass (default: the agent never asks for permission) or ask (it may do only what its own settings allow)',
    },
    'non-interactive': { value: 'ANSWERS', help: 'let the agents read your answers from this file instead of asking' },
    dir: { value: 'D', help: 'folder of the project (default: the current one)' },
  },
  examples: [
    ['ralph interview shop', 'three rounds of questions, then the tasks'],
    ['ralph interview shop --rounds 1 --non-interactive answers.md', 'in CI, without a terminal'],
  ],
}

export const interview: Command = {
  spec,
  async run(argv, context) {
    const args = parseArgs(spec, argv, 1)
    const { out } = context
    const rounds = args.whole('rounds', 1) ?? 3
    const asked: Interviewing = given({
      project: projectName(args),
      rounds,
      agentArgs: args.rest,
      dir: args.text('dir'),
      agent: args.text('agent'),
      model: args.text('model'),
      permissions: oneOf(args, 'permissions', ['bypass', 'ask']),
    })
    const say = (text: string) => out.write(`${text}\n`)
    const stopping = stopOnSignal(args.text('non-interactive') !== undefined)
    try {
      const interviewing = interviewProject(context, asked, {
        answers: () => answersOf(args, context),
        say,
        signal: stopping.signal,
        leave: stopping.leave,
        saw: (event) => event.kind === 'text' && out.write(`    ${short(event.text, out.columns - 4)}\n`),
        failed: (words) => say(`The agent failed: ${short(words, 500)}`),
        begin(how) {
          const title = `${paint(out, 'bold', 'ralph')} interview ${paint(out, 'cyan', how.project.name)}`
          say(`${title} · agent ${how.agent} · ${count(rounds, 'round')}`)
          const lines = [bypassLine([how.agent], how.permissions), how.why, how.isBlank ? BLANK : undefined]
          for (const line of lines) if (line) say(line)
        },
      })
      const { project, list } = await withHelp(spec, interviewing)
      say(
        list
          ? endingOf(project, list)
          : `Stopped. What was written is kept. Start again: ralph interview ${project.name}`,
      )
      return list ? 0 : 130
    } finally {
      stopping.release()
    }
  },
}

const BLANK =
  'The spec is still the empty template, so the agents will ask you about everything. It helps to write a few lines first.'

function endingOf({ name, folder }: { name: string; folder: string }, { tasks }: TaskList): string {
  return `${count(tasks.length, 'task')} in ${folder}/tasks.json. Next: ralph execute ${name}`
}

/** Undefined when the user answers in this terminal. */
function answersOf(args: Args, context: Context): string | undefined {
  const file = args.text('non-interactive')
  if (file === undefined) mustBeTerminal()
  return file === undefined ? undefined : readText(resolve(context.cwd, file), 'answers')
}

function mustBeTerminal(): void {
  if (isatty(0) && isatty(1)) return
  throw new RalphError(
    'usage',
    'An interview needs a terminal, because the agents talk to you. Without one, write your answers to a file and pass --non-interactive FILE.',
  )
}

/** In a terminal, Ctrl-C goes to the agent. Without one it ends the interview, as SIGTERM and SIGHUP always do. */
function stopOnSignal(alone: boolean): { signal: AbortSignal; leave(): void; release(): void } {
  const stop = new AbortController()
  const names: NodeJS.Signals[] = ['SIGTERM', 'SIGHUP', ...(alone ? (['SIGINT'] as const) : [])]
  const onSignal = () => stop.abort()
  for (const name of names) process.on(name, onSignal)
  return {
    signal: stop.signal,
    leave: onSignal,
    release: () => {
      for (const name of names) process.off(name, onSignal)
    },
  }
}

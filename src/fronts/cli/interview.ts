/** `ralph interview`: agents ask about a project's spec in this terminal, and the last one writes its tasks. */

import { resolve } from 'node:path'
import { isatty } from 'node:tty'
import type { TaskList } from '../../formats/tasks.ts'
import { loadConfig, readText } from '../../host/config.ts'
import { openProject, type Project } from '../../project/folder.ts'
import { blankSpec } from '../../project/init.ts'
import { holdInterview, type Interview, mustBeReady } from '../../project/interview.ts'
import { type Interviewer, talkInTerminal, workAlone } from '../../project/interview-agent.ts'
import { lockProject } from '../../project/open.ts'
import { withAnswers } from '../../prompt/interview-prompt.ts'
import { type Args, type CommandSpec, parseArgs, usage } from './args.ts'
import { type Command, type Context, selfIn, workFolder } from './context.ts'
import { projectName } from './init.ts'
import { chooseAgents, settingsOf } from './run-agent.ts'
import { count, type Output, paint, short } from './text.ts'
import { bypassLine } from './view.ts'

const spec: CommandSpec = {
  name: 'interview',
  words: 'NAME [options] [-- arguments for the agent]',
  summary: 'Has agents ask about the spec of a project, here in the terminal, and make tasks of it.',
  about: `Every round is a new agent that reads the spec, asks you, and writes down what it learned; the last one writes tasks.json.
Talk to it as you always do. When it is finished, ralph ends it and goes on with the next round by itself.
Exit codes: 0 the tasks are there, 1 a round did not come to its end, 2 wrong use, 3 agent missing or unusable, 130 stopped.`,
  options: {
    rounds: { value: 'N', help: 'how many agents ask, one after the other (default 3)' },
    agent: {
      value: 'A',
      help: 'who asks: auto (default), a name that `ralph doctor` lists, command:"program with arguments" (or RALPH_AGENT)',
    },
    model: { value: 'M', help: 'the model the agent shall use' },
    permissions: {
      value: 'MODE',
      help: 'bypass (default: the agent asks for no permission) or ask (only what its own settings allow)',
    },
    'non-interactive': { value: 'ANSWERS', help: 'nobody is there: agents read the answers in this file instead' },
    dir: { value: 'D', help: 'the folder the project is about' },
  },
  examples: [
    ['ralph interview shop', 'three rounds of questions, then the tasks'],
    ['ralph interview shop --rounds 1 --non-interactive answers.md', 'in a pipeline, where nobody can be asked'],
  ],
}

export const interview: Command = {
  spec,
  async run(argv, context) {
    const args = parseArgs(spec, argv, 1)
    const rounds = args.whole('rounds', 1) ?? 3
    const dir = workFolder(context, args.text('dir'))
    const project = openProject(dir, projectName(args))
    const isBlank = mustBeReady(project).trim() === blankSpec(project.name).trim()
    const answers = answersOf(args, context)
    const { agents, why } = await chooseAgents(args, { context, config: loadConfig(context.home, dir), dir })
    const [name = ''] = agents
    const { context: _, ...settings } = settingsOf(args, [name])
    const say = (text: string) => context.out.write(`${text}\n`)
    const title = `${paint(context.out, 'bold', 'ralph')} interview ${paint(context.out, 'cyan', project.name)}`
    say(`${title} · agent ${name} · ${count(rounds, 'round')}`)
    for (const line of [bypassLine([name], settings.permissions), why, isBlank ? BLANK : undefined]) if (line) say(line)

    const stopping = stopOnSignal(answers !== undefined)
    const { signal } = stopping
    const self = selfIn(context.root)
    const { env, now } = context
    const interviewer = { ...settings, name, project, signal, self, env, now, extraArgs: args.rest }
    const lock = lockProject(project)
    try {
      const list = await holdInterview({
        project,
        rounds,
        say,
        signal,
        ask: askingOf(interviewer, answers, { out: context.out, leave: stopping.leave }),
      })
      say(list ? endingOf(project, list) : `Stopped. What was written is kept. Again: ralph interview ${project.name}`)
      return list ? 0 : 130
    } finally {
      lock.release()
      stopping.release()
    }
  },
}

const BLANK =
  'The spec is still the empty template: the agents will have to ask for everything. A few lines in it help.'

function endingOf({ name, folder }: Project, { tasks }: TaskList): string {
  return `${count(tasks.length, 'task')} in ${folder}/tasks.json. Go on with: ralph execute ${name}`
}

/** Undefined when the person answers in this terminal. */
function answersOf(args: Args, context: Context): string | undefined {
  const file = args.text('non-interactive')
  if (file === undefined) mustBeTerminal()
  return file === undefined ? undefined : readText(resolve(context.cwd, file), 'answers')
}

function mustBeTerminal(): void {
  if (isatty(0) && isatty(1)) return
  throw usage(
    spec,
    'An interview needs a terminal, for the agents talk to you, but this is none. Write your answers into a file and give --non-interactive FILE.',
  )
}

/** `leave`: the person has had enough. */
function askingOf(
  interviewer: Interviewer,
  answers: string | undefined,
  { out, leave }: { out: Output; leave: () => void },
): Interview['ask'] {
  if (answers === undefined)
    return async (prompt, at) => {
      if (await talkInTerminal(interviewer, prompt, at)) leave()
    }
  return async (prompt, at) => {
    const wrong = await workAlone(interviewer, withAnswers(prompt, answers), at, (event) => {
      if (event.kind === 'text') out.write(`    ${short(event.text, out.columns - 4)}\n`)
    })
    if (wrong) out.write(`The agent did not end well (${short(wrong, 500)}).\n`)
  }
}

/** In a terminal Ctrl-C belongs to the agent; alone it ends the interview, as a closed terminal does everywhere. */
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

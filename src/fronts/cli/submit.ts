/** `ralph submit`: gives tasks to the fleet. */
import { notOnRemote, repoHere, submitterHere } from '../../operations/repo-here.ts'
import { projectTasks } from '../../operations/submit-project.ts'
import { type Submitted, type SubmittedTask, submitTasks } from '../../operations/submit-tasks.ts'
import { given } from '../../request/given.ts'
import { type Args, parseArgs, usage } from './args.ts'
import type { Command, Context } from './context.ts'
import { agentRequest, limitsRequest, parseStage, proofRequest, withHelp } from './request.ts'
import { promised, promptOf, typed } from './run.ts'
import { submitSpec } from './submit-options.ts'
import { waitHere } from './submit-wait.ts'
import { count, jsonLine } from './text.ts'

export const submit: Command = {
  spec: submitSpec,
  async run(argv, context) {
    const args = parseArgs(submitSpec, argv)
    const json = args.flag('json')
    const asked = await tasksOf(args, context)
    if (asked.length === 0) {
      context.out.write(json ? jsonLine({ type: 'submitted', tasks: [] }) : 'All tasks of the project are completed.\n')
      return 0
    }
    const { tasks } = await withHelp(submitSpec, submitTasks.run(context, { tasks: asked }))
    context.out.write(json ? jsonLine({ type: 'submitted', tasks }) : submittedWords(asked, tasks))
    if (!args.flag('wait')) return 0
    return waitHere(
      context,
      tasks.map(({ id }) => id),
      { json },
    )
  },
}

async function tasksOf(args: Args, context: Context): Promise<Submitted[]> {
  const project = args.text('project')
  if (project === undefined) {
    const forOne = given({
      prompt: await promptOf(args, context),
      title: args.text('title'),
      until: args.text('until'),
      stages: args.many('stage').map(parseStage),
      depends_on: args.many('depends-on'),
      touches: args.many('touches'),
    })
    return [{ ...(await forAll(args, context)), ...forOne }]
  }
  const odd = [
    ...FOR_ONE.filter((name) => args.flag(name)).map((name) => `--${name}`),
    ...args.words.map(() => 'a prompt'),
  ]
  if (odd[0] !== undefined)
    throw usage(submitSpec, `--project submits the tasks of tasks.json, so leave out ${odd[0]}.`)
  return projectTasks(context, project, await forAll(args, context))
}

const FOR_ONE = ['file', 'title', 'until', 'stage', 'depends-on', 'touches', 'completion-promise', 'signal']

type ForAll = Omit<Submitted, 'prompt'> & { submitter: string }

async function forAll(args: Args, context: Context): Promise<ForAll> {
  const labels = args
    .text('labels')
    ?.split(',')
    .map((label) => label.trim())
  return {
    ...(await placeIn(args, context)),
    ...given({
      agent: args.text('agent'),
      promise: promised(args),
      signals: args.many('signal'),
      checks: args.many('verify'),
      type: typed(args),
      limits: limitsRequest(args),
      priority: priorityOf(args),
      labels,
    }),
    ...agentRequest(args),
    ...proofRequest(args),
    submitter: args.text('submitter') ?? (await submitterHere(context)),
  }
}

/** A task that silently works in an empty folder is useless, so `--repo none` must be explicit. */
async function placeIn(args: Args, context: Context): Promise<Pick<Submitted, 'repo' | 'base'>> {
  const [repo, base] = [args.text('repo'), args.text('base')]
  if (repo === 'none') return given({ base })
  if (repo !== undefined) return given({ repo, base })
  const here = await repoHere(context)
  if (here.repo === undefined)
    throw usage(
      submitSpec,
      'This folder is not in a repository with a remote named origin. Use --repo URL, or --repo none for a task without a repository.',
    )
  if (base === undefined && here.base !== undefined)
    for (const text of await notOnRemote(context, here.base)) context.note(text)
  return given({ repo: here.repo, base: base ?? here.base })
}

function priorityOf(args: Args): number | undefined {
  const text = args.text('priority')
  if (text === undefined) return undefined
  if (/^-?\d{1,7}$/.test(text)) return Number(text)
  throw usage(submitSpec, `--priority must be a whole number between -1000000 and 1000000, got "${text}".`)
}

function submittedWords(asked: readonly Submitted[], tasks: readonly SubmittedTask[]): string {
  const [task, ...more] = tasks
  if (!task) return ''
  if (more.length === 0) {
    const where = asked[0]?.repo === undefined ? '' : ` Its branch is ${task.branch} in ${asked[0].repo}.`
    const waits = task.state === 'waiting' ? '; it waits for other tasks' : ''
    return `Submitted task ${task.id}${waits}.${where}\nFollow it: ralph status ${task.id} · ralph show ${task.id} --follow\n`
  }
  const ready = tasks.filter(({ state }) => state !== 'waiting').length
  return [
    `Submitted ${count(tasks.length, 'task')}, ${ready} ready to start:`,
    ...tasks.map(({ id }, index) => `  ${id}  ${asked[index]?.title ?? ''}`.trimEnd()),
    '',
  ].join('\n')
}

/** `ralph execute`: works through the tasks of a project. */
import { resolve } from 'node:path'
import { loadConfig } from '../../host/config.ts'
import { type Executed, type Executing, executeProject } from '../../operations/execute-project.ts'
import { given } from '../../request/given.ts'
import { type CommandSpec, parseArgs } from './args.ts'
import type { Command, Context } from './context.ts'
import { projectName } from './init.ts'
import { onInterrupt } from './interrupt.ts'
import { notifyText, type Reaching } from './notify.ts'
import { openProjectJsonView, openProjectView } from './project-view.ts'
import { agentRequest, limitsRequest, PROOF_OPTIONS, proofRequest, withHelp } from './request.ts'
import { runSpec } from './run-options.ts'

const SHARED = [
  'agent',
  'model',
  'permissions',
  'verify',
  'timeout',
  'max-cost',
  'max-tokens',
  'no-progress',
  'same-error',
  'overload',
  'on-limit',
  'silence',
  'check-timeout',
  ...PROOF_OPTIONS,
  'sandbox',
  'sandbox-allow',
  'dir',
  'notify',
  'json',
]

const spec: CommandSpec = {
  name: 'execute',
  words: 'NAME [options] [-- arguments for the agent]',
  summary: 'Works through the tasks of a project until all are completed.',
  about: `Reads .artefacts/NAME/tasks.json. Every task is a loop of its own; ralph chooses the next by what depends on it, counts the
attempts, runs the checks, commits, keeps the files of the project true, and writes results.md. Ctrl-C pauses after the
iterations under way, a second one stops at once; the same command goes on.
Exit codes: 0 all completed, 1 stopped short, 2 wrong use, 3 agent missing or unusable, 4 needs your input, 130 paused or cancelled.`,
  options: {
    iterations: {
      value: 'N',
      help: 'stop after N turns of agents, those that meet a rate limit not counted (default: all attempts that remain)',
    },
    parallel: {
      value: 'N',
      help: 'work on up to N tasks at the same time, each in its own worktree, merged one by one (default 1)',
    },
    ...Object.fromEntries(Object.entries(runSpec.options).filter(([name]) => SHARED.includes(name))),
  },
  examples: [
    ['ralph execute shop --verify "npm test"', 'one task after another; none is completed before the tests pass'],
    ['ralph execute shop --parallel 4 --agent claude', 'four at a time'],
  ],
}

export const execute: Command = {
  spec,
  async run(argv, context) {
    const args = parseArgs(spec, argv, 1)
    const project = projectName(args)
    const asked: Executing = {
      ...given({
        project,
        dir: args.text('dir'),
        agent: args.text('agent'),
        slots: args.whole('parallel', 1) ?? 1,
        iterations: args.whole('iterations', 1),
        checks: args.many('verify'),
        limits: limitsRequest(args),
      }),
      ...agentRequest(args),
      ...proofRequest(args),
    }
    const view = args.flag('json') ? openProjectJsonView(context) : openProjectView(context)
    const stopping = onInterrupt({
      pausing: `Pausing after the iterations under way. Press Ctrl-C again to stop at once. Go on later with: ralph execute ${project}`,
      say: view.say,
    })
    const reaching = args.flag('notify') ? reachOf(context, asked) : undefined
    try {
      const watching = { ...view, pause: stopping.rest, stop: stopping.stop }
      const executed = await withHelp(spec, executeProject(context, asked, watching))
      if (reaching) await tellEnd(reaching, project, executed)
      return exitCode(executed)
    } finally {
      stopping.release()
    }
  },
}

/** Asked for before an agent could change it. */
function reachOf(context: Context, { dir = '.' }: Executing): Reaching {
  return given({ context, webhook: loadConfig(context.home, resolve(context.cwd, dir)).notify_webhook })
}

async function tellEnd(reaching: Reaching, project: string, { stop }: Executed): Promise<void> {
  await notifyText(
    { title: `ralph: ${project} ${stop.reason === 'completed' ? 'is completed' : 'stopped'}`, text: stop.sentence },
    { type: 'project-end', project, reason: stop.reason, sentence: stop.sentence },
    reaching,
  )
}

function exitCode({ stop: { reason } }: Executed): number {
  switch (reason) {
    case 'completed':
      return 0
    case 'agent-unusable':
      return 3
    case 'needs-input':
      return 4
    case 'paused':
    case 'cancelled':
      return 130
    default:
      return 1
  }
}

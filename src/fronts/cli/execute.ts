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
  about: `Reads .artefacts/NAME/tasks.json. Every task gets its own loop. ralph picks the next task by its dependencies, counts attempts,
runs the checks, commits, keeps the project files up to date, and writes results.md. Ctrl-C pauses after the current iterations,
a second Ctrl-C stops at once; run the same command to resume.
Exit codes: 0 all completed, 1 stopped early, 2 usage error, 3 agent missing or unusable, 4 needs your input, 130 paused or cancelled.`,
  options: {
    iterations: {
      value: 'N',
      help: 'stop after N agent turns, not counting rate-limited ones (default: all remaining attempts)',
    },
    parallel: {
      value: 'N',
      help: 'work on up to N tasks at once, each in its own worktree, merged one by one (default: 1)',
    },
    ...Object.fromEntries(Object.entries(runSpec.options).filter(([name]) => SHARED.includes(name))),
  },
  examples: [
    ['ralph execute shop --verify "npm test"', 'one task after another; each is completed only when the tests pass'],
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
      pausing: `Pausing after the current iterations. Press Ctrl-C again to stop at once. Resume later with: ralph execute ${project}`,
      say: view.say,
    })
    const reaching = args.flag('notify') ? reachOf(context, asked) : undefined
    try {
      const watching = { ...view, pause: stopping.rest, stop: stopping.stop }
      const executed = await withHelp(spec, executeProject(context, asked, watching))
      if (reaching) await notifyEnd(reaching, project, executed)
      return exitCode(executed)
    } finally {
      stopping.release()
    }
  },
}

/** Read before an agent can change it. */
function reachOf(context: Context, { dir = '.' }: Executing): Reaching {
  return given({ context, webhook: loadConfig(context.home, resolve(context.cwd, dir)).notify_webhook })
}

async function notifyEnd(reaching: Reaching, project: string, { stop }: Executed): Promise<void> {
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

/** `ralph execute`: works through the tasks of a project. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseCommandLine } from '../../formats/command-line.ts'
import { canStart } from '../../host/check.ts'
import { loadConfig } from '../../host/config.ts'
import { newLoopId } from '../../host/loop-id.ts'
import { mustHaveSandbox } from '../../host/sandbox.ts'
import { mustBeCopyable } from '../../host/worktree.ts'
import { type Executed, execute as executeProject } from '../../project/execute.ts'
import { openProject, type Project } from '../../project/folder.ts'
import { checkRepository, loadRecord, lockProject, mendLeftovers } from '../../project/open.ts'
import type { ProjectRecord } from '../../project/record.ts'
import { writeResults } from '../../project/results.ts'
import { parseExecute } from '../../project/templates.ts'
import { type Args, type CommandSpec, parseArgs } from './args.ts'
import { type Command, type Context, selfIn, workFolder } from './context.ts'
import { projectName } from './init.ts'
import { notifyText } from './notify.ts'
import { openProjectJsonView, openProjectView, type ProjectView } from './project-view.ts'
import { checksOf } from './run.ts'
import { chooseAgents, settingsOf } from './run-agent.ts'
import { type Given, resolveLimits } from './run-limits.ts'
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
  'silence',
  'check-timeout',
  'sandbox',
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
    iterations: { value: 'N', help: 'stop after N turns of agents (default: all attempts that remain)' },
    parallel: {
      value: 'N',
      help: 'work on up to N tasks at the same time, each in its own work tree, merged one by one (default 1)',
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
    const slots = args.whole('parallel', 1) ?? 1
    const iterations = args.whole('iterations', 1)
    const dir = workFolder(context, args.text('dir'))
    const project = openProject(dir, projectName(args))
    const config = loadConfig(context.home, dir)
    const store = context.store()
    const lock = lockProject(project)
    try {
      const { record, notes } = await loadRecord(project, store, context.now)
      const { agents, why } = await chooseAgents(args, { context, config, dir })
      const settings = settingsOf(args, agents)
      const checks = projectChecks(args, { context, config, dir })
      if (args.flag('sandbox')) await mustHaveSandbox(dir, context.env)
      const copied = config.worktree_files ?? []
      mustBeCopyable(dir, copied)
      mustRender(project, record)
      await mendLeftovers(project, record)
      const repository = await checkRepository(project, slots)
      const { iterations: _, ...limits } = await resolveLimits(
        args,
        { context, config: { ...config, max_iterations: 0 }, dir },
        { prompt: '', stages: [], wrappedLimit: undefined },
      )
      const view = args.flag('json') ? openProjectJsonView(context) : openProjectView(context)
      const stopping = onInterrupt(view, project.name)
      try {
        const executed = await executeProject({
          project,
          store,
          record,
          checks,
          slots,
          limits,
          home: context.home,
          env: context.env,
          now: context.now,
          self: selfIn(context.root),
          newId: newLoopId,
          ...(iterations === undefined ? {} : { iterations }),
          ...(repository.branch === undefined ? {} : { branch: repository.branch }),
          agents,
          copied,
          work: {
            agent: agents[0] ?? '',
            ...settings,
            agentArgs: args.rest,
            ...(args.flag('sandbox') ? { sandbox: true as const } : {}),
            silenceMinutes: args.amount('silence') ?? 10,
            checkMinutes: args.amount('check-timeout') ?? 10,
          },
          stop: stopping.stop,
          pause: stopping.pause,
          begun: (now) => {
            view.begin(project, now, { agents, checks, slots, permissions: settings.permissions })
            const missing = copied.filter((name) => slots > 1 && !existsSync(join(dir, name)))
            for (const text of [
              ...(why === undefined ? [] : [why]),
              ...notes,
              ...repository.notes,
              ...missing.map((name) => `${name} of worktree_files is not here, so no work tree gets it.`),
              ...checksToCome(now, checks, { dir, path: context.env.PATH }),
            ])
              view.say(text)
          },
          progress: view.progress,
          show: view.show,
          saw: view.saw,
          note: view.note,
          hold: lock.hold,
        })
        await writeResults(project, executed.record, { stop: executed.stop, store, at: context.now() })
        view.end(project, executed)
        if (args.flag('notify')) await tellPerson(context, project.name, executed, config.notify_webhook)
        return exitCode(executed)
      } finally {
        stopping.release()
      }
    } finally {
      lock.release()
    }
  },
}

/** The checks of every task: those of the command line, or else of the config. */
export function projectChecks(args: Args, { config, dir }: Given): string[] {
  const given = args.many('verify').length > 0 ? args.many('verify') : (config.verify ?? [])
  const checks = [...new Set(given.flatMap((check) => (check === 'auto' ? checksOf(dir, args.spec) : [check])))]
  for (const check of checks) parseCommandLine(check)
  return checks
}

/** A template that cannot be rendered is told before anything begins. */
function mustRender({ name, dir }: Project, { tasks }: ProjectRecord): void {
  for (const task of tasks.tasks.slice(0, 1)) parseExecute(name, 1, 1, task, { dir })
}

/** Without its program a check stops the project at the first claim. */
function checksToCome(
  { tasks }: ProjectRecord,
  checks: readonly string[],
  { dir, path }: { dir: string; path: string | undefined },
): string[] {
  const open = tasks.tasks.filter(({ status }) => status !== 'completed')
  return [...new Set([...checks, ...open.flatMap(({ verify }) => verify ?? [])])]
    .filter((check) => !canStart(check, dir, path))
    .map(
      (check) =>
        `The program of the check "${check}" is not here yet. Without it the project will stop (verifier-broken).`,
    )
}

async function tellPerson(
  context: Context,
  name: string,
  { stop }: Executed,
  webhook: string | undefined,
): Promise<void> {
  await notifyText(
    { title: `ralph: ${name} ${stop.reason === 'completed' ? 'is completed' : 'stopped'}`, text: stop.sentence },
    { type: 'project-end', project: name, reason: stop.reason, sentence: stop.sentence },
    { context, ...(webhook === undefined ? {} : { webhook }) },
  )
}

/** The first Ctrl-C pauses after the iterations under way, the second ends the agents now. */
function onInterrupt(view: ProjectView, name: string): { pause: AbortSignal; stop: AbortSignal; release(): void } {
  const [pause, stop] = [new AbortController(), new AbortController()]
  const stopNow = () => {
    pause.abort()
    stop.abort()
  }
  const interrupt = () => {
    if (pause.signal.aborted) return stopNow()
    view.say(
      `Pausing after the iterations under way. Press Ctrl-C again to stop at once. Go on later with: ralph execute ${name}`,
    )
    pause.abort()
  }
  process.on('SIGINT', interrupt).on('SIGTERM', stopNow).on('SIGHUP', stopNow)
  return {
    pause: pause.signal,
    stop: stop.signal,
    release: () => void process.off('SIGINT', interrupt).off('SIGTERM', stopNow).off('SIGHUP', stopNow),
  }
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

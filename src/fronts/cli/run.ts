/** `ralph run`: makes a loop of a prompt and drives it here. */

import { realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { text as readAll } from 'node:stream/consumers'
import { drivenBeside } from '../../drive/rollback.ts'
import { type Spec, type Stage, startLoop } from '../../engine/loop.ts'
import { parseCommandLine } from '../../formats/command-line.ts'
import { unwrapPrompt } from '../../formats/wrapped-prompt.ts'
import { findChecks } from '../../host/check.ts'
import { loadConfig, readText } from '../../host/config.ts'
import { newLoopId } from '../../host/loop-id.ts'
import { mustHaveSandbox } from '../../host/sandbox.ts'
import { openTree } from '../../host/tree.ts'
import { countUncommitted, mustBeCopyable, planWorktree } from '../../host/worktree.ts'
import { holderOf } from '../../session/elsewhere.ts'
import { type Args, type CommandSpec, parseArgs, usage } from './args.ts'
import { type Command, type Context, workFolder } from './context.ts'
import { driveHere } from './drive-here.ts'
import { pruneOld } from './prune.ts'
import { chooseAgents, oneOf, settingsOf } from './run-agent.ts'
import { type Given, resolveLimits } from './run-limits.ts'
import { runSpec } from './run-options.ts'
import { count } from './text.ts'

export const run: Command = {
  spec: runSpec,
  async run(argv, context) {
    const args = parseArgs(runSpec, argv)
    const dir = workFolder(context, args.text('dir'))
    const config = loadConfig(context.home, dir)
    const store = context.store()
    const id = newLoopId()
    const text = await promptOf(args, context)
    const { agents, why } = await chooseAgents(args, { context, config, dir })
    const resolved = await resolveSpec(args, { context, config, dir }, { text, agents })
    if (resolved.work.sandbox) await mustHaveSandbox(dir, context.env)
    const { spec, tree } = await placed(args, { context, config, dir, id, resolved })
    for (const other of await drivenBeside(store, { id, spec }))
      context.err.write(`ralph: loop ${other} is at work here, too. Each will take the other's changes for its own.\n`)
    for (const { id: other, status } of await store.list({ dir, limit: 20 })) {
      const holder = status === 'running' ? holderOf(context.home, other) : undefined
      if (holder !== undefined)
        context.err.write(
          `ralph: loop ${other} is at work here in ${holder}. Each will take the other's changes for its own.\n`,
        )
    }
    await pruneOld(context, store, dir)
    await store.create(startLoop(id, spec, { at: context.now(), ...(tree === undefined ? {} : { tree }) }))
    const webhook = config.notify_webhook
    return driveHere(context, id, {
      json: args.flag('json'),
      notify: args.flag('notify'),
      ...(webhook === undefined ? {} : { webhook }),
      ...(why === undefined ? {} : { why }),
    })
  },
}

type Placing = Given & { id: string; resolved: Spec }

/** Where it happens: in a work tree of its own where that is asked for, which is made when the loop is driven. */
async function placed(
  args: Args,
  { context, config, dir, id, resolved }: Placing,
): Promise<{ spec: Spec; tree?: string }> {
  if (args.flag('worktree')) {
    mustBeCopyable(dir, config.worktree_files ?? [])
    const path = join(realpathSync(context.home), 'worktrees', id)
    const { tree, ...plan } = await planWorktree(dir, {
      path,
      branch: `ralph/${id}`,
      copied: config.worktree_files ?? [],
    })
    const uncommitted = await countUncommitted(dir)
    if (uncommitted > 0)
      context.err.write(
        `ralph: the work tree begins at your last commit; ${count(uncommitted, 'uncommitted change')} of yours ${uncommitted === 1 ? 'is' : 'are'} not in it.\n`,
      )
    return { spec: { ...resolved, work: { ...resolved.work, ...plan } }, tree }
  }
  const { look, checkpoints } = await openTree({ dir, home: context.home, loop: id })
  if (resolved.onHalt && 'none' in checkpoints)
    throw usage(runSpec, `--on-halt ${resolved.onHalt} needs checkpoints, but ${checkpoints.none}.`)
  const tree = await look()
  const work = { ...resolved.work, ...('none' in checkpoints ? {} : { gitDir: checkpoints.repo.gitDir }) }
  return { spec: { ...resolved, work }, ...(tree === undefined ? {} : { tree }) }
}

/** Flags beat the environment, which beats the config. */
async function resolveSpec(
  args: Args,
  { context, config, dir }: Given,
  { text, agents }: { text: string; agents: string[] },
): Promise<Spec> {
  const until = args.text('until')
  const wrapped = unwrapPrompt(text)
  const verify = args.many('verify').length > 0 ? args.many('verify') : (config.verify ?? [])
  const checks = [
    ...new Set([...verify.flatMap((check) => (check === 'auto' ? checksOf(dir) : [check])), ...(until ? [until] : [])]),
  ]
  const stages = args.many('stage').map(parseStage)
  const twice = stages.find(({ name }, index) => stages.findIndex((other) => other.name === name) !== index)
  if (twice) throw usage(runSpec, `The stage ${twice.name} is given twice. Give each its own name.`)
  for (const check of [...checks, ...stages.flatMap((stage) => stage.check ?? [])]) parseCommandLine(check)
  const prompt = wrapped?.prompt ?? text
  const onHalt = oneOf(args, 'on-halt', ['keep', 'best', 'restore'])
  if (args.text('completion-promise')?.trim() === '')
    throw usage(runSpec, '--completion-promise is empty. Give it a text, or leave it out.')
  return {
    prompt,
    promise: args.text('completion-promise') ?? wrapped?.promise ?? config.completion_promise ?? 'COMPLETE',
    signals: [...new Set(['TASK_COMPLETE', ...(config.completion_signals ?? []), ...args.many('signal')])],
    checks,
    until: until !== undefined,
    stages,
    limits: await resolveLimits(
      args,
      { context, config, dir },
      { prompt, stages, wrappedLimit: wrapped?.maxIterations },
    ),
    ...(agents.length > 1 ? { agents } : {}),
    ...(onHalt === 'keep' ? {} : { onHalt }),
    work: {
      dir,
      agent: agents[0] ?? '',
      ...settingsOf(args, agents),
      agentArgs: args.rest,
      ...(args.flag('sandbox') ? { sandbox: true as const } : {}),
      silenceMinutes: args.amount('silence') ?? 10,
      checkMinutes: args.amount('check-timeout') ?? 10,
    },
  }
}

async function promptOf(args: Args, context: Context): Promise<string> {
  const until = args.text('until')
  const text = (await readPrompt(args, context)) ?? (until && `Make the command \`${until}\` pass.`)
  if (text?.trim()) return text
  throw usage(runSpec, 'There is no prompt. Say what to do: ralph run "Make the tests pass" … or give --file.')
}

async function readPrompt(args: Args, context: Context): Promise<string | undefined> {
  const [word, ...more] = args.words
  if (more.length > 0)
    throw usage(runSpec, `The prompt must be one text, but ${args.words.length} were given. Put it in quotes.`)
  const file = args.text('file')
  if (file !== undefined && word !== undefined) throw usage(runSpec, 'Give either a prompt or --file, not both.')
  if (word === '-') return readAll(context.machine.stdin)
  if (file === undefined) return word
  return readText(resolve(context.cwd, file), 'prompt')
}

/** The checks that the project brings along. */
export function checksOf(dir: string, asked: CommandSpec = runSpec): string[] {
  const found = findChecks(dir)
  if (found.length > 0) return found
  throw usage(
    asked,
    `--verify auto found no check in ${dir} (no test script, Makefile target, pytest, cargo, go, gradle or maven). Name one: --verify "make test".`,
  )
}

function parseStage(text: string): Stage {
  const at = text.indexOf('=')
  const name = (at < 0 ? text : text.slice(0, at)).trim()
  if (!/^[\w .:-]{1,60}$/.test(name))
    throw usage(runSpec, `"${name}" is not a name for a stage. Use letters, digits, space, and . : _ -`)
  return at < 0 ? { name } : { name, check: text.slice(at + 1).trim() }
}

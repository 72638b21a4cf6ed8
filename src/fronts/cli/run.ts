/** `ralph run`: makes a loop of a prompt and drives it here. */
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { text as readAll } from 'node:stream/consumers'
import { parseAgent } from '../../agents/index.ts'
import { estimateIterations } from '../../engine/limits.ts'
import { type Limits, type Spec, type Stage, startLoop, type Work } from '../../engine/loop.ts'
import { RalphError } from '../../error.ts'
import { parseCommandLine } from '../../formats/command-line.ts'
import type { Config } from '../../formats/config.ts'
import { parseScript } from '../../formats/script.ts'
import { unwrapPrompt } from '../../formats/wrapped-prompt.ts'
import { findChecks } from '../../host/check.ts'
import { git } from '../../host/git.ts'
import { findProgram } from '../../host/process.ts'
import type { LocalStore } from '../../host/sqlite.ts'
import { openTree } from '../../host/tree.ts'
import { type Args, type CommandSpec, parseArgs, usage } from './args.ts'
import { type Command, type Context, loadConfig, newLoopId, workFolder } from './context.ts'
import { driveHere } from './drive-here.ts'
import { pruneTranscripts } from './prune.ts'

const spec: CommandSpec = {
  name: 'run',
  words: '[PROMPT] [options] [-- arguments for the agent]',
  summary: 'Runs an agent again and again on one task until its checks pass.',
  about: `The prompt is one text in quotes, a file (--file), or - for standard input. The agent's word that it is done
only starts the checks; the loop ends when they pass, or with one sentence that says why it stopped.
Exit codes: 0 complete, 1 stopped short of done, 2 wrong use, 3 agent missing or unusable, 4 needs your input, 130 paused or cancelled.`,
  options: {
    file: { value: 'F', help: 'read the prompt from a file' },
    agent: { value: 'A', help: 'claude, command:"program with arguments" or scripted:FILE (or RALPH_AGENT)' },
    model: { value: 'M', help: 'the model the agent shall use' },
    permissions: {
      value: 'MODE',
      help: 'bypass (default: the agent asks for nothing) or ask (only what its own settings allow)',
    },
    context: { value: 'KIND', help: 'fresh (default: every iteration begins anew) or same (goes on in one session)' },
    verify: {
      value: 'CMD',
      many: true,
      help: 'a check that must pass, or auto for the ones of the project; may be given several times; started without a shell',
    },
    until: { value: 'CMD', help: 'check after every iteration, claim or not, and end when it passes' },
    stage: { value: 'NAME[=CMD]', many: true, help: 'a named part of done, in order, with its own promise and check' },
    'max-iterations': { value: 'N', help: 'default 10; 0 for no count limit; auto, or auto:N with a ceiling' },
    'completion-promise': { value: 'TEXT', help: 'what stands inside <promise>…</promise> (default COMPLETE)' },
    signal: { value: 'TEXT', many: true, help: 'another text that claims the task when it stands alone on a line' },
    timeout: { value: 'MIN', help: 'time limit in minutes, waits included; a check under way may still end' },
    'max-cost': { value: 'USD', help: 'stop when this much is spent, where the agent reports it' },
    'max-tokens': { value: 'N', help: 'stop when this many tokens are used' },
    'no-progress': { value: 'N', help: 'stop after N iterations that changed nothing (default 3)' },
    'same-error': { value: 'N', help: 'stop when the same failure came N times in a row (default 5)' },
    silence: { value: 'MIN', help: 'end an agent that prints nothing for so long (default 10)' },
    'check-timeout': { value: 'MIN', help: 'time limit of one check (default 10)' },
    dir: { value: 'D', help: 'work in this folder' },
    notify: { help: 'bell, desktop message and the webhook of the config when it stops' },
    json: { help: 'print one JSON object a line' },
  },
  examples: [
    [
      'ralph run "Make the tests pass" --agent command:./my-agent --verify "npm test"',
      'until the tests pass, at most ten iterations',
    ],
    ['ralph run --until "make lint" --agent command:./my-agent', 'no claim needed: done when the command passes'],
    ['ralph run --file task.md --agent command:./my-agent --stage TESTS="npm test" --stage DOCS', 'in two stages'],
  ],
}

export const run: Command = {
  spec,
  async run(argv, context) {
    const args = parseArgs(spec, argv)
    const dir = workFolder(context, args.text('dir'))
    const config = loadConfig(context, dir)
    const resolved = await resolveSpec(args, { context, config, dir })
    const store = context.store()
    await warnOfOthers(store, dir)
    await pruneTranscripts(context, store)
    const id = newLoopId()
    const tree = await (await openTree({ dir, home: context.home, loop: id }))()
    await store.create(startLoop(id, resolved, { at: context.now(), ...(tree === undefined ? {} : { tree }) }))
    const webhook = config.notify_webhook
    return driveHere(context, id, {
      json: args.flag('json'),
      notify: args.flag('notify'),
      ...(webhook === undefined ? {} : { webhook }),
    })
  },
}

/** Two loops in one folder take each other's changes for their own. That may be wanted; it is said. */
async function warnOfOthers(store: LocalStore, dir: string): Promise<void> {
  for (const { id, status } of await store.list({ dir, limit: 100 }))
    if (OPEN.has(status) && (await store.isDriven(id)))
      process.stderr.write(
        `ralph: loop ${id} is at work in this folder, too. Each will take the other's changes for its own.\n`,
      )
}

const OPEN: ReadonlySet<string> = new Set(['running', 'verifying', 'waiting'])

type Given = { context: Context; config: Config; dir: string }

/** Flags beat the environment, which beats the config. */
async function resolveSpec(args: Args, { context, config, dir }: Given): Promise<Spec> {
  const { env } = context
  const until = args.text('until')
  const text = (await readPrompt(args, context)) ?? (until && `Make the command \`${until}\` pass.`)
  if (!text?.trim())
    throw usage(spec, 'There is no prompt. Say what to do: ralph run "Make the tests pass" … or give --file.')
  const wrapped = unwrapPrompt(text)
  const agent = args.text('agent') ?? env.RALPH_AGENT ?? config.agent
  if (!agent) throw usage(spec, 'No agent is named. Give --agent command:"your-agent --its-flags", or set RALPH_AGENT.')
  const verify = args.many('verify').length > 0 ? args.many('verify') : (config.verify ?? [])
  const checks = [
    ...new Set([...verify.flatMap((check) => (check === 'auto' ? checksOf(dir) : [check])), ...(until ? [until] : [])]),
  ]
  const stages = args.many('stage').map(parseStage)
  const twice = stages.find(({ name }, index) => stages.findIndex((other) => other.name === name) !== index)
  if (twice) throw usage(spec, `The stage ${twice.name} is given twice. Give each its own name.`)
  for (const check of [...checks, ...stages.flatMap((stage) => stage.check ?? [])]) parseCommandLine(check)
  const prompt = wrapped?.prompt ?? text
  if (args.text('completion-promise')?.trim() === '')
    throw usage(spec, '--completion-promise is empty. Give it a text, or leave it out.')
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
    work: {
      dir,
      agent: locate(agent, { context, dir }),
      ...settingsOf(args, agent),
      agentArgs: args.rest,
      silenceMinutes: args.amount('silence') ?? 10,
      checkMinutes: args.amount('check-timeout') ?? 10,
    },
  }
}

async function readPrompt(args: Args, context: Context): Promise<string | undefined> {
  const [word, ...more] = args.words
  if (more.length > 0)
    throw usage(spec, `The prompt must be one text, but ${args.words.length} were given. Put it in quotes.`)
  const file = args.text('file')
  if (file !== undefined && word !== undefined) throw usage(spec, 'Give either a prompt or --file, not both.')
  if (word === '-') return readAll(process.stdin)
  if (file === undefined) return word
  return readText(resolve(context.cwd, file), 'prompt')
}

function readText(path: string, what: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new RalphError('input-invalid', `The ${what} file ${path} cannot be read. Name an existing text file.`, {
      cause,
    })
  }
}

function checksOf(dir: string): string[] {
  const found = findChecks(dir)
  if (found.length > 0) return found
  throw usage(
    spec,
    `--verify auto found no check in ${dir} (no test script, Makefile target, pytest, cargo, go, gradle or maven). Name one: --verify "make test".`,
  )
}

function parseStage(text: string): Stage {
  const at = text.indexOf('=')
  const name = (at < 0 ? text : text.slice(0, at)).trim()
  if (!/^[\w .:-]{1,60}$/.test(name))
    throw usage(spec, `"${name}" is not a name for a stage. Use letters, digits, space, and . : _ -`)
  return at < 0 ? { name } : { name, check: text.slice(at + 1).trim() }
}

type Task = { prompt: string; stages: Stage[]; wrappedLimit: number | undefined }

async function resolveLimits(args: Args, { context, config, dir }: Given, task: Task): Promise<Limits> {
  const given =
    args.text('max-iterations') ?? context.env.RALPH_MAX_ITERATIONS ?? task.wrappedLimit ?? config.max_iterations ?? 10
  const auto = /^auto(?::0*([1-9]\d{0,8}))?$/.exec(String(given))
  const minutes =
    args.amount('timeout') ?? environmentNumber(context.env, 'RALPH_TIMEOUT_MINUTES') ?? config.timeout_minutes
  const tokens = args.whole('max-tokens', 1)
  const costUsd = args.amount('max-cost') ?? config.max_cost_usd
  return {
    ...(auto ? await adaptive(context, dir, task, Number(auto[1] ?? 48)) : { iterations: wholeNumber(given, args) }),
    noProgress: args.whole('no-progress', 1) ?? config.circuit_breaker?.no_progress_limit ?? 3,
    sameError: args.whole('same-error', 1) ?? config.circuit_breaker?.same_error_limit ?? 5,
    ...(minutes === undefined ? {} : { minutes }),
    ...(tokens === undefined ? {} : { tokens }),
    ...(costUsd === undefined ? {} : { costUsd }),
  }
}

async function adaptive(
  context: Context,
  dir: string,
  { prompt, stages }: Task,
  ceiling: number,
): Promise<{ iterations: number; ceiling: number }> {
  const listed = await git(dir, ['ls-files'])
  const size = {
    words: prompt.split(/\s+/).length,
    items: prompt.match(/^\s*([-*]|\d+[.)])\s/gm)?.length ?? 0,
    stages: stages.length,
    files: listed?.split('\n').length ?? 0,
  }
  return { iterations: estimateIterations(size, await context.store().history(), ceiling), ceiling }
}

function wholeNumber(given: string | number, args: Args): number {
  if (/^\d{1,9}$/.test(String(given))) return Number(given)
  throw usage(
    spec,
    `${args.text('max-iterations') === undefined ? 'RALPH_MAX_ITERATIONS' : '--max-iterations'} must be a whole number, auto or auto:N, but is "${given}".`,
  )
}

function environmentNumber(env: Context['env'], name: string): number | undefined {
  const value = env[name]
  if (!value) return undefined
  if (!/^\d{1,9}(\.\d+)?$/.test(value)) throw usage(spec, `${name} must be a number, but is "${value}".`)
  return Number(value)
}

function settingsOf(args: Args, name: string): Pick<Work, 'model' | 'permissions' | 'context'> {
  const { agent } = parseAgent(name)
  for (const setting of ['model', 'permissions', 'context'] as const)
    if (args.text(setting) !== undefined && !agent.settings.includes(setting))
      throw usage(
        spec,
        `--${setting} means nothing to the agent "${agent.name}". Leave it out, or put it into the agent's own command line.`,
      )
  for (const [option, what] of [
    ['max-cost', 'cost'],
    ['max-tokens', 'tokens'],
  ] as const)
    if (args.text(option) !== undefined && !agent.reports.includes(what))
      throw usage(spec, `--${option} cannot be kept: the agent "${agent.name}" does not report its ${what}.`)
  const model = args.text('model')
  return {
    permissions: oneOf(args, 'permissions', ['bypass', 'ask']),
    context: oneOf(args, 'context', ['fresh', 'same']),
    ...(model === undefined ? {} : { model }),
  }
}

/** The first is the default. */
function oneOf<Choice extends string>(args: Args, name: string, choices: readonly [Choice, ...Choice[]]): Choice {
  const given = args.text(name) ?? choices[0]
  const found = choices.find((choice) => choice === given)
  if (found === undefined) throw usage(spec, `--${name} must be ${choices.join(' or ')}, but is "${given}".`)
  return found
}

/** The agent with its file as a path that holds wherever the loop is resumed; an agent that is not there is said at once. */
function locate(text: string, { context, dir }: { context: Context; dir: string }): string {
  const { agent, target } = parseAgent(text)
  if (agent.name === 'scripted') {
    const file = resolve(context.cwd, target)
    parseScript(readText(file, 'script'), file)
    return `scripted:${file}`
  }
  const program = agent.name === 'command' ? parseCommandLine(target)[0] : target || agent.probe?.programs[0]
  if (findProgram(program ?? '', dir, context.env.PATH)) return text
  if (program?.includes('/') && existsSync(resolve(dir, program)))
    throw new RalphError(
      'agent-missing',
      `${resolve(dir, program)} is not a program that can be run. Make it one: chmod +x ${program}`,
    )
  throw new RalphError(
    'agent-missing',
    `The agent "${program}" was not found${program?.includes('/') ? ` below ${dir}` : ' on PATH'}. Install it, or name its path. \`ralph doctor\` tells which agents are here.`,
  )
}

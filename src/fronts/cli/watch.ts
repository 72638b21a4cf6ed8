/** `ralph watch`: works on the files that come into a vault. */
import { resolve } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { agents as known, parseAgent } from '../../agents/index.ts'
import { agentsOf } from '../../engine/roster.ts'
import { RalphError } from '../../error.ts'
import type { TaskHead } from '../../formats/task-file.ts'
import { canStart } from '../../host/check.ts'
import { loadConfig } from '../../host/config.ts'
import { findProgram } from '../../host/process.ts'
import { mustHaveSandbox } from '../../host/sandbox.ts'
import type { VaultDesk } from '../../vault/desk.ts'
import { openVault } from '../../vault/place.ts'
import { resolveSettings, type VaultSettings } from '../../vault/settings.ts'
import type { Crew } from '../../vault/spec.ts'
import { type Watched, watchVault } from '../../vault/watch.ts'
import type { WatchEvent } from '../../vault/work.ts'
import { type Args, type CommandSpec, parseArgs, usage } from './args.ts'
import { type Command, type Context, selfIn } from './context.ts'
import { projectChecks } from './execute.ts'
import { notifyText } from './notify.ts'
import { chooseAgents, settingsOf } from './run-agent.ts'
import type { Given } from './run-limits.ts'
import { runSpec } from './run-options.ts'
import { openWatchJsonView } from './watch-json.ts'
import { openWatchView, troubleWords, type WatchView } from './watch-view.ts'

const SHARED = ['agent', 'model', 'permissions', 'sandbox', 'max-cost', 'silence', 'check-timeout', 'notify', 'json']

const spec: CommandSpec = {
  name: 'watch',
  words: 'VAULT [options] [-- arguments for the agent]',
  summary: 'Works on the task files of a vault as they come.',
  about: `VAULT is a folder. Every file in VAULT/Needs_Action is a task: an agent works on it until it has moved the file to Done.
In Pending_Approval it waits for you; what failed is put into Failed, with a note. What a task file itself says about
agent, limits and checks (docs/vault.md) beats the options here. Ctrl-C ends after the iterations under way, a second one at
once; the same command goes on.
Exit codes with --once: 0 all completed, 1 some failed or it cannot be read, 4 some wait for you. Always: 2 wrong use, 3 agent missing or unusable, 130 stopped.`,
  options: {
    once: { help: 'work through what is there, then end' },
    concurrency: { value: 'N', help: 'work on up to N tasks at the same time (default 1)' },
    'max-iterations': { value: 'N', help: 'iterations of one task (default 10)' },
    timeout: { value: 'MIN', help: 'time limit of one task in minutes (default 30); waiting for you does not count' },
    verify: {
      value: 'CMD',
      many: true,
      help: 'a check that every task must pass besides its own, or auto for the ones of the vault; may be given several times; started without a shell',
    },
    ...Object.fromEntries(Object.entries(runSpec.options).filter(([name]) => SHARED.includes(name))),
  },
  examples: [
    ['ralph watch ~/Vault --agent claude', 'until Ctrl-C'],
    ['ralph watch ~/Vault --agent claude --concurrency 4 --once', 'what lies there now, four at a time'],
  ],
}

export const watch: Command = {
  spec,
  async run(argv, context) {
    const args = parseArgs(spec, argv, 1)
    const slots = args.whole('concurrency', 1) ?? 1
    const vault = openVault(resolve(context.cwd, vaultGiven(args)))
    const settings = resolveSettings(settingsGiven(args), { env: context.env, home: context.home, vault })
    const config = loadConfig(context.home, vault)
    const { agents, why } = await chooseAgents(args, { context, config, dir: vault })
    const { permissions } = settingsOf(args, agents)
    const checks = projectChecks(args, { context, config, dir: vault })
    if (args.flag('sandbox')) await mustHaveSandbox(vault, context.env)
    const given = { context, config, dir: vault }
    const missing = checks.find((check) => !canStart(check, vault, context.env.PATH))
    if (missing !== undefined)
      throw usage(spec, `The program of the check "${missing}" is not here, so no task could ever pass it. Install it.`)
    crewOf(args, given, { head: { priority: 1 }, agents, checks }) // what is wrong with the options is no file's fault
    // What an agent prints is garbage at once. V8 would let its young generation grow to 130 MB for a flood of it.
    setFlagsFromString('--semi-space-growth-factor=1')
    const view = args.flag('json') ? openWatchJsonView(context) : openWatchView(context)
    view.begin({ vault, agents, checks, slots, permissions, once: args.flag('once') })
    if (why !== undefined) view.tell({ kind: 'note', text: why })
    const messages = new Set<Promise<unknown>>()
    const stopping = onInterrupt(view)
    const isUseless = openDoubts(agents)
    let useless = false
    const tell = (event: WatchEvent) => {
      view.tell(event)
      if (isUseless(event)) {
        useless = true
        stopping.wind(`No task can be done with ${agents.join(', ')} now. The others are left where they are.`)
      }
      if (!args.flag('notify') && config.notify_webhook === undefined) return
      const message = tellPerson(context, event, config.notify_webhook).finally(() => messages.delete(message))
      messages.add(message)
    }
    const desk: VaultDesk = {
      vault,
      settings,
      home: context.home,
      env: context.env,
      now: context.now,
      histories: new Map(),
      store: context.store(),
      note: once((text) => tell({ kind: 'note', text })),
    }
    try {
      const watched = await watchVault({
        desk,
        slots,
        once: args.flag('once'),
        self: selfIn(context.root),
        tell,
        rest: stopping.rest,
        stop: stopping.stop,
        crew: (head) => crewOf(args, given, { head, agents, checks }),
      })
      await Promise.all([...messages])
      view.end(watched, stopping.rest.aborted)
      return useless ? 3 : stopping.rest.aborted ? 130 : exitCode(watched)
    } finally {
      stopping.release()
    }
  },
}

function vaultGiven({ words: [vault] }: Args): string {
  if (vault) return vault
  throw usage(spec, 'Name the folder of the vault: ralph watch ~/Vault.')
}

function settingsGiven(args: Args): Partial<VaultSettings> {
  const [maxIterations, timeoutMinutes] = [args.whole('max-iterations', 1), args.amount('timeout')]
  return {
    ...(maxIterations === undefined ? {} : { maxIterations }),
    ...(timeoutMinutes === undefined ? {} : { timeoutMinutes }),
  }
}

type Asked = { head: TaskHead; agents: string[]; checks: string[] }

/** Model and arguments belong to the agent of the command line, not to the one that a task names. */
function crewOf(args: Args, { context, config, dir }: Given, { head, agents, checks }: Asked): Crew {
  const isOther = head.agent !== undefined
  const own: Args = isOther
    ? { ...args, rest: [], text: (name) => (name === 'model' ? undefined : args.text(name)) }
    : args
  const names = head.agent === undefined ? agents : agentsIn(head.agent, { context, dir })
  const blind = names.map((name) => parseAgent(name).agent).find(({ reports }) => !reports.includes('cost'))
  const costUsd = args.amount('max-cost') ?? config.max_cost_usd
  if ((head.maxCostUsd ?? costUsd) !== undefined && blind)
    throw new RalphError(
      'input-invalid',
      `The limit of cost (max_cost_usd) cannot be kept: the agent "${blind.name}" does not report its cost.`,
    )
  return {
    agents: names,
    checks,
    limits: {
      noProgress: config.circuit_breaker?.no_progress_limit ?? 3,
      sameError: config.circuit_breaker?.same_error_limit ?? 5,
      ...(costUsd === undefined ? {} : { costUsd }),
    },
    work: {
      agent: names[0] ?? '',
      ...settingsOf(own, names),
      agentArgs: own.rest,
      ...(args.flag('sandbox') ? { sandbox: true as const } : {}),
      silenceMinutes: args.amount('silence') ?? 10,
      checkMinutes: args.amount('check-timeout') ?? 10,
    },
  }
}

/** Whom a task file may name: agents that need no more than their names. */
function agentsIn(text: string, { context, dir }: Pick<Given, 'context' | 'dir'>): string[] {
  const nameable = Object.values(known).filter(({ targetExample }) => targetExample === undefined)
  return [...new Set(text.split(','))].map((name) => {
    const agent = nameable.find((each) => each.name === name)
    if (!agent)
      throw new RalphError(
        'agent-unknown',
        `There is no agent "${name}" that a task file can name. Those are: ${nameable.map((each) => each.name).join(', ')}. Name one of them, or leave it to \`ralph watch --agent\`.`,
      )
    const [program = name] = agent.probe?.programs ?? []
    if (findProgram(program, dir, context.env.PATH)) return name
    throw new RalphError(
      'agent-missing',
      `The agent "${program}" was not found on PATH. Install it, or name another one. \`ralph doctor\` tells which agents are here.`,
    )
  })
}

function once(say: (text: string) => void): (text: string) => void {
  const said = new Set<string>()
  return (text) => {
    if (said.has(text)) return
    said.add(text)
    say(text)
  }
}

/** The agent of all tasks is not logged in, gone, or crashes with every file: the next one would fail just so. */
function openDoubts(agents: readonly string[]): (event: WatchEvent) => boolean {
  let crashed = 0
  return (event) => {
    if (event.kind !== 'ended' || agentsOf(event.loop.spec).join() !== agents.join()) return false
    const { next } = event.loop
    const reason = next.kind === 'halt' ? next.reason : undefined
    crashed = reason === 'agent-failed' ? crashed + 1 : 0
    return reason === 'agent-unusable' || crashed >= 2
  }
}

/** What a person who is elsewhere must know: a task that failed, and one that waits for them or for an agent's limit. */
async function tellPerson(context: Context, event: WatchEvent, webhook: string | undefined): Promise<void> {
  const trouble = troubleWords(event)
  if (!trouble) return
  const { task, status, text } = trouble
  await notifyText(
    { title: `ralph: ${task} ${status}`, text },
    { type: 'task', task_id: task, status, sentence: text },
    { context, ...(webhook === undefined ? {} : { webhook }) },
  )
}

/** `wind`: ends after the iterations under way, and says why. */
type Stopping = { rest: AbortSignal; stop: AbortSignal; wind(why: string): void; release(): void }

/** The first Ctrl-C ends after the iterations under way, the second ends the agents now. */
function onInterrupt(view: WatchView): Stopping {
  const [rest, stop] = [new AbortController(), new AbortController()]
  const stopNow = () => {
    rest.abort()
    stop.abort()
  }
  const wind = (text: string) => {
    if (!rest.signal.aborted) view.tell({ kind: 'note', text })
    rest.abort()
  }
  const interrupt = () =>
    rest.signal.aborted ? stopNow() : wind('Ending after the iterations under way. Press Ctrl-C again to stop at once.')
  process.on('SIGINT', interrupt).on('SIGTERM', stopNow).on('SIGHUP', stopNow)
  return {
    rest: rest.signal,
    stop: stop.signal,
    wind,
    release: () => void process.off('SIGINT', interrupt).off('SIGTERM', stopNow).off('SIGHUP', stopNow),
  }
}

function exitCode({ failed, waiting }: Watched): number {
  return failed > 0 ? 1 : waiting > 0 ? 4 : 0
}

/** The commands of a dispatcher, at its prompt and as `ralph dispatch VERB` elsewhere. */
import { readFileSync } from 'node:fs'
import { runInTerminal } from '../../host/terminal.ts'
import { openTmux } from '../../host/tmux.ts'
import { accept } from '../../operations/accept.ts'
import { addAgent, removeAgent } from '../../operations/add-agent.ts'
import { dropTask, giveTask, type Left, loopOfAgent, retryAgent, seeAgent } from '../../operations/agent-tasks.ts'
import { type AgentList, listAgents } from '../../operations/agents.ts'
import { cancel } from '../../operations/cancel.ts'
import { type CrewName, findAgent, findCrew, tagOf } from '../../operations/crew-place.ts'
import { pause } from '../../operations/pause.ts'
import { resume } from '../../operations/resume.ts'
import { setLimits } from '../../operations/set-limits.ts'
import { steer } from '../../operations/steer.ts'
import { given } from '../../request/given.ts'
import { type Args, type CommandSpec, type Option, usage } from './args.ts'
import type { Context } from './context.ts'
import { agentJson, printAgents } from './dispatch-view.ts'
import { oneOf } from './request.ts'
import { show } from './show.ts'
import { count, short } from './text.ts'

/** `text` for people, `json` for programs. */
export type Said = { text: string; json: object[]; code?: number }

export type Calling = { args: Args; context: Context; crew: CrewName }

export type Verb = { spec: CommandSpec; run(calling: Calling): Promise<Said> }

const SHARED: Readonly<Record<string, Option>> = {
  config: {
    value: 'FILE',
    help: 'config file of the dispatcher (default: config.yaml in this folder, or the only one in use)',
  },
  json: { help: 'print JSON, one object per line' },
}

function verb(
  name: string,
  words: string,
  summary: string,
  run: Verb['run'],
  options: Readonly<Record<string, Option>> = {},
): Verb {
  return { spec: { name: `dispatch ${name}`, words, summary, options: { ...options, ...SHARED } }, run }
}

export const VERBS: Readonly<Record<string, Verb>> = {
  status: verb('status', '[AGENT…]', 'Shows what each agent is doing and how far its loop has got.', showStatus, {
    watch: { help: 'update whenever something changes, until Ctrl-C' },
  }),
  task: verb('task', 'AGENT TEXT', 'Gives an agent a task. `1: TEXT` is short for `task 1 TEXT`.', task, {
    file: { value: 'F', help: 'read the task from a file, or from standard input with -' },
  }),
  queue: verb('queue', 'AGENT', "Lists the tasks in an agent's queue.", queue),
  drop: verb('drop', 'AGENT N', "Removes task N from an agent's queue.", drop),
  pause: verb('pause', 'AGENT', "Pauses an agent's loop after its current turn.", (calling) =>
    onLoop(calling, (loop) => pause.run(calling.context, { loop }), 'will pause after its current turn.'),
  ),
  resume: verb(
    'resume',
    'AGENT',
    'Resumes a loop that is paused, waiting, or cooling down after its breaker opened.',
    resumeAgent,
  ),
  cancel: verb('cancel', 'AGENT', "Cancels an agent's loop and interrupts the agent.", (calling) =>
    onLoop(calling, (loop) => cancel.run(calling.context, { loop }), 'was cancelled.'),
  ),
  say: verb('say', 'AGENT TEXT', "Adds a message to an agent's next prompt.", say),
  limit: verb('limit', 'AGENT N', "Changes the iteration limit of an agent's loop; 0 means no limit.", limit),
  retry: verb('retry', 'AGENT', 'Resends a prompt that did not arrive.', async (calling) =>
    left(await retryAgent.run(calling.context, named(calling)), 'will get its prompt again.'),
  ),
  log: verb('log', 'AGENT', "Shows the history of an agent's loop, and the end of its screen.", log),
  attach: verb(
    'attach',
    'AGENT',
    "Opens an agent's pane in this terminal. F12 leaves it; the agent keeps running.",
    attach,
  ),
  accept: verb('accept', 'AGENT', 'Merges the work of an agent that works in its own worktree.', take),
  add: verb('add', 'NAME', 'Adds an agent in its own pane.', add, {
    agent: { value: 'A', help: 'agent to run (claude, codex, pi …)' },
    folder: { value: 'DIR', help: 'folder to work in (default: the current one)' },
    worktree: { help: 'run every task in its own worktree' },
    model: { value: 'M', help: 'model for the agent to use' },
    check: { value: 'CMD', many: true, help: 'check that must pass; may be repeated' },
    permissions: { value: 'ask|bypass', help: 'whether it asks for permission (default: ask)' },
  }),
  remove: verb('remove', 'AGENT', 'Ends an agent and closes its pane.', async (calling) =>
    left(await removeAgent.run(calling.context, named(calling)), 'will be removed.'),
  ),
}

function named({ args, crew }: Calling): CrewName & { agent: string } {
  const [agent, surplus] = args.words
  if (agent === undefined)
    throw usage(args.spec, `Name an agent, by its number or its name: ralph ${args.spec.name} 1.`)
  if (surplus !== undefined) throw usage(args.spec, `Unexpected argument: "${surplus}".`)
  return { ...crew, agent }
}

/** The agent, and the text after it. */
function textAfter({ args }: Calling, what: string): { agent: string; words: string } {
  const [agent, ...words] = [...args.words, ...args.rest]
  if (agent === undefined || words.join('').trim() === '')
    throw usage(args.spec, `Name an agent and ${what}: ralph ${args.spec.name} ${args.spec.words}.`)
  return { agent, words: words.join(' ') }
}

function whole({ spec }: Args, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw usage(spec, `Not a whole number: "${text}".`)
}

async function showStatus({ args, context, crew }: Calling): Promise<Said> {
  const agents = args.words
  const list = await listAgents.run(context, { ...crew, ...(agents.length > 0 ? { agents } : {}) })
  // Asking about one agent counts as having seen it.
  for (const agent of agents) await seeAgent.run(context, { ...crew, agent })
  return { text: statusText(list, context), json: list.agents.map(agentJson) }
}

function statusText({ agents, running, config }: AgentList, context: Context): string {
  const absent = running
    ? ''
    : `No dispatcher is running, so this is the last known state. Start one: ralph dispatch --config ${config}\n`
  return `${printAgents(agents, context)}${absent}`
}

async function task({ args, context, crew }: Calling): Promise<Said> {
  const file = args.text('file')
  const { agent, words } =
    file === undefined
      ? textAfter({ args, context, crew }, 'say what to do')
      : { agent: named({ args, context, crew }).agent, words: readTask(args, file) }
  const { agent: name, ahead, running } = await giveTask.run(context, { ...crew, agent, prompt: words })
  const when = ahead > 0 ? `Queued for ${name} behind ${count(ahead, 'task')}.` : `${name} gets it now.`
  return {
    text: `${when}${running ? '' : NOBODY}\n`,
    json: [{ type: 'task', agent: name, ahead, running }],
  }
}

function readTask({ spec }: Args, file: string): string {
  try {
    const text = readFileSync(file === '-' ? 0 : file, 'utf8').trim()
    if (text) return text
  } catch {
    throw usage(spec, `Cannot read ${file}.`)
  }
  throw usage(spec, `${file} is empty.`)
}

const NOBODY = ' No dispatcher is running; this takes effect when you start one with `ralph dispatch`.'

function left({ agent, running }: Left, what: string): Said {
  return { text: `${agent} ${what}${running ? '' : NOBODY}\n`, json: [{ type: 'ok', agent, running }] }
}

async function queue({ args, context, crew }: Calling): Promise<Said> {
  const { agent } = named({ args, context, crew })
  const [listed] = (await listAgents.run(context, { ...crew, agents: [agent] })).agents
  const tasks = listed?.queue ?? []
  const lines = tasks.map(
    ({ number, prompt }) => `${String(number).padStart(3)}  ${short(prompt, context.out.columns - 6)}\n`,
  )
  return {
    text: lines.length > 0 ? lines.join('') : `The queue of ${listed?.name} is empty.\n`,
    json: tasks.map(({ number, prompt }) => ({ type: 'queued', agent: listed?.name, number, prompt })),
  }
}

async function drop(calling: Calling): Promise<Said> {
  const { agent, words } = textAfter(calling, 'the number of a task in its queue')
  const { args, context, crew } = calling
  const dropped = await dropTask.run(context, { ...crew, agent, task: whole(args, words) })
  return {
    text: `Removed from the queue of ${dropped.agent}: ${short(dropped.prompt, 60)}\n`,
    json: [{ type: 'dropped', ...dropped }],
  }
}

async function onLoop(calling: Calling, order: (loop: string) => Promise<unknown>, what: string): Promise<Said> {
  const { context } = calling
  const { name, loop } = await loopOfAgent(context, named(calling))
  await order(loop)
  return { text: `${name} ${what}\n`, json: [{ type: 'ok', agent: name, loop_id: loop }] }
}

async function resumeAgent(calling: Calling): Promise<Said> {
  const { context } = calling
  const { record } = await loopOfAgent(context, named(calling))
  if (record.state === 'STALLED')
    return left(await retryAgent.run(context, named(calling)), 'will get its prompt again.')
  return onLoop(calling, (loop) => resume.run(context, { loop }), 'continues.')
}

async function say(calling: Calling): Promise<Said> {
  const { agent, words } = textAfter(calling, 'what to say')
  const { context, crew } = calling
  const { name, loop } = await loopOfAgent(context, { ...crew, agent })
  await steer.run(context, { loop, words })
  return { text: `${name} will read it in its next prompt.\n`, json: [{ type: 'ok', agent: name, loop_id: loop }] }
}

async function limit(calling: Calling): Promise<Said> {
  const { agent, words } = textAfter(calling, 'a number of iterations')
  const { args, context, crew } = calling
  const { name, loop } = await loopOfAgent(context, { ...crew, agent })
  const { iterations } = await setLimits.run(context, { loop, iterations: whole(args, words) })
  const most = iterations === 0 ? 'any number of iterations' : `up to ${count(iterations, 'iteration')}`
  return { text: `${name} may take ${most}.\n`, json: [{ type: 'limit', agent: name, loop_id: loop, iterations }] }
}

const LINES = 20

async function log(calling: Calling): Promise<Said> {
  const { context, args } = calling
  const place = await findCrew(context, calling.crew)
  const { crew, name } = findAgent(place, named(calling).agent)
  const { loop } = await loopOfAgent(context, named(calling))
  const screen = await openTmux(context.home, context.env)
    .screen(tagOf({ crew, name }))
    .catch(() => '')
  await seeAgent.run(context, named(calling))
  if (args.flag('json')) return { text: '', json: [{ type: 'log', agent: name, loop_id: loop, screen }] }
  await show.run([loop], context)
  const lines = screen.split('\n').filter((line) => line.trim() !== '')
  return { text: lines.length > 0 ? `\nIts pane:\n${lines.slice(-LINES).join('\n')}\n` : '', json: [] }
}

async function attach(calling: Calling): Promise<Said> {
  const { context } = calling
  const { crew, name } = findAgent(await findCrew(context, calling.crew), named(calling).agent)
  const argv = openTmux(context.home, context.env).attach(tagOf({ crew, name }))
  if (!context.machine.stdin.isTTY)
    return { text: `${argv.join(' ')}\n`, json: [{ type: 'attach', agent: name, command: argv }] }
  const { signal } = new AbortController()
  const { code } = await runInTerminal({ argv, dir: context.cwd, env: context.env, graceMs: 1_000, signal })
  await seeAgent.run(context, named(calling))
  return {
    text: code === 0 ? '' : `The pane of ${name} is not open. It opens with its next task.\n`,
    json: [],
    ...given({ code: code === 0 ? undefined : 1 }),
  }
}

async function take(calling: Calling): Promise<Said> {
  const { context } = calling
  const { name, loop } = await loopOfAgent(context, named(calling))
  const { base, branch } = await accept.run(context, { loop, how: 'merge' })
  await seeAgent.run(context, named(calling))
  return {
    text: `Merged the work of ${name} into ${base}.\n`,
    json: [{ type: 'accept', agent: name, loop_id: loop, branch, merged_into: base }],
  }
}

async function add({ args, context, crew }: Calling): Promise<Said> {
  const [name, surplus] = args.words
  if (name === undefined) throw usage(args.spec, 'Name the agent: ralph dispatch add api --agent claude.')
  if (surplus !== undefined) throw usage(args.spec, `Unexpected argument: "${surplus}".`)
  const permissions = oneOf(args, 'permissions', ['ask', 'bypass'])
  const added = await addAgent.run(context, {
    ...crew,
    name,
    dir: args.text('folder') ?? '.',
    worktree: args.flag('worktree'),
    checks: args.many('check'),
    ...given({ agent: args.text('agent'), model: args.text('model'), permissions }),
  })
  return left(added, 'will be added.')
}

/** `ralph status`: lists the loops, or shows one loop, project or fleet task. */
import { once } from 'node:events'
import { iterationLimit } from '../../engine/limits.ts'
import type { Loop } from '../../engine/loop.ts'
import { lastWords } from '../../formats/one-line.ts'
import { beforeLines, gradeFields, gradeWords } from '../../formats/proof-words.ts'
import { money, spent, tokenWords } from '../../formats/spent-words.ts'
import type { LoopRow } from '../../host/store.ts'
import { findLoop, findProject } from '../../operations/find-loop.ts'
import { getLoop } from '../../operations/get-loop.ts'
import { type ListedLoop, listLoops } from '../../operations/list-loops.ts'
import { repairAll } from '../../operations/repair-checkouts.ts'
import { waitFields } from '../../operations/standing.ts'
import { given } from '../../request/given.ts'
import { type CommandSpec, parseArgs, usage } from './args.ts'
import type { Command, Context } from './context.ts'
import { drawFleet, drawTask } from './fleet-status.ts'
import { projectStatus } from './project-status.ts'
import { printEnding } from './story.ts'
import { ago, count, EMPTY_SCREEN, jsonLine, paint, short, table } from './text.ts'
import { loopEnd } from './view.ts'

const spec: CommandSpec = {
  name: 'status',
  words: '[LOOP|PROJECT|TASK] [options]',
  summary: 'Lists loops, newest first, or shows the status of one loop or project.',
  about: `LOOP is a loop id or the start of one; PROJECT is the name of a project in this folder. With a fleet database, it shows the workers
and the tasks that have not ended, or one TASK.`,
  options: {
    watch: { help: 'update whenever something changes, until Ctrl-C' },
    all: { help: 'show all loops instead of the newest 20, or all tasks of a project' },
    graph: { help: 'print the tasks of a project and their states as a Mermaid diagram' },
    json: { help: 'print one JSON object per line' },
  },
}

export const status: Command = {
  spec,
  async run(argv, context) {
    const args = parseArgs(spec, argv, 1)
    const [name] = args.words
    const project = name === undefined ? undefined : findProject(context, name)
    const graph = args.flag('graph')
    if (graph && !project)
      throw usage(
        spec,
        name === undefined ? '--graph needs the name of a project.' : `No such project in this folder: "${name}".`,
      )
    const { fleet } = context.store()
    const task = name === undefined || project ? undefined : await fleet?.load(name)
    const id = name === undefined || project || task ? undefined : await findLoop(context, name)
    const draw = () =>
      task || (fleet && name === undefined)
        ? fleetStatus(context, { json: args.flag('json'), all: args.flag('all'), ...given({ task: task?.id }) })
        : project
          ? projectStatus(context, project.name, { json: args.flag('json'), graph, all: args.flag('all') })
          : id === undefined
            ? listAll(context, args.flag('json'), args.flag('all') ? 100_000 : 20)
            : oneLoop(context, id, args.flag('json'))
    for (const text of await repairAll(context)) context.note(text)
    context.out.write(await draw())
    if (args.flag('watch')) await watchChanges(context, draw)
    return 0
  },
}

type OfFleet = { json: boolean; all: boolean; task?: string }

function fleetStatus(context: Context, { task, ...how }: OfFleet): Promise<string> {
  return task === undefined ? drawFleet(context, how) : drawTask(context, task, how)
}

/** Draws again whenever something changes, until Ctrl-C. */
export async function watchChanges(context: Context, draw: () => Promise<string>): Promise<void> {
  let shown = ''
  const again = async () => {
    const text = await draw()
    if (text !== shown) context.out.write(context.out.live ? `${EMPTY_SCREEN}${text}` : text)
    shown = text
  }
  const unwatch = context.store().onChange(() => void again().catch(() => {}))
  const idle = setInterval(() => {}, 2 ** 30)
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
  clearInterval(idle)
  unwatch()
}

async function listAll(context: Context, json: boolean, limit: number): Promise<string> {
  const { loops } = await listLoops.run(context, { limit })
  if (json) return loops.map((row) => jsonLine({ ...rowJson(row), alive: row.alive })).join('')
  if (loops.length === 0)
    return 'No loops yet. Start one: ralph run "Make the tests pass" --agent … --verify "npm test"\n'
  const head = ['loop', 'status', 'iterations', 'cost', 'agent', 'updated', 'task']
  const body = loops.map((row) => [
    row.id,
    statusWord(row),
    row.iterationLimit > 0 ? `${row.iteration}/${row.iterationLimit}` : String(row.iteration),
    spent(row),
    short(row.agent, 24),
    ago(context.now() - row.updatedAt),
    short(row.prompt, 60),
  ])
  const text = table([head, ...body], context.out.columns)
  const [first = '', ...rest] = text.split('\n')
  return [paint(context.out, 'dim', first), ...rest].join('\n')
}

function statusWord({ next, status, unattended, session, damaged, interrupted }: ListedLoop): string {
  if (next.kind === 'halt' && status === 'halted') return `halted: ${next.reason}`
  if (next.kind === 'complete') return `completed, ${gradeWords(next)}`
  if (damaged) return 'damaged: ralph doctor'
  if (interrupted !== undefined) return session === undefined ? 'interrupted' : `interrupted in ${session}`
  if (unattended) return `${status}, no process`
  if (next.kind === 'wait' && next.why === 'cooldown') return `${status}, breaker open`
  return session === undefined ? status : `${status} in ${session}`
}

function rowJson(row: LoopRow): object {
  return {
    loop_id: row.id,
    status: row.status,
    reason: row.next.kind === 'halt' ? row.next.reason : null,
    ...waitFields(row.next),
    ...gradeFields(row.next),
    agent: row.agent,
    dir: row.dir,
    iterations: row.iteration,
    max_iterations: row.iterationLimit,
    false_claims: row.falseClaims,
    cost_usd: row.costUsd,
    tokens: row.tokens,
    started_at: new Date(row.startedAt).toISOString(),
    updated_at: new Date(row.updatedAt).toISOString(),
    prompt: row.prompt,
  }
}

async function oneLoop(context: Context, id: string, json: boolean): Promise<string> {
  const found = await getLoop.run(context, { loop: id })
  const { loop, status, standing, alive, session, interrupted, unattended, whose, worker, breaker } = found
  if (json) return jsonLine({ ...loopEnd(loop), type: 'loop', alive, breaker, last: lastWords(loop.tally.words) })
  const { agent, dir } = loop.spec.work
  return [
    `loop ${id} · ${interrupted === undefined ? status : 'interrupted'}${alive ? ' · process alive' : ''}${session === undefined ? '' : ` · in ${session}`}`,
    ...(whose === undefined ? [] : [whose]),
    worker === undefined ? `agent ${agent} in ${dir}` : `worked on by ${worker}`,
    progressLine(loop),
    [`breaker ${breaker}`, `${count(loop.tally.falseClaims, 'false claim')} caught`, ...spentSoFar(loop)].join(' · '),
    ...beforeLines(loop),
    ...(interrupted !== undefined
      ? [`Interrupted during a turn. Resume it in a session with ${interrupted}, or here with ralph resume ${id}.`]
      : unattended
        ? [`No process is running it. Resume it: ralph resume ${id}`]
        : []),
    printEnding(loop, context.out, standing),
  ].join('\n')
}

/** The progress, and the last line from the agent. */
function progressLine({ spec, tally, next }: Loop): string {
  const most = iterationLimit(spec.limits, tally)
  const iteration = next.kind === 'turn' ? next.iteration : tally.iteration
  const last = lastWords(tally.words)
  return `iteration ${iteration}${most > 0 ? `/${most}` : ''}${last ? `, last: "${short(last, 100)}"` : ''}`
}

/** Cost and tokens, if the agent reports them. */
function spentSoFar({ tally: { costUsd, tokens } }: Loop): string[] {
  return [...(costUsd > 0 ? [money(costUsd)] : []), ...(tokens > 0 ? [tokenWords(tokens)] : [])]
}

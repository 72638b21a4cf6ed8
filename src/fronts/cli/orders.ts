/** `ralph cancel`, `pause`, `steer` and `resume`: what a person tells a loop. */

import { drive } from '../../drive/drive.ts'
import { putBack } from '../../drive/hands.ts'
import { checkpointsOf } from '../../drive/rollback.ts'
import { takeUp } from '../../drive/take-turn.ts'
import { ended, type Loop, type Order, type Work } from '../../engine/loop.ts'
import { RalphError } from '../../error.ts'
import { printCommandLine } from '../../formats/command-line.ts'
import { taskCommand } from '../../formats/task-command.ts'
import { loadConfig } from '../../host/config.ts'
import { askedAbout } from '../../host/vault.ts'
import type { Project } from '../../project/folder.ts'
import { loopsOf } from '../../project/record.ts'
import { sessionOf } from '../../session/armed.ts'
import { holderOf, keepTrue, letGo } from '../../session/elsewhere.ts'
import { CALLER } from '../../vault/spec.ts'
import { type CommandSpec, parseArgs, usage } from './args.ts'
import { type Command, type Context, findLoop, findProject, selfIn } from './context.ts'
import { driveHere } from './drive-here.ts'
import { locate } from './run-agent.ts'
import { endingOf } from './story.ts'
import { keepVaultTrue } from './vault-place.ts'

const LOOP_WORDS =
  'LOOP is an id, the beginning of one, or the name of a project in this folder. Without it: the newest loop of this folder.'

const cancelSpec: CommandSpec = {
  name: 'cancel',
  words: '[LOOP]',
  summary: 'Ends a loop for good; a running agent is ended at once.',
  about: LOOP_WORDS,
  options: {},
}
const pauseSpec: CommandSpec = {
  name: 'pause',
  words: '[LOOP]',
  summary: 'Pauses a loop after the iteration it is in. `ralph resume` goes on.',
  about: LOOP_WORDS,
  options: {},
}

export const cancel: Command = {
  spec: cancelSpec,
  run: (argv, context) => give(cancelSpec, argv, context, { kind: 'cancel' }),
}
export const pause: Command = {
  spec: pauseSpec,
  run: (argv, context) => give(pauseSpec, argv, context, { kind: 'pause' }),
}

async function give(spec: CommandSpec, argv: readonly string[], context: Context, order: Order): Promise<number> {
  const { words } = parseArgs(spec, argv)
  if (words.length > 1) throw usage(spec, 'Name one loop.')
  const [name] = words
  const project = name === undefined ? undefined : findProject(context, name)
  const ids = project ? await openLoops(context, project) : [await findLoop(context, name)]
  for (const id of ids) context.out.write(await deliver(context, id, order))
  return 0
}

/** The loops of a project that have not ended. */
async function openLoops(context: Context, project: Project): Promise<string[]> {
  const store = context.store()
  const loops = await Promise.all((await loopsOf(project, store)).map((id) => store.load(id).catch(() => undefined)))
  const open = loops.flatMap((loop) => (loop && !ended(loop) ? [loop.id] : []))
  if (open.length > 0) return open
  throw new RalphError('loop-ended', `No task of the project ${project.name} is under way.`)
}

/** Leaves the order for whoever drives the loop; where nobody does, it is carried out here. */
async function deliver(context: Context, id: string, order: Order): Promise<string> {
  const store = context.store()
  const { next } = await mustBeOpen(context, id)
  await store.tell(id, 'you', order)
  const heard = `Told loop ${id}. ${order.kind === 'pause' ? 'It pauses when its iteration is over.' : order.kind === 'say' ? 'Its next iteration hears it.' : 'It stops now.'}\n`
  // The turn that a session is at has begun without these words.
  if (order.kind === 'say' && next.kind === 'turn' && holderOf(context.home, id) !== undefined) return heard
  const lease = await store.lease(id)
  if ('heldBy' in lease) return heard
  let loop: Loop
  try {
    const bench = { store, now: context.now, self: selfIn(context.root) }
    const found = await store.load(id)
    // What the caller of a task is at, no ralph can have lost.
    const current = found.spec.work.agent === CALLER ? found : await takeUp(found, lease, bench)
    loop = await drive(current, lease, store, {
      restore: (halting, next) => putBack(() => checkpointsOf(context, halting), next, context.now),
    })
    keepTrue(context.home, loop)
  } finally {
    await lease.release()
  }
  await keepVaultTrue(context, loop)
  const holder = holderOf(context.home, id)
  if (order.kind === 'say' && holder !== undefined)
    return `Told loop ${id}. It hears it when it goes on: resume it in ${holder}, or pause and resume it here.\n`
  return `Loop ${id}: ${endingOf(loop).sentence}\n`
}

async function mustBeOpen(context: Context, id: string): Promise<Loop> {
  const loop = await context.store().load(id)
  if (!ended(loop)) return loop
  throw new RalphError('loop-ended', `Loop ${id} has ended: ${endingOf(loop).sentence} ${againWith(loop.spec.work)}`)
}

function againWith({ project, vault }: Work): string {
  if (project) return `Go on with \`ralph execute ${project.name}\`.`
  return vault ? 'Start it anew with `ralph task start`.' : 'Start a new one with `ralph run`.'
}

/** Nobody here could take its turns. */
function callersOwn({ id, next, spec }: Loop): RalphError {
  const { path, id: task } = spec.work.vault ?? { path: spec.work.dir, id }
  const advice =
    next.kind === 'wait'
      ? `It waits for you: ${taskCommand('approve', task, path)}, or ${taskCommand('reject', task, path)}.`
      : `When an iteration is over: ${taskCommand('iterate', task, path, '--action', '…')}. To have ralph do it instead: ralph cancel ${id}, then ${printCommandLine(['ralph', 'watch', path])}.`
  return new RalphError('usage', `Loop ${id} is the task ${task}, worked on by whoever started it. ${advice}`)
}

const DRIVING = {
  notify: { help: 'bell, desktop message and webhook when it stops' },
  json: { help: 'print one JSON object a line' },
} as const

const resumeSpec: CommandSpec = {
  name: 'resume',
  words: '[LOOP] [options]',
  summary: 'Goes on with a loop that was paused, waits, or whose ralph was killed.',
  about: `${LOOP_WORDS}\nA turn that was interrupted is tried again; no iteration is counted twice. A loop that waits for a limit is tried at once.`,
  options: DRIVING,
}

export const resume: Command = {
  spec: resumeSpec,
  async run(argv, context) {
    const args = parseArgs(resumeSpec, argv)
    if (args.words.length > 1) throw usage(resumeSpec, 'Name one loop.')
    const id = await findLoop(context, args.words[0])
    await mustBeOpen(context, id)
    const { next, spec } = await context.store().load(id)
    if (spec.work.project && !(await context.store().isDriven(id)))
      throw new RalphError(
        'usage',
        `Loop ${id} works on ${spec.work.project.task} of a project. Go on with: ralph execute ${spec.work.project.name}`,
      )
    if (spec.work.agent === CALLER) {
      if (next.kind !== 'wait' || next.why !== 'paused') throw callersOwn(await context.store().load(id))
      context.out.write(await deliver(context, id, { kind: 'resume' }))
      return 0
    }
    if (next.kind === 'wait' && (await context.store().isDriven(id))) {
      await context.store().tell(id, 'you', { kind: 'resume' })
      context.out.write(`Told loop ${id}. It tries at once.\n`)
      return 0
    }
    const holder = holderOf(context.home, id)
    if (holder !== undefined && next.kind !== 'wait')
      throw new RalphError(
        'loop-held',
        `Loop ${id} is at work in ${holder}. Pause it first, then resume it here without that session: ralph pause ${id}`,
      )
    // Its session could still go on with it, so it is not given to an agent that is not here.
    if (sessionOf(context.home, id)) locate(spec.work.agent, { context, dir: spec.work.dir })
    letGo(context.home, id)
    return driveHere(
      context,
      id,
      await drivingOf(context, id, args),
      next.kind === 'wait' ? { kind: 'resume' } : undefined,
    )
  },
}

const steerSpec: CommandSpec = {
  name: 'steer',
  words: 'LOOP "words for the next iteration" [options]',
  summary: 'Says something to a loop: its next iteration hears it. A loop that waits for your answer goes on, here.',
  options: DRIVING,
}

export const steer: Command = {
  spec: steerSpec,
  async run(argv, context) {
    const args = parseArgs(steerSpec, argv)
    const [name, words, ...more] = args.words
    if (name === undefined || !words?.trim() || more.length > 0)
      throw usage(steerSpec, 'Name a loop and give the words in quotes: ralph steer LOOP "use tabs".')
    const id = await findLoop(context, name)
    await mustBeOpen(context, id)
    const { next, spec } = await context.store().load(id)
    const { project } = spec.work
    if (project && !(await context.store().isDriven(id))) {
      await context.store().tell(id, 'you', { kind: 'say', words })
      context.out.write(`Told loop ${id}. ${project.task} hears it with: ralph execute ${project.name}\n`)
      return 0
    }
    const waits =
      next.kind === 'wait' &&
      next.why === 'person' &&
      !(await context.store().isDriven(id)) &&
      holderOf(context.home, id) === undefined
    const order: Order = { kind: 'say', words }
    if (waits && spec.work.agent === CALLER) throw callersOwn(await context.store().load(id))
    const { vault } = spec.work
    if (waits && vault && askedAbout(vault, next.question) !== 'agent')
      throw new RalphError(
        'usage',
        `Loop ${id} is the task ${vault.id}, which waits for your approval: ${taskCommand('approve', vault.id, vault.path, '--note', words)}.`,
      )
    if (waits) return driveHere(context, id, await drivingOf(context, id, args), order)
    context.out.write(await deliver(context, id, order))
    return 0
  },
}

async function drivingOf(
  context: Context,
  id: string,
  args: { flag(name: string): boolean },
): Promise<{ json: boolean; notify: boolean; webhook?: string }> {
  const { spec } = await context.store().load(id)
  const webhook = loadConfig(context.home, spec.work.dir).notify_webhook
  return { json: args.flag('json'), notify: args.flag('notify'), ...(webhook === undefined ? {} : { webhook }) }
}

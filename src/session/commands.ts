/** What a person types in their session, other than the task itself: status, cancel, pause, resume, help. */

import { visit } from '../drive/visit.ts'
import { iterationLimit } from '../engine/limits.ts'
import { ended, type Loop, statusOf } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { realFolder } from '../host/files.ts'
import { type Answer, say } from './answer.ts'
import { type Armed, arm, disarm, loadArmed, processOf, sessionOf, typedAt } from './armed.ts'
import { type Asked, beginLoop, chooseFace, type Desk } from './begin.ts'
import { writeFace } from './face.ts'
import { type CommandName, HOSTS, type Host } from './hosts.ts'
import { settle } from './settle.ts'
import { standing } from './standing.ts'
import { goOnNow, told, withLoop } from './turn-over.ts'

export async function runCommand(desk: Desk, command: CommandName, asked: Asked): Promise<Answer> {
  switch (command) {
    case 'loop':
      // It would be a prompt otherwise, and nobody means that.
      return /^(--help|-h)$/.test(asked.args.trim()) ? help(asked) : beginLoop(desk, asked)
    case 'cancel':
    case 'pause':
      return order(desk, command, asked)
    case 'resume':
      return resume(desk, asked)
    case 'status':
      return status(desk, asked)
    case 'help':
      return help(asked)
  }
}

function help({ host }: Asked): Answer {
  return say(helpFor(HOSTS[host]))
}

async function order(desk: Desk, kind: 'cancel' | 'pause', { session, host, args }: Asked): Promise<Answer> {
  const armed = loadArmed(desk.home, session)
  const id = args.trim() ? await desk.store().find(args.trim()) : armed?.loop
  if (id !== armed?.loop)
    throw new RalphError('usage', `Loop ${id} is not the one of this session. In a shell: ralph ${kind} ${id}`)
  if (!armed) return say(noLoop(HOSTS[host]))
  if (armed.context === 'process') return orderBeside(desk, kind, { session, armed })
  await freshCount(desk, session)
  if (await desk.store().isDriven(armed.loop)) return tell(desk, kind, armed) // its checks run
  return withLoop(
    desk,
    session,
    async (held) => {
      await told(held, 'you', { kind })
      return settle(desk, held, [])
    },
    'person',
  )
}

/** An order for the program beside the session; where it does not run, the order is carried out here. */
async function orderBeside(
  desk: Desk,
  kind: 'cancel' | 'pause',
  { session, armed }: { session: string; armed: Armed },
): Promise<Answer> {
  const answer = await tell(desk, kind, armed)
  return visit<Answer>(armed.loop, {
    store: desk.store(),
    now: desk.now,
    held: () => answer,
    async work(held) {
      const loop = await held.drive({})
      if (ended(loop)) disarm(desk.home, session)
      return { loop, context: 'process', show: [standing(loop, HOSTS[armed.host])] }
    },
  })
}

/** Whoever drives the loop carries it out. */
async function tell(desk: Desk, kind: 'cancel' | 'pause', { loop }: Armed): Promise<Answer> {
  await desk.store().tell(loop, 'you', { kind })
  return { ...say(`ralph: told loop ${loop}.`), loop: await desk.store().load(loop) }
}

/** The loop of this session goes on, or the one that is named, wherever it was. */
async function resume(desk: Desk, asked: Asked): Promise<Answer> {
  const name = asked.args.trim()
  const own = loadArmed(desk.home, asked.session)
  if (!own && !name) return say(noLoop(HOSTS[asked.host]))
  if (name) await takeOver(desk, asked, await desk.store().find(name))
  else if (own?.context === 'process') return resumeBeside(desk, own)
  else if (own) await freshCount(desk, asked.session)
  return goOnNow(desk, asked.session, { kind: 'told', at: desk.now(), by: 'you', order: { kind: 'resume' } })
}

/** The program beside the session is started anew by whoever asked. */
async function resumeBeside(desk: Desk, { loop: id, host }: Armed): Promise<Answer> {
  const loop = await desk.store().load(id)
  return { loop, context: 'process', show: ended(loop) ? [standing(loop, HOSTS[host])] : [] }
}

/** A person has typed something: what a host's cap counts begins anew, and they are told things again. */
async function freshCount(desk: Desk, session: string): Promise<void> {
  const armed = loadArmed(desk.home, session)
  const loop =
    armed &&
    (await desk
      .store()
      .load(armed.loop)
      .catch(() => undefined)) // of a home that was cleared
  if (!loop) return
  arm(desk.home, session, typedAt(armed, loop))
}

async function takeOver(desk: Desk, { session, host, dir }: Asked, id: string): Promise<void> {
  const loop = await desk.store().load(id)
  const own = loadArmed(desk.home, session)
  if (own?.loop === id) return freshCount(desk, session)
  if (own && (await isOpen(desk, own.loop))) throw new RalphError('usage', `This session has loop ${own.loop} already.`)
  if (ended(loop))
    throw new RalphError('loop-ended', `Loop ${id} has ended. Start a new one with ${HOSTS[host].types('loop')}.`)
  if (loop.spec.work.owner?.kind === 'project')
    throw new RalphError('usage', `Loop ${id} belongs to a project, which goes on with \`ralph execute\`.`)
  if (loop.spec.work.dir !== realFolder(dir))
    throw new RalphError(
      'usage',
      `Loop ${id} works in ${loop.spec.work.dir}, and this session in ${dir}. Resume it there.`,
    )
  if (await desk.store().isDriven(id))
    throw new RalphError('loop-held', `Loop ${id} is at work elsewhere. Pause it first: ralph pause ${id}`)
  const before = sessionOf(desk.home, id)
  // After /clear the same process has another session.
  const over = before?.gone || (before?.armed.pid !== undefined && before.armed.pid === processOf(desk.env).pid)
  if (before && !over && loop.next.kind === 'turn')
    throw new RalphError(
      'loop-held',
      `Loop ${id} is at work in another session of ${HOSTS[before.armed.host].title}. Pause it first: ralph pause ${id}`,
    )
  const face = before?.armed.face ?? (await chooseFace(desk, dir, { host, session }))
  if (before) disarm(desk.home, before.session)
  writeFace(face, { loop, session })
  arm(desk.home, session, {
    loop: id,
    host,
    face,
    context: 'same',
    since: loop.tally.iteration,
    ...processOf(desk.env),
  })
}

/** Not so when it ended elsewhere and the session has not heard of it, or when the home was cleared. */
async function isOpen(desk: Desk, id: string): Promise<boolean> {
  const loop = await desk
    .store()
    .load(id)
    .catch(() => undefined)
  return loop !== undefined && !ended(loop)
}

async function status(desk: Desk, { session, host, dir }: Asked): Promise<Answer> {
  const armed = loadArmed(desk.home, session)
  const loops = await openLoops(desk, dir)
  const own =
    armed &&
    (await desk
      .store()
      .load(armed.loop)
      .catch(() => undefined)) // of a home that was cleared
  const others = loops.filter(({ id }) => id !== armed?.loop)
  const lines = [
    own ? `${standing(own, HOSTS[host]).text}${detail(own)}` : noLoop(HOSTS[host]),
    ...others.map(
      (loop) =>
        `Besides, in this folder: loop ${loop.id}, ${whereIs(desk, loop)}, ${progress(loop)}: ${firstLine(loop)}`,
    ),
    ...(others.length > 0 ? [`Go on with one of them here: ${HOSTS[host].types('resume')} LOOP`] : []),
  ]
  return {
    ...(own ? { loop: own, ...(armed ? { context: armed.context } : {}) } : {}),
    show: [{ level: 'info', text: lines.join('\n') }],
  }
}

async function openLoops(desk: Desk, dir: string): Promise<Loop[]> {
  const { rows } = await desk.store().list({ dir: realFolder(dir), limit: 50 })
  const loops = await Promise.all(rows.map(({ id }) => desk.store().load(id)))
  return loops.filter((loop) => !ended(loop))
}

function whereIs(desk: Desk, loop: Loop): string {
  const held = sessionOf(desk.home, loop.id)
  return `${statusOf(loop)}${held ? ` in another session of ${HOSTS[held.armed.host].title}` : ''}`
}

function detail(loop: Loop): string {
  const { tally, spec } = loop
  const checked =
    tally.failures === undefined ? '' : tally.failures === 0 ? ' The last check passed.' : ' The last check failed.'
  return ` (loop ${loop.id}, ${progress(loop)}).${checked}\n${firstLine(loop)}${spec.checks.length > 0 ? `\nChecked by ${spec.checks.join(', ')}` : ''}`
}

function progress({ spec, tally }: Loop): string {
  const most = iterationLimit(spec.limits, tally)
  return `${tally.iteration}${most > 0 ? ` of ${most}` : ''} iterations finished`
}

function firstLine({ spec }: Loop): string {
  const [line = ''] = spec.prompt.trim().split('\n')
  const shown = line.replace(/\p{Cc}/gu, ' ')
  return shown.length > 100 ? `${shown.slice(0, 99)}…` : shown
}

function noLoop(host: Host): string {
  return `ralph: no loop is active in this session. Start one: ${host.types('loop')} Make the tests pass --verify "npm test"`
}

function helpFor(host: Host): string {
  const { contexts, folder } = host
  const rows: [string, string][] = [
    [`${host.types('loop')} PROMPT [options]`, 'works on the prompt again and again until it is done'],
    [host.types('status'), 'shows how the loop stands'],
    [host.types('pause'), 'rests; the turn under way is not counted'],
    [`${host.types('resume')} [LOOP]`, 'goes on, also with a loop of another session'],
    [host.types('cancel'), 'ends the loop'],
  ]
  const options: [string, string][] = [
    ['--verify CMD', 'a command that proves the work; ralph runs it itself. Give several, or auto'],
    ['--completion-promise T', 'the agent says it is done with <promise>T</promise>'],
    ['--max-iterations N', 'default 10; 0 is no limit'],
    ['--timeout MIN', 'minutes in all'],
    ['--file F', 'the prompt is in a file'],
    ...(contexts.length > 1 ? [['--context C', contexts.join(', ')] as [string, string]] : []),
    ...(contexts.includes('process')
      ? [['--subagent NAME', 'with --context process: one of your agents'] as [string, string]]
      : []),
  ]
  const width = Math.max(...[...rows, ...options].map(([left]) => left.length)) + 2
  const print = (list: [string, string][]) => list.map(([left, right]) => `  ${left.padEnd(width)}${right}`).join('\n')
  return `ralph keeps this agent at one task until the task is proven done.\n\n${print(rows)}\n\nOptions, before or behind the prompt:\n${print(options)}\n\nThe loop is a file you can edit: ${folder}/ralph-loop.local.md. Deleting it ends the loop.`
}

/** The state of a session's loop, and the other loops in its folder. */
import { endedOnLimit } from '../engine/extend.ts'
import { count, iterationLimit } from '../engine/limits.ts'
import { ended, type Loop, statusOf } from '../engine/loop.ts'
import { beforeLines, findingLines } from '../formats/proof-words.ts'
import { moreOption } from '../formats/room-words.ts'
import { spent } from '../formats/spent-words.ts'
import { realFolder } from '../host/files.ts'
import type { Answer } from './answer.ts'
import { loadArmed, loadFinished, sessionOf } from './armed.ts'
import type { Asked, Desk } from './begin.ts'
import { loadKnown } from './desk.ts'
import { interruptedIn } from './elsewhere.ts'
import { HOSTS, type Host } from './hosts.ts'
import { standing } from './standing.ts'

export async function status(desk: Desk, { session, host, dir }: Asked): Promise<Answer> {
  const armed = loadArmed(desk.home, session)
  const loops = await openLoops(desk, dir)
  const own = armed && (await loadKnown(desk, armed.loop))
  const last = armed ? undefined : loadFinished(desk.home, session)
  const over = last && (await loadKnown(desk, last.loop))
  const others = loops.filter(({ id }) => id !== armed?.loop)
  const lines = [
    own
      ? `${stateText(desk, own, HOSTS[host])}${detail(own)}`
      : over
        ? endedText(over, HOSTS[host])
        : noLoop(HOSTS[host]),
    ...others.map(
      (loop) => `Also in this folder: loop ${loop.id}, ${whereIs(desk, loop)}, ${progress(loop)}: ${firstLine(loop)}`,
    ),
    ...(others.length > 0 ? [`Resume one of them here: ${HOSTS[host].types('resume')} LOOP`] : []),
  ]
  return {
    ...(own ? { loop: own, ...(armed ? { context: armed.context } : {}) } : {}),
    show: [{ level: 'info', text: lines.join('\n') }],
  }
}

/** The last loop of this session, wherever it is now. */
function endedText(loop: Loop, host: Host): string {
  const more = endedOnLimit(loop) ? `\nResume: ${host.types('resume')} ${moreOption(loop)}` : ''
  const known = ended(loop)
    ? standing(loop, host, false).text
    : `ralph: loop ${loop.id} continues elsewhere (${statusOf(loop)}).`
  return `${known}${detail(loop)}${more}\nNo loop is active in this session now.`
}

function stateText({ home }: Desk, loop: Loop, host: Host): string {
  const resume = interruptedIn(home, loop)
  if (resume === undefined) return standing(loop, host).text
  return `ralph: interrupted after ${count(loop.tally.iteration, 'iteration')}; ${resume} continues it.`
}

async function openLoops(desk: Desk, dir: string): Promise<Loop[]> {
  const { rows } = await desk.store().list({ dir: realFolder(dir), limit: 50 })
  const loops = await Promise.all(rows.map(({ id }) => desk.store().load(id)))
  return loops.filter((loop) => !ended(loop))
}

function whereIs(desk: Desk, loop: Loop): string {
  const held = sessionOf(desk.home, loop.id)
  const word = interruptedIn(desk.home, loop) === undefined ? statusOf(loop) : 'interrupted'
  return `${word}${held ? ` in another session of ${HOSTS[held.armed.host].title}` : ''}`
}

function detail(loop: Loop): string {
  const { tally, spec } = loop
  const checked = tally.failures === undefined ? '' : ` ${lastCheck(tally)}`
  const lines = [
    firstLine(loop),
    ...(spec.checks.length > 0 ? [`Checked by ${spec.checks.join(', ')}`] : []),
    ...beforeLines(loop),
    ...findingLines(tally.findings).map((line) => `ralph noticed: ${line}`),
  ]
  return `\nLoop ${loop.id}: ${progress(loop)}${tally.costUsd > 0 || tally.tokens > 0 ? `, ${spent(tally)}` : ''}.${checked}\n${lines.join('\n')}`
}

function lastCheck({ failures, bent = 0, feedback }: Loop['tally']): string {
  if (failures !== 0) return 'The last check failed.'
  const refused = bent > 0 ? feedback[0] : undefined
  return refused === undefined
    ? 'The last check passed.'
    : `The last check passed, but the claim was refused: ${refused}`
}

function progress({ spec, tally }: Loop): string {
  const most = iterationLimit(spec.limits, tally)
  return most > 0
    ? `${tally.iteration} of ${count(most, 'iteration')} finished`
    : `${count(tally.iteration, 'iteration')} finished`
}

function firstLine({ spec }: Loop): string {
  const [line = ''] = spec.prompt.trim().split('\n')
  const shown = line.replace(/\p{Cc}/gu, ' ')
  return shown.length > 100 ? `${shown.slice(0, 99)}…` : shown
}

export function noLoop(host: Host): string {
  return `ralph: no loop is active in this session. Start one: ${host.types('loop')} Make the tests pass --verify "npm test"`
}

/** The same, with a hint if the last loop of this session can be resumed. */
export async function noLoopHere(desk: Desk, { session, host }: Asked): Promise<string> {
  const last = loadFinished(desk.home, session)
  const over = last && (await loadKnown(desk, last.loop))
  if (!over || !endedOnLimit(over)) return noLoop(HOSTS[host])
  return `ralph: no loop is active in this session; loop ${over.id} halted on a limit. Resume it: ${HOSTS[host].types('resume')} ${moreOption(over)}`
}

/** What the user asks of the session's loop: commands, answers, ESC, and leaving. */
import type { Answer, CommandName } from './answer.ts'
import { enter, isActive, show, tell } from './course.ts'
import { agreed } from './trust.ts'
import { carryOut, isOver, type Works } from './turns.ts'
import { statusWords } from './words.ts'

const GOING_ON = "Ralph: this session's loop is running."
const COMMAND_MS = 120_000
const FAREWELL_MS = 5_000

/** A slash command; undefined when ralph gave no answer. */
export async function command(works: Works, name: CommandName, args: string): Promise<Answer | undefined> {
  const { course, asker } = works
  asker.complainAgain()
  const { phase } = course
  if (name === 'cancel' || (name === 'pause' && (phase === 'asking' || phase === 'waiting'))) {
    await breakOff(works, name, args)
    return course.answer
  }
  if (name === 'resume' && isActive(course) && phase !== 'waiting' && course.answer?.status !== 'paused') {
    course.session.say('info', GOING_ON)
    return course.answer
  }
  const ask = (more: { trusts?: string } = {}) =>
    asker.ask({ event: 'command', command: name, args, ...more }, name === 'resume' ? undefined : COMMAND_MS)
  const first = await ask()
  const trusts = first?.trust && (await agreed(course.session, first.trust))
  const told = trusts === undefined ? first : await ask({ trusts })
  if (told) await take(works, name, told)
  return told
}

/** Stops everything that is running at once, including the agent's turn. */
export async function breakOff(works: Works, order: 'pause' | 'cancel', args = ''): Promise<void> {
  const { phase, session } = works.course
  await interrupt(works, order, args)
  if (phase === 'turn') session.abort()
}

async function take(works: Works, name: CommandName, told: Answer): Promise<void> {
  const { course } = works
  const isStart = name === 'loop' || name === 'resume'
  const begins = told.next === 'turn' || (isStart && (told.next !== 'none' || !isActive(course)))
  if (begins && course.phase === 'waiting') await halt(works)
  if (begins && course.phase !== 'turn') {
    carryOut(works, told)
    return
  }
  tell(course, told)
  // The current turn will be judged by this.
  if (begins || name === 'pause') course.answer = told
}

/** Text typed while the loop waits for an answer. */
export async function reply(works: Works, text: string): Promise<Answer | undefined> {
  const told = await works.asker.ask({ event: 'prompt', prompt: text })
  if (told) carryOut(works, told)
  return told
}

/** A session that Pi has resumed may have a loop. */
export async function find({ course, asker }: Works): Promise<void> {
  const told = await asker.ask({ event: 'command', command: 'status', args: '' }, COMMAND_MS)
  if (!told || isOver(told) || isActive(course)) return
  course.answer = told
  if (told.status === 'needs-input') {
    tell(course, told)
    enter(course, 'person')
    return
  }
  const words = `Ralph: this session has an unfinished loop (${statusWords(told)}).`
  course.session.say('info', `${words} /ralph-resume continues it, /cancel-ralph ends it.`)
}

/** ESC, when Pi would not report it. */
export function pressEscape(works: Works): { consume: true } | undefined {
  const { course, apart } = works
  if (!isActive(course)) return undefined
  const isPis = course.phase === 'turn' || course.phase === 'asking' // it also ends its own run
  if (course.phase === 'turn' && !course.settling) course.escaped = true
  else if (course.phase === 'apart') apart.end()
  else void interrupt(works, 'pause')
  return isPis ? undefined : { consume: true }
}

/** Pi leaves the session: everything stops, and the loop can be resumed. Returns what to show the user later. */
export async function leave(works: Works): Promise<string | undefined> {
  const { course, asker } = works
  course.session.leave()
  if (isActive(course)) {
    await halt(works)
    await asker.ask({ event: 'command', command: 'pause', args: '' }, FAREWELL_MS)
    course.ending.resolve()
  }
  const { answer } = course
  if (!answer || isOver(answer)) return undefined
  return `Ralph: loop ${answer.loop} is paused (${statusWords(answer)}). /ralph-resume ${answer.loop} resumes it here.`
}

/** Stops everything that is running here, and tells ralph why. */
async function interrupt(works: Works, order: 'pause' | 'cancel', args = ''): Promise<void> {
  const { course, asker } = works
  await halt(works)
  const told = await asker.ask({ event: 'command', command: order, args }, COMMAND_MS)
  if (told) course.answer = told
  if (told) tell(course, told)
  enter(course, 'idle')
}

async function halt({ course, asker, apart }: Works): Promise<void> {
  asker.end()
  if (isActive(course)) course.phase = 'idle' // a caller waiting for an answer finds that it is no longer wanted
  show(course, {})
  await apart.halt()
}

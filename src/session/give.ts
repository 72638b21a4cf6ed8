/** The prompt for a session's agent: the whole task, or only what is new if it still has the rest. */
import { claimTag } from '../engine/claim.ts'
import type { Loop } from '../engine/loop.ts'
import { mixer } from '../host/mixer.ts'
import { buildReminder, buildTurnPrompt, lastingWords } from '../prompt/turn-prompt.ts'
import { opened } from './answer.ts'
import { type Armed, arm } from './armed.ts'
import type { Desk, Holding } from './desk.ts'
import { readFace } from './face.ts'
import { HOSTS } from './hosts.ts'

/** The prompt of the turn that a loop asks for; the session remembers it. */
export function give({ home, now }: Pick<Desk, 'home' | 'now'>, held: Omit<Holding, 'visit'>, loop: Loop): string {
  const { told } = held.armed
  const sum = sumOf(loop)
  const short = told?.sum === sum ? reminder(loop, held.armed) : undefined
  const given = short ?? wholePrompt(home, loop, held.armed)
  const { due: _, ...armed } = held.armed
  keep(home, held, { ...armed, given, ...(short === undefined ? { told: { sum, at: now() } } : {}) })
  return opened(home, given, given)
}

/** The agent's last prompt, word for word. For a session armed by an older ralph it is rebuilt from the loop. */
export function givenTo(home: string, loop: Loop, armed: Armed): string {
  const { given = wholePrompt(home, loop, armed) } = armed
  return opened(home, given, given)
}

/** Saves what a session knows about its loop. */
export function keep(home: string, held: Omit<Holding, 'visit'>, armed: Armed): void {
  held.armed = armed
  arm(home, held.session, armed)
}

/** The agent may no longer have the task. */
export function forgetTask({ told: _, ...armed }: Armed): Armed {
  return armed
}

function sumOf(loop: Loop): string {
  const sum = mixer()
  sum.add(lastingWords(loop))
  return sum.text()
}

/** Undefined when the agent needs all of it: it has no memory, the prompt of a failed first turn may not have arrived, or it cannot look the task up. */
function reminder(loop: Loop, { context, host, face }: Armed): string | undefined {
  const { next } = loop
  if (context !== 'same' || next.kind !== 'turn' || next.fresh || next.iteration === 1) return undefined
  return readFace(face).kind === 'file' ? signed(loop, host, buildReminder(loop, next, face)) : undefined
}

/** What the host would truncate or escape is in the face as it was typed. */
export function wholePrompt(
  home: string,
  loop: Loop,
  { context, host, face }: Pick<Armed, 'context' | 'host' | 'face'>,
): string {
  const { spec, next } = loop
  if (next.kind !== 'turn' || context === 'process') return ''
  const { mostBytes, escapes } = HOSTS[host]
  const task = spec.prompt.trimEnd()
  const built = buildTurnPrompt({ ...loop, spec: { ...spec, work: { ...spec.work, context } } }, next)
  const rest = signed(loop, host, built.slice(task.length))
  const whole = task + rest
  if (!face) return whole
  if (mostBytes !== undefined && Buffer.byteLength(opened(home, whole, whole)) > mostBytes)
    return `The task is in the file ${face}, below its header: read all of it before you do anything else.${rest}`
  const typed =
    escapes && /[<>&]/.test(opened(home, task, task))
      ? `\n\nBrackets may reach you as XML entities; the task as typed is in ${face}.`
      : ''
  return task + typed + rest
}

/** Uses a completion sign that arrives unescaped. */
function signed({ spec }: Loop, host: Armed['host'], rules: string): string {
  const [sign] = spec.signals
  return HOSTS[host].escapes && spec.promise && sign ? rules.replaceAll(claimTag(spec.promise), sign) : rules
}

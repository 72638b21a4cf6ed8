/** Messages to a session about the vault task it works on. */
import { stopped } from '../engine/breaker.ts'
import { atCap, count } from '../engine/limits.ts'
import type { Loop } from '../engine/loop.ts'
import { gradeWords } from '../formats/proof-words.ts'
import { taskCommand } from '../formats/task-command.ts'
import type { Answer, Note } from '../session/answer.ts'
import { loadArmed } from '../session/armed.ts'
import type { Desk } from '../session/begin.ts'
import { allowance, HOSTS } from '../session/hosts.ts'
import { answersTo } from '../vault/answers.ts'
import { limitMessage, timeoutMessage } from '../vault/telling.ts'
import { vaultOf } from '../vault/vault-task.ts'
import { isAboutFile } from '../vault/where.ts'
import type { From } from './task-session.ts'

/** The usual session messages name commands that a vault does not have; these name its task. */
export function inTaskWords({ home, env }: Desk, { session }: From, answer: Answer): Answer {
  const { loop, show } = answer
  const [first, ...more] = show
  if (!loop || !first) return answer
  const rest = more.filter(({ kind }) => kind !== 'cap')
  if (loop.next.kind !== 'turn') return { ...answer, show: [taskStanding(loop), ...rest] }
  return { ...answer, show: [first, ...rest, ...capNote(loop, loadArmed(home, session)?.since ?? 0, env)] }
}

export function taskStanding(loop: Loop): Note {
  const { tally, next } = loop
  const { id, done, file } = vaultOf(loop)
  const after = `after ${count(tally.iteration, 'iteration')}`
  switch (next.kind) {
    case 'complete': {
      const where = next.proof === 'claimed' ? `${file} is in ${done}, ` : ''
      const level = next.proof === 'altered' ? 'warning' : 'info'
      return { level, text: `ralph: task ${id} is done ${after}, ${where}proof: ${gradeWords(next)}. ${next.sentence}` }
    }
    case 'halt':
      return { level: 'warning', text: `ralph: task ${id} stopped ${after}. ${endOf(loop)}` }
    case 'wait':
      if (next.why === 'person') return waiting(loop, next.question ?? '')
      if (next.why === 'cooldown')
        return {
          level: 'warning',
          text: `ralph: task ${id}: ${stopped(next.stop.sentence)} The breaker is open ${after}; ralph will try once more after a cooldown. Retry now: ralph resume ${loop.id}`,
        }
      if (next.until !== undefined)
        return { level: 'info', text: `ralph: task ${id} is waiting for the agent ${after}.` }
      return {
        level: 'info',
        text: `ralph: task ${id} is paused ${after}; this session is no longer looping. Resume: ralph resume ${loop.id}`,
      }
    case 'turn':
    case 'check':
    case 'prove':
    case 'restore':
      return {
        level: 'warning',
        text: `ralph: task ${id} has not ended: its checks could not finish. They run again the next time the agent stops.`,
      }
  }
}

function waiting(loop: Loop, question: string): Note {
  const { id, path } = vaultOf(loop)
  const { approve, instead, reject } = answersTo(loop)
  if (instead !== undefined)
    return {
      level: 'warning',
      text: `ralph: task ${id} needs you: ${question} \`${approve}\` accepts it, \`${instead}\` says what to do instead, \`${reject}\` ends it.`,
    }
  const answer = isAboutFile(loop) ? [] : ['--note', 'your answer']
  return {
    level: 'warning',
    text: `ralph: task ${id} needs you: ${question} Continue with \`${taskCommand('approve', id, path, ...answer)}\`, end it with \`${reject}\`.`,
  }
}

export function endOf(loop: Loop): string {
  if (loop.next.kind !== 'halt') return ''
  if (loop.next.reason === 'timeout') return timeoutMessage(loop)
  return loop.next.reason === 'max-iterations' ? limitMessage(loop) : loop.next.sentence
}

/** Said once, with the last turn that Claude Code is sure to allow. */
function capNote(loop: Loop, since: number, env: Desk['env']): Note[] {
  const { cap, title } = HOSTS.claude
  const most = allowance(HOSTS.claude, env)
  if (!atCap(loop, since, most)) return []
  return [
    {
      level: 'warning',
      text: `ralph: ${title} lets a hook keep it going ${count(most, 'time')} in a row (${cap?.raise}). If it stops here, tell it to continue.`,
    },
  ]
}

/** The rules of a vault's tasks as owners of loops. */
import { existsSync } from 'node:fs'
import type { OwnerRules } from '../drive/owner.ts'
import type { Loop } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { printCommandLine } from '../formats/command-line.ts'
import { taskCommand } from '../formats/task-command.ts'
import { answersTo } from './answers.ts'
import { seeTo } from './ending.ts'
import { movedBefore } from './moved.ts'
import { checksOf, moverOf, restFacts } from './moving.ts'
import { resolveSettings } from './settings.ts'
import { lockTask } from './task-lock.ts'
import { vaultOf } from './vault-task.ts'
import { isAboutFile } from './where.ts'
import { taskTurn } from './work.ts'

export const vaultRules: OwnerRules = {
  takesTurns: (loop) => !isCallers(loop),
  again: () => 'Start it again with `ralph task start`.',
  refuses(loop, wish) {
    const { id, path } = vaultOf(loop)
    const isPaused = loop.next.kind === 'wait' && loop.next.why === 'paused'
    if (isCallers(loop) && (wish.kind === 'answer' || (wish.kind === 'resume' && !isPaused))) return callersOwn(loop)
    if (wish.kind === 'fork' || wish.kind === 'retry' || wish.kind === 'extend')
      return new RalphError(
        'usage',
        `Loop ${loop.id} belongs to task ${id} in the vault ${path}. Move its file back to Needs_Action, then start it again with \`ralph task start\`.`,
      )
    if (wish.kind !== 'answer' || !isAboutFile(loop)) return undefined
    return new RalphError(
      'usage',
      `Loop ${loop.id} is the task ${id}, which is waiting for your approval: ${taskCommand('approve', id, path, '--note', wish.words)}.`,
    )
  },
  since: restFacts,
  turn: (loop) => taskTurn(vaultOf(loop)),
  instead: movedBefore,
  async after({ store, home, env, now, note }, held) {
    const { path, id } = vaultOf(held.loop)
    if (!existsSync(path)) return
    const settings = resolveSettings({}, { env, home, vault: path })
    const desk = { vault: path, settings, store, home, env, now, note, histories: new Map() }
    if ((await store.tasks.load(path, id))?.loop !== held.loop.id) return
    // A watcher that is working on it finishes it itself; two at once would interfere.
    const lock = lockTask(desk, id)
    if ('heldBy' in lock) return
    try {
      await seeTo(desk, id, moverOf(held, checksOf(desk)))
    } finally {
      lock.release()
    }
  },
  hints(loop) {
    const { id, path } = vaultOf(loop)
    const { approve, instead, reject } = answersTo(loop)
    return {
      answer: instead
        ? `Allow it: ${approve} · or say what to do instead: ${instead} · Reject it: ${reject}`
        : `Approve it: ${taskCommand('approve', id, path)} · Reject it: ${reject}`,
      check: 'a check in the frontmatter of its file, such as `verify: npm test`',
      whose: `task ${id} of the vault ${path}`,
      ...(isCallers(loop) ? { worker: 'the program that started it' } : {}),
    }
  },
}

function isCallers(loop: Loop): boolean {
  return vaultOf(loop).by === 'caller'
}

/** Its turns cannot be taken here. */
function callersOwn(loop: Loop): RalphError {
  const { id: task, path } = vaultOf(loop)
  const { approve, instead, reject } = answersTo(loop)
  const advice =
    loop.next.kind === 'wait'
      ? `It is waiting for you: ${instead ? `${approve}, ${instead}` : taskCommand('approve', task, path)}, or ${reject}.`
      : `After an iteration: ${taskCommand('iterate', task, path, '--action', '…')}. To have ralph do it instead: ralph cancel ${loop.id}, then ${printCommandLine(['ralph', 'watch', path])}.`
  return new RalphError(
    'usage',
    `Loop ${loop.id} belongs to vault task ${task}, and the program that started it does the work. ${advice}`,
  )
}

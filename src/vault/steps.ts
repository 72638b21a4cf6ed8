/** The progress of a task, by the checkboxes in its file. */
import { join } from 'node:path'
import { RalphError } from '../error.ts'
import { readSteps, type Steps } from '../formats/task-steps.ts'
import type { VaultDesk } from './desk.ts'
import { readText } from './place.ts'
import type { VaultTask } from './vault-task.ts'
import { findFile } from './where.ts'

/**
 * Records them when they have changed since the last look: until then, what the agent reported counts. After a restart,
 * progress with another number of steps is the agent's own.
 */
export function openSteps({ store, vault, now }: VaultDesk, task: VaultTask, loop: string): () => Promise<void> {
  const key = { vault, id: task.id, loop }
  let last: string | undefined
  return async () => {
    const steps = stepsOf(task)
    const seen = JSON.stringify(steps)
    if (!steps || seen === last) return
    const known = last === undefined ? (await store.tasks.load(vault, task.id))?.record.progress : undefined
    last = seen
    if (known === undefined || known.total === steps.total)
      await store.tasks.change(key, { progress: { ...steps, at: now() } })
  }
}

/** None if the file cannot be read now: it may be on its way to another folder. */
function stepsOf(task: VaultTask): Steps | undefined {
  try {
    const place = findFile(task)
    return place === undefined ? undefined : readSteps(readText(join(task.path, place)))
  } catch (cause) {
    if (cause instanceof RalphError) return undefined
    throw cause
  }
}

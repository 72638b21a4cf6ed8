/** A task of a project as the owner of its loop, and the rules for that. */
import type { OwnerRules } from '../drive/owner.ts'
import type { Loop } from '../engine/loop.ts'
import { RalphError } from '../error.ts'

/** `folder` is where its agent finds the project files. */
export type ProjectTask = { kind: 'project'; name: string; task: string; folder: string }

/** The task of a loop that has one. */
export function projectOf({ id, spec }: Loop): ProjectTask {
  const { owner } = spec.work
  if (owner?.kind !== 'project') throw new Error(`Loop ${id} is not a project task.`)
  return owner as ProjectTask // only this folder creates owners of that kind
}

export const projectRules: OwnerRules = {
  again: (loop) => `Continue with \`ralph execute ${projectOf(loop).name}\`.`,
  receivesLater(loop) {
    const { task, name } = projectOf(loop)
    return `${task} receives it when you run: ralph execute ${name}`
  },
  refuses(loop, wish) {
    const { id } = loop
    const { task, name, folder } = projectOf(loop)
    switch (wish.kind) {
      case 'resume':
      case 'extend':
        if (wish.kind === 'resume' && wish.driven) return undefined
        return new RalphError(
          'usage',
          `Loop ${id} works on ${task} of a project. Resume it with: ralph execute ${name}`,
        )
      // Later tasks build on the work of earlier ones, and the project files would describe work that no longer exists.
      case 'rollback':
        return new RalphError(
          'usage',
          `Loop ${id} works on ${task} of the project ${name}, and other tasks build on it. Revert its commits with git, and set the task to "pending" in ${folder}/tasks.json.`,
        )
      case 'accept':
        return new RalphError(
          'usage',
          `Loop ${id} works on ${task} of a project, which merges the work of its tasks itself: ralph execute ${name}`,
        )
      // Its prompt is rebuilt for each turn, from the files of the project.
      case 'fork':
      case 'retry':
        return new RalphError(
          'usage',
          `Loop ${id} works on ${task} of a project. Set the task to "pending" in ${folder}/tasks.json, then: ralph execute ${name}`,
        )
      case 'answer':
        return undefined
    }
  },
  hints: () => ({ merges: true }),
}

/** Prepares the tasks of a project for submission to the fleet. */

import { RalphError } from '../error.ts'
import { type ForAll, fromProject } from '../fleet/from-project.ts'
import type { Submitting } from '../fleet/submit.ts'
import { parseTasks } from '../formats/tasks.ts'
import { openProject, readFace } from '../project/folder.ts'
import { fleetStore } from './fleet-desk.ts'
import { statesOf } from './fleet-tasks.ts'
import type { Context } from './operation.ts'

export type { ForAll }

/** Empty: all of them are completed. */
export async function projectTasks(context: Context, name: string, forAll: ForAll): Promise<Submitting[]> {
  const project = openProject(context.cwd, name)
  const text = readFace(project, 'tasks.json')
  if (text === undefined)
    throw new RalphError(
      'tasks-invalid',
      `${project.folder}/tasks.json does not exist. Write it, or start with: ralph interview ${name}`,
    )
  const { tasks } = parseTasks(text, 'tasks.json')
  // `shop-T1`; if one of the ids is taken, all get the same suffix: `shop-T1-2`.
  for (let copy = 1; ; copy++) {
    const submitting = fromProject(name, tasks, { forAll, copy })
    const taken = await statesOf(
      fleetStore(context).fleet,
      submitting.flatMap(({ id }) => id ?? []),
    )
    if (taken.size === 0) return submitting
  }
}

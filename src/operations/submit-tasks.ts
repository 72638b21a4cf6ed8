/** Submits tasks to the fleet. */

import { RalphError } from '../error.ts'
import { mustBeGraph, type Submitting, submissionOf } from '../fleet/submit.ts'
import { mustBeSubmittable } from '../fleet/submittable.ts'
import type { FleetTask } from '../formats/fleet-task.ts'
import type { FleetRecords } from '../host/fleet-store.ts'
import { mustSuit } from './choose-agents.ts'
import { fleetStore } from './fleet-desk.ts'
import { statesOf } from './fleet-tasks.ts'
import type { Operation } from './operation.ts'
import { mustBeNames } from './start-loop.ts'

/** `submitter`: absent where a program submits for nobody in particular. */
export type Submitted = Omit<Submitting, 'submitter'> & { submitter?: string }

export type SubmittedTask = Pick<FleetTask, 'id' | 'loop_id' | 'branch' | 'state'>

export const submitTasks: Operation<{ tasks: Submitted[] }, { tasks: SubmittedTask[] }> = {
  name: 'submit_tasks',
  effect: 'write',
  summary: 'Submits tasks to the fleet: workers on any machine run them and push the work to ralph/<task>.',
  agent: {
    description: 'All or none. Give `checks`: without them nothing proves the work.',
    openWorld: true,
  },
  async run(context, { tasks: asked }) {
    const { fleet } = fleetStore(context)
    const now = await fleet.now()
    const submissions = await Promise.all(asked.map((one) => checked({ submitter: 'program', ...one }, now)))
    const tasks = submissions.map(({ task }) => task)
    await mustBeNew(fleet, tasks)
    mustBeGraph(
      tasks,
      new Set(
        (
          await statesOf(
            fleet,
            tasks.flatMap(({ depends_on }) => depends_on),
          )
        ).keys(),
      ),
    )
    await fleet.submit(submissions)
    const states = await statesOf(
      fleet,
      tasks.map(({ id }) => id),
    )
    return {
      tasks: tasks.map(({ id, loop_id, branch, state }) => ({ id, loop_id, branch, state: states.get(id) ?? state })),
    }
  },
}

async function checked(submitting: Submitting, now: number): ReturnType<typeof submissionOf> {
  mustBeSubmittable(submitting)
  mustBeNames(submitting.stages ?? [])
  const submission = await submissionOf(submitting, now)
  const named = submission.task.agents.filter((agent) => agent !== 'auto')
  if (named.length > 0) mustSuit(named, submitting)
  return submission
}

async function mustBeNew(fleet: FleetRecords, tasks: readonly FleetTask[]): Promise<void> {
  const taken = await statesOf(
    fleet,
    tasks.map(({ id }) => id),
  )
  const [id] = taken.keys()
  if (id !== undefined)
    throw new RalphError('input-invalid', `The fleet already has a task "${id}". Give this one another id.`, {
      field: 'id',
    })
}

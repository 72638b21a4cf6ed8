/** Submits tasks to the fleet. */

import { RalphError } from '../error.ts'
import { mustBeGraph, type Submitting, submissionOf } from '../fleet/submit.ts'
import { mustBeSubmittable } from '../fleet/submittable.ts'
import type { FleetTask } from '../formats/fleet-task.ts'
import { codeOf } from '../host/plain-words.ts'
import { mustSuit } from './choose-agents.ts'
import { fleetStore } from './fleet-desk.ts'
import { statesOf } from './fleet-tasks.ts'
import type { Operation } from './operation.ts'
import { mustBeNames } from './start-loop.ts'

/** `submitter`: absent if a program submits for nobody in particular. */
export type Submitted = Omit<Submitting, 'submitter'> & { submitter?: string }

export type SubmittedTask = Pick<FleetTask, 'id' | 'loop_id' | 'branch' | 'state'>

export const submitTasks: Operation<{ tasks: Submitted[] }, { tasks: SubmittedTask[] }> = {
  name: 'submit_tasks',
  effect: 'write',
  summary: 'Submits tasks to the fleet: workers on any machine run them and push to ralph/<task>.',
  agent: {
    description: 'All or none. Give `checks`: without them nothing proves the work.',
    openWorld: true,
  },
  async run(context, { tasks: asked }) {
    const { fleet } = fleetStore(context)
    const now = await fleet.now()
    const submissions = await Promise.all(asked.map((one) => checked({ submitter: 'program', ...one }, now)))
    const tasks = submissions.map(({ task }) => task)
    const ids = tasks.map(({ id }) => id)
    const [known] = (await statesOf(fleet, ids)).keys()
    if (known !== undefined) throw taken(`Task "${known}"`)
    const needed = await statesOf(
      fleet,
      tasks.flatMap(({ depends_on }) => depends_on),
    )
    mustBeGraph(tasks, new Set(needed.keys()))
    await fleet.submit(submissions).catch((cause) => {
      throw codeOf(cause) === UNIQUE_VIOLATION ? taken('One of these tasks') : cause // another process was faster
    })
    const states = await statesOf(fleet, ids)
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

const UNIQUE_VIOLATION = '23505'

function taken(what: string): RalphError {
  return new RalphError('input-invalid', `${what} already exists in the fleet. Choose another id.`, { field: 'id' })
}

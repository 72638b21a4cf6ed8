/** Runs the steps of an action on a vault's task in order: each is reported as progress, counted, and run once. */
import { RalphError } from '../error.ts'
import { cutTo, oneLine } from '../formats/one-line.ts'
import type { TaskState } from '../formats/task-state.ts'
import { MaxIterationsError, TimeoutError } from './errors.ts'
import type { RalphWiggum } from './ralph-wiggum.ts'

/** A step is identified by its name, so names must be unique. It is awaited and receives the task's state. */
export type ActionStep = { name: string; run: (state: TaskState) => unknown }

const SUCCESS = 'success'
const MOST_RESULT = 1_000

export class ActionExecutor {
  readonly #ralph: RalphWiggum

  constructor(ralph: RalphWiggum) {
    this.#ralph = ralph
  }

  /**
   * Runs until all steps are taken or the task cannot continue: its file is in the done folder, a limit is reached, or it
   * waits for a person. Steps that were counted before are not run again. Returns the state of the task.
   */
  async run(task: string | { task_id: string }, steps: readonly ActionStep[]): Promise<TaskState> {
    mustBeSteps(steps)
    const id = typeof task === 'string' ? task : task?.task_id
    if (typeof id !== 'string')
      throw new RalphError('input-invalid', 'run takes a task, or its task_id, and a list of steps.')
    let state = await this.#begin(id)
    while (isOpen(state)) {
      const step = await this.#tellProgress(state, steps)
      if (!step) break
      await this.#take(await this.#ralph.getTaskState(id), step)
      state = await this.#ralph.getTaskState(id)
      if (!isOpen(state)) await this.#tellProgress(state, steps)
    }
    return this.#ralph.getTaskState(id)
  }

  /** If the file was already moved, no step is needed. If checks refuse it, the steps must satisfy them. */
  async #begin(id: string): Promise<TaskState> {
    const state = await this.#ralph.getTaskState(id)
    if (!isOpen(state) || !(await this.#ralph.checkTaskComplete(id))) return state
    await this.#ralph.completeTask(id).catch((cause) => {
      if (!(cause instanceof RalphError && cause.code === 'task-state')) throw cause
    })
    return this.#ralph.getTaskState(id)
  }

  /** The next step, if one is left. */
  async #tellProgress({ task_id, ...state }: TaskState, steps: readonly ActionStep[]): Promise<ActionStep | undefined> {
    const taken = namesTaken(state)
    const left = steps.filter(({ name }) => !taken.has(name))
    await this.#ralph.updateProgress({
      task_id,
      steps_total: steps.length,
      steps_completed: steps.length - left.length,
      current_step: left[0]?.name ?? '',
    })
    return left[0]
  }

  async #take(state: TaskState, { name, run }: ActionStep): Promise<void> {
    const { task_id } = state
    const startedAt = performance.now()
    const count = (result: string) => {
      const duration_seconds = Math.round(performance.now() - startedAt) / 1_000
      return this.#ralph.incrementIteration({ task_id, action: name, result, duration_seconds })
    }
    try {
      await run(state)
    } catch (cause) {
      const words = cause instanceof Error ? cause.message : String(cause)
      await count(cutTo(`failed: ${oneLine(words)}`, MOST_RESULT)).catch(unlessEnded)
      throw cause
    }
    await count(SUCCESS).catch(unlessEnded)
  }
}

function isOpen({ status }: TaskState): boolean {
  return status === 'initializing' || status === 'in_progress'
}

function namesTaken({ iterations_history: history }: Pick<TaskState, 'iterations_history'>): Set<string> {
  return new Set(history.filter(({ result }) => result === SUCCESS).map(({ action }) => action))
}

/** Someone else may have ended the task meanwhile: its state shows that. */
function unlessEnded(cause: unknown): void {
  if (!(cause instanceof MaxIterationsError || cause instanceof TimeoutError)) throw cause
}

function mustBeSteps(steps: readonly ActionStep[]): void {
  const isStep = (step: Partial<ActionStep> | null) =>
    typeof step?.name === 'string' && step.name.trim() !== '' && typeof step.run === 'function'
  if (!Array.isArray(steps) || steps.length === 0 || !steps.every(isStep))
    throw new RalphError('input-invalid', 'run takes a list of at least one step, each with a name and a function run.')
  const twice = steps.find(({ name }, index) => steps.findIndex((other) => other.name === name) < index)
  if (twice)
    throw new RalphError(
      'input-invalid',
      `Two steps are named "${twice.name}". Names must be unique: they show which steps were taken.`,
    )
}

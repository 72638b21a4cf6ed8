/** The task API: files of a vault, worked on until they are in the done folder. */
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { setImmediate as nextTick } from 'node:timers/promises'
import { ended, type Fact, type Loop, type Order } from '../engine/loop.ts'
import { allChecks } from '../engine/stages.ts'
import { RalphError } from '../error.ts'
import type { TaskProgress, TaskState, VaultStatus } from '../formats/task-state.ts'
import { steadyClock } from '../host/clock.ts'
import { openStore } from '../host/sqlite.ts'
import type { Store, TaskRow } from '../host/store.ts'
import { tellTimeout } from './alarm.ts'
import { approvalWords, bentAdvice } from './answers.ts'
import { comeBack } from './approval.ts'
import {
  type CompletedTask,
  type CountedIteration,
  type Input,
  readCall,
  type StartedTask,
  type StoppedTask,
  type TaskMetrics,
  type VaultOptions,
} from './contract.ts'
import type { VaultDesk } from './desk.ts'
import { seeTo } from './ending.ts'
import { findTask, followMovedVault } from './finding.ts'
import { readInput } from './input.ts'
import { type Call, illegal, type Limited, mustAllow, statusOfTask } from './lifecycle.ts'
import { moveTask } from './moving.ts'
import { FAILED, isTaskId, mustBePresent, openVault, prepareFolders } from './place.ts'
import { resolveSettings, type VaultSettings } from './settings.ts'
import { reportedTurn } from './spec.ts'
import { mustBeWritable, otherKeeper, readState, stateFileOf, stateFilesIn } from './state-file.ts'
import { endIfGone, endOverdue, noteTrouble, readTask, repairHook, repairState, startTask } from './tasks.ts'
import { callsOf, limitMessage, progressOf, stateOf, time, timeoutMessage } from './telling.ts'
import { vaultOf } from './vault-task.ts'
import { isPlainFile, judgeByPlace, whereIs } from './where.ts'

export class RalphWiggum {
  readonly #desk: VaultDesk
  /** The path of each loop's file once done, cached so that checking for it is cheap. */
  readonly #ends = new Map<string, string>()
  /** The last pending call for each task: calls run one after another. */
  readonly #queues = new Map<string, Promise<unknown>>()
  #closed: Promise<void> | undefined
  #gone = false

  /** A plain string is the path of the vault. `store`: instead of the home's own. */
  constructor(given: string | VaultOptions, store?: Store) {
    const named = typeof given === 'string' ? { vault_path: given } : given
    // Callers without types may pass nothing.
    const { home, env = process.env, now = steadyClock(), onNote, ...options }: VaultOptions = named ?? {}
    const { vault_path, ...chosen } = readInput<{ vault_path: string } & Record<string, unknown>>(
      'RalphWiggum',
      options,
      {
        vault_path: { kind: 'id' },
        max_iterations: { kind: 'some', optional: true },
        timeout_minutes: { kind: 'minutes', optional: true },
        state_dir: { kind: 'line', optional: true },
        done_folder: { kind: 'line', optional: true },
        check_interval_seconds: { kind: 'amount', optional: true },
        quiet_seconds: { kind: 'amount', optional: true },
      },
    )
    const vault = openVault(vault_path)
    const place = resolve(home ?? (env.RALPH_HOME || join(homedir(), '.ralph')))
    const settings = resolveSettings(settingsIn(chosen), { env, home: place, vault })
    const note = onNote ?? ((text: string) => process.emitWarning(text, 'RalphWarning'))
    this.#desk = {
      vault,
      settings,
      home: place,
      env,
      now,
      histories: new Map(),
      store: store ?? openStore(place, now, { note }),
      note,
    }
  }

  /** Starts work on a file. */
  async startTask(...input: Input<'startTask'>): Promise<StartedTask> {
    const { task_file, max_iterations, timeout_minutes } = readCall('startTask', input)
    const session = this.#desk.env.CLAUDE_CODE_SESSION_ID
    const loop = await this.#queued('', () =>
      startTask(this.#desk, {
        file: task_file,
        base: process.cwd(),
        by: 'caller',
        ...(max_iterations === undefined ? {} : { maxIterations: max_iterations }),
        ...(timeout_minutes === undefined ? {} : { timeoutMinutes: timeout_minutes }),
        ...(session && isSessionName(session) ? { session } : {}),
      }),
    )
    const { task_id, status, started_at, timeout_at } = stateOf(loop, { record: {}, movedAt: 0 }, [])
    return { task_id, state_file: stateFileOf(this.#desk, task_id), status, started_at, timeout_at }
  }

  /** Whether the file is in the done folder. */
  async checkTaskComplete(...input: Input<'checkTaskComplete'>): Promise<boolean> {
    const { task_id } = readCall('checkTaskComplete', input)
    this.#mustBeOpen()
    const other = this.#otherKeeper(task_id)
    if (other) return isPlainFile(join(this.#desk.vault, this.#desk.settings.doneFolder, other.file))
    const { loop } = await findTask(this.#desk, task_id)
    return isPlainFile(this.#ends.get(loop) ?? (await this.#endOf(loop)))
  }

  /** Counts an iteration that the caller's agent has finished. If the file is in the done folder, the task is completed. */
  async incrementIteration(...input: Input<'incrementIteration'>): Promise<CountedIteration> {
    const { task_id, action, result, duration_seconds } = readCall('incrementIteration', input)
    const loop = await this.#move('incrementIteration', task_id, async (current) => {
      if (current.next.kind !== 'turn')
        throw new RalphError(
          'task-state',
          `Task ${task_id} is paused, so no iteration is counted. \`ralph resume ${current.id}\` resumes it.`,
        )
      this.#mustBePresent()
      mustBeWritable(vaultOf(current))
      const turn = judgeByPlace(vaultOf(current), reportedTurn({ action, result, seconds: duration_seconds }))
      return { kind: 'turned', at: this.#desk.now(), turn }
    })
    const status = statusOfTask(loop, {})
    await this.#show(task_id)
    return {
      task_id,
      iteration: loop.tally.iteration,
      max_iterations: loop.spec.limits.iterations,
      status,
      should_continue: status === 'in_progress',
    }
  }

  /** The state of a task, with all its iterations or the last `history_limit` of them. */
  async getTaskState(...input: Input<'getTaskState'>): Promise<TaskState> {
    const { task_id, history_limit } = readCall('getTaskState', input)
    return this.#queued(task_id, async () => {
      const state = await this.#stateOf(task_id)
      if (history_limit === undefined) return state
      const { iterations_history: history } = state
      return { ...state, iterations_history: history.slice(Math.max(0, history.length - history_limit)) }
    })
  }

  /** Records progress. Changes nothing else. */
  async updateProgress(...input: Input<'updateProgress'>): Promise<{ task_id: string; progress: TaskProgress }> {
    const { task_id, steps_total, steps_completed, current_step } = readCall('updateProgress', input)
    if (steps_completed > steps_total)
      throw new RalphError(
        'input-invalid',
        `updateProgress: steps_completed is ${steps_completed}, but there are only ${steps_total} steps.`,
      )
    const { store, now } = this.#desk
    this.#mustBeOpen()
    const row = await findTask(this.#desk, task_id)
    mustBeWritable(vaultOf(await store.load(row.loop)))
    const progress = { total: steps_total, completed: steps_completed, step: current_step, at: now() }
    await store.tasks.change(row, { progress })
    await this.#show(task_id)
    return { task_id, progress: progressOf({ progress }) }
  }

  /** Ends a task whose file is in the done folder. */
  async completeTask(...input: Input<'completeTask'>): Promise<CompletedTask> {
    const { task_id, exit_reason } = readCall('completeTask', input)
    if (exit_reason !== undefined && OTHER_ENDS.has(exit_reason))
      throw new RalphError(
        'input-invalid',
        `completeTask: exit_reason cannot be "${exit_reason}", which stands for another outcome.`,
      )
    const loop = await this.#move('completeTask', task_id, async (current) => {
      if (current.next.kind === 'complete') return undefined
      const { file, done } = vaultOf(current)
      if (whereIs(vaultOf(current)) !== 'done')
        throw await this.#illegal(current, 'completed', `${file} is not in ${done}: move it there first.`)
      return this.#order({ kind: 'done' })
    })
    const isDone = loop.next.kind === 'complete'
    const task = { vault: this.#desk.vault, id: task_id, loop: loop.id }
    if (isDone) await this.#desk.store.tasks.fill(task, { exitReason: exit_reason ?? 'completed' })
    await this.#show(task_id)
    if (!isDone) throw await this.#illegal(loop, 'completed', bentAdvice(loop) ?? 'Its checks do not pass.')
    const row = await findTask(this.#desk, task_id)
    return {
      task_id,
      status: 'completed',
      completed_at: time(row.movedAt),
      exit_reason: row.record.exitReason ?? 'completed',
      metrics: metricsOf(loop, row, await callsOf(this.#desk, loop)),
    }
  }

  /** Ends a task that timed out by the caller's clock or ralph's, and notifies the user. */
  async handleTimeout(...input: Input<'handleTimeout'>): Promise<StoppedTask> {
    const { task_id } = readCall('handleTimeout', input)
    const loop = await this.#move('handleTimeout', task_id, async (current) => {
      this.#mustBePresent()
      const isDone = whereIs(vaultOf(current)) === 'done' && allChecks(current.spec).length === 0
      if (isDone && current.next.kind !== 'halt')
        throw await this.#illegal(current, 'timeout', 'Its file is in the done folder: complete it instead.')
      return current.next.kind === 'halt' ? undefined : this.#order({ kind: 'out-of-time' })
    })
    const stopped = await this.#stopped(task_id, 'timeout', timeoutMessage(loop))
    await tellTimeout(this.#desk, await findTask(this.#desk, task_id), loop)
    return stopped
  }

  /** Reports a task that has used all its iterations. */
  async handleMaxIterations(...input: Input<'handleMaxIterations'>): Promise<StoppedTask> {
    const { task_id } = readCall('handleMaxIterations', input)
    const loop = await this.#move('handleMaxIterations', task_id, () => undefined)
    return this.#stopped(task_id, 'max_iterations', limitMessage(loop))
  }

  /** Approves a task that waits for a person. */
  async approveTask(...input: Input<'approveTask'>): Promise<TaskState> {
    const { task_id, note } = readCall('approveTask', input)
    await this.#move('approveTask', task_id, async (current) => {
      this.#mustBePresent()
      const task = vaultOf(current)
      if (whereIs(task) === 'gone')
        throw new RalphError(
          'file-unusable',
          `${task.file} is no longer in the vault. Put it back, then approve again; or reject the task.`,
        )
      const words = approvalWords(current, note)
      const isDone = whereIs(task) === 'done' && (!note || allChecks(current.spec).length === 0)
      if (isDone) return this.#order({ kind: 'done' })
      comeBack(task)
      return this.#order({ kind: 'say', words })
    })
    await this.#show(task_id)
    return this.getTaskState(task_id)
  }

  /** Rejects a task: it has failed, and its file goes to Failed. */
  async rejectTask(...input: Input<'rejectTask'>): Promise<TaskState> {
    const { task_id, reason } = readCall('rejectTask', input)
    const why = reason?.replace(/[.\s]+$/, '')
    await this.#move('rejectTask', task_id, () => {
      this.#mustBePresent()
      prepareFolders(this.#desk.vault, [FAILED]) // so that the file can follow
      return this.#order({ kind: 'cancel', rejected: why ? { why } : {} }, 'you')
    })
    await this.#show(task_id)
    return this.getTaskState(task_id)
  }

  /** All tasks of the vault, oldest first. */
  async listTasks(): Promise<Omit<TaskState, 'iterations_history'>[]> {
    const { store, vault } = this.#desk
    this.#mustBeOpen()
    await followMovedVault(this.#desk)
    const states: TaskState[] = []
    const known = (await store.tasks.list(vault)).map(({ id }) => id)
    for (const id of known) states.push(await this.getTaskState({ task_id: id, history_limit: 0 }))
    // Looking at them does not take them over.
    for (const id of stateFilesIn(this.#desk).filter((each) => !known.includes(each))) {
      const state = readState(this.#desk, id)
      if (typeof state === 'object') states.push({ ...state, task_id: id })
    }
    return states.map(({ iterations_history: _, ...state }) => state)
  }

  /** Closes the database once all pending calls are done. */
  close(): Promise<void> {
    this.#closed ??= this.#letGo()
    return this.#closed
  }

  async #letGo(): Promise<void> {
    do {
      await Promise.allSettled(this.#queues.values())
      await nextTick() // a call in several parts queues its next one
    } while (this.#queues.size > 0)
    this.#gone = true
    await this.#desk.store.close()
  }

  async #stateOf(id: string): Promise<TaskState> {
    const theirs = this.#otherKeeper(id) && readState(this.#desk, id)
    if (typeof theirs === 'object') return theirs
    await endOverdue(this.#desk, await findTask(this.#desk, id))
    const { row, loop, state } = await readTask(this.#desk, id)
    const isUnseen = ended(loop) && row.record.files === undefined && vaultOf(loop).by === 'caller'
    if (isUnseen) await noteTrouble(this.#desk, () => seeTo(this.#desk, id))
    await repairHook(this.#desk, loop)
    return repairState(this.#desk, state, vaultOf(loop).by === 'watch' ? 'file' : 'nothing')
  }

  #otherKeeper(id: string): { file: string } | undefined {
    return isTaskId(id) ? otherKeeper(this.#desk, id) : undefined
  }

  async #endOf(loop: string): Promise<string> {
    const { path, done, file } = vaultOf(await this.#desk.store.load(loop))
    const end = join(path, done, file)
    this.#ends.set(loop, end)
    return end
  }

  #move(call: Call, id: string, factFor: (loop: Loop) => Fact | undefined | Promise<Fact | undefined>): Promise<Loop> {
    return this.#queued(id, async () => {
      const row = await findTask(this.#desk, id)
      return moveTask(this.#desk, row, async (move, loop) => {
        mustAllow(call, statusOfTask(loop, row.record), limitsOf(loop))
        const fact = await factFor(loop)
        return fact ? endIfGone(this.#desk, row, { move, loop: await move(fact) }) : loop
      })
    })
  }

  #show(id: string): Promise<void> {
    return this.#queued(id, () => noteTrouble(this.#desk, () => seeTo(this.#desk, id)))
  }

  #mustBePresent(): void {
    mustBePresent(this.#desk.vault, this.#desk.settings.doneFolder)
  }

  #mustBeOpen(): void {
    if (this.#gone) throw new RalphError('usage', 'This RalphWiggum is closed. Create a new one.')
  }

  #queued<Result>(id: string, work: () => Promise<Result>): Promise<Result> {
    this.#mustBeOpen()
    const mine = (this.#queues.get(id) ?? Promise.resolve()).then(work, work)
    this.#queues.set(id, mine)
    const leave = () => this.#queues.get(id) === mine && this.#queues.delete(id)
    mine.then(leave, leave)
    return mine
  }

  #order(order: Order, by = 'the caller'): Fact {
    return { kind: 'told', at: this.#desk.now(), by, order }
  }

  async #illegal(loop: Loop, to: VaultStatus, advice: string): Promise<RalphError> {
    const { id } = vaultOf(loop)
    const record = (await this.#desk.store.tasks.load(this.#desk.vault, id))?.record ?? {}
    return illegal(id, statusOfTask(loop, record), to, advice)
  }

  async #stopped(task_id: string, exit_reason: string, message: string): Promise<StoppedTask> {
    await this.#show(task_id)
    const row = await findTask(this.#desk, task_id)
    const status = statusOfTask(await this.#desk.store.load(row.loop), row.record)
    return { task_id, status, exit_reason, completed_at: time(row.movedAt), message }
  }
}

/** It becomes the name of a file. */
function isSessionName(id: string): boolean {
  return /^[A-Za-z0-9][\w.-]{0,127}$/.test(id)
}

const OTHER_ENDS = new Set(['failed', 'timeout', 'max_iterations', 'max_iterations_reached'])

function limitsOf(loop: Loop): Limited {
  const { iterations, minutes = 0 } = loop.spec.limits
  const waits = bentAdvice(loop)
  const limits = { id: vaultOf(loop).id, maxIterations: iterations, timeoutMinutes: minutes }
  return waits === undefined ? limits : { ...limits, waits }
}

function metricsOf({ tally }: Loop, { movedAt, record }: TaskRow, calls: number | null): TaskMetrics {
  return {
    total_duration_seconds: Math.max(0, movedAt - tally.startedAt) / 1_000,
    iterations: tally.iteration,
    api_calls: calls,
    files_created: record.files?.created ?? null,
    files_modified: record.files?.modified ?? null,
  }
}

function settingsIn(given: Readonly<Record<string, unknown>>): Partial<VaultSettings> {
  const camel = (name: string) => name.replace(/_[a-z]/g, (part) => part.charAt(1).toUpperCase())
  // Their types have been checked by name.
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [camel(name), value]),
  ) as Partial<VaultSettings>
}

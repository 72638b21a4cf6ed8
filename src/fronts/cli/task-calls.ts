/** The operation behind each verb of `ralph task`, and the options it takes. */
import { nearest } from '../../formats/nearest.ts'
import { TASK_STATUSES, type VaultStatus } from '../../formats/task-state.ts'
import { loadConfig } from '../../host/config.ts'
import { vaultFor } from '../../operations/vault-place.ts'
import {
  approveTask,
  completeTask,
  exhaustTask,
  type FoundTask,
  getTask,
  isTaskComplete,
  iterateTask,
  listTasks,
  rejectTask,
  reportProgress,
  startTask,
  type TaskOf,
  timeOutTask,
} from '../../operations/vault-tasks.ts'
import { given } from '../../request/given.ts'
import { type Args, usage } from './args.ts'
import type { Context } from './context.ts'
import { notifyText } from './notify.ts'
import { type Answer, completed, counted, listed, progressed, shown, started, stopped } from './task-view.ts'
import type { VerbName } from './task-words.ts'

/** `word`: the file or task to work on. */
export type Call = { args: Args; context: Context; word: string; vault?: string }

export const CALLS: Readonly<Record<VerbName, (call: Call) => Promise<Answer>>> = {
  async start({ args, context, word, ...vault }) {
    const maxIterations = args.whole('max-iterations', 1)
    const timeoutMinutes = args.amount('timeout-minutes')
    return started(
      await startTask.run(context, {
        file: word,
        ...vault,
        ...given({ maxIterations, timeoutMinutes }),
      }),
    )
  },

  async 'check-complete'({ context, word, args: _, ...vault }) {
    const checked = await isTaskComplete.run(context, { task: word, ...vault })
    const { task_id, complete } = checked
    return {
      json: [checked],
      text: complete
        ? `Task ${task_id} is done: its file is in the done folder.\n`
        : `Task ${task_id} is not done yet.\n`,
      code: complete ? 0 : 1,
    }
  },

  async iterate({ args, context, word, ...vault }) {
    const seconds = args.text('duration') === '0' ? 0 : args.amount('duration')
    const [action, result] = [needed(args, 'action'), args.text('result') ?? 'success']
    const report = { action, result, ...given({ seconds }) }
    const iteration = await iterateTask.run(context, { task: word, ...vault, ...report })
    return counted(iteration, (await aboutWaiting(context, { task: word, ...vault }, iteration)).bent)
  },

  async state({ args, context, word, ...vault }) {
    const history = args.whole('history')
    const asked = { task: word, ...vault, ...given({ history }) }
    const { state, ...about } = await getTask.run(context, asked)
    return shown(state, context, { ...about, ...vault })
  },

  async progress({ args, context, word, ...vault }) {
    const progress = {
      total: Number(needed(args, 'total') && args.whole('total')),
      completed: Number(needed(args, 'completed') && args.whole('completed')),
      step: needed(args, 'step'),
    }
    return progressed(await reportProgress.run(context, { task: word, ...vault, ...progress }))
  },

  async complete({ args, context, word, ...vault }) {
    const reason = args.text('exit-reason')
    const asked = { task: word, ...vault, ...given({ reason }) }
    return completed(await completeTask.run(context, asked))
  },

  async timeout({ args, context, word, ...vault }) {
    const task = await timeOutTask.run(context, { task: word, ...vault })
    const folder = vaultFor(context, given({ named: vault.vault }))
    // The webhook has already been called.
    if (args.flag('notify') || loadConfig(context.home, folder).notify_webhook !== undefined)
      await notifyText({ title: `ralph: ${task.task_id} ${task.status}`, text: task.message }, {}, { context })
    return stopped(task)
  },

  'max-iterations': async ({ args: _, context, word, ...vault }) =>
    stopped(await exhaustTask.run(context, { task: word, ...vault })),

  async approve({ args, context, word, ...vault }) {
    const note = args.text('note')
    const asked = { task: word, ...vault, ...given({ note }) }
    const state = await approveTask.run(context, asked)
    return shown(state, context, { ...(await aboutWaiting(context, { task: word, ...vault }, state)), ...vault })
  },

  async reject({ args, context, word, ...vault }) {
    const reason = args.text('reason')
    const asked = { task: word, ...vault, ...given({ reason }) }
    const { state, ...about } = await rejectTask.run(context, asked)
    return shown(state, context, { ...about, ...vault })
  },

  async list({ args, context, word: _, ...vault }) {
    const wanted = args.text('status')
    if (wanted !== undefined && !TASK_STATUSES.some((status) => status === wanted)) {
      const close = nearest(wanted, TASK_STATUSES)
      throw usage(
        args.spec,
        `--status must be one of ${TASK_STATUSES.join(', ')}, got "${wanted}".${close ? ` Did you mean ${close}?` : ''}`,
      )
    }
    const { tasks, bent } = await listTasks.run(context, vault)
    const states = tasks.filter(({ status }) => wanted === undefined || status === wanted)
    return listed({ tasks: states, bent }, context, vault.vault)
  },
}

/** What a waiting task waits for. */
async function aboutWaiting(
  context: Context,
  task: TaskOf,
  { status }: { status: VaultStatus },
): Promise<Omit<FoundTask, 'state'>> {
  if (status !== 'waiting_approval') return {}
  const { state: _, ...about } = await getTask.run(context, { ...task, history: 0 })
  return about
}

function needed(args: Args, name: string): string {
  const value = args.text(name)
  if (value !== undefined) return value
  throw usage(args.spec, `Missing option: --${name} ${args.spec.options[name]?.value}.`)
}

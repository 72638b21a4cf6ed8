/** What each verb of `ralph task` calls, with which of its options. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { nearest } from '../../formats/nearest.ts'
import { TASK_STATUSES } from '../../formats/task-state.ts'
import type { RalphWiggum } from '../../vault/ralph-wiggum.ts'
import { type Args, usage } from './args.ts'
import type { Context } from './context.ts'
import { pruneOld } from './prune.ts'
import { type Answer, completed, counted, listed, progressed, shown, started, stopped } from './task-view.ts'
import type { VerbName } from './task-words.ts'

/** One call of the API; `id` is the task it is about. */
export type Call = { ralph: RalphWiggum; args: Args; context: Context; vault: string; id: string }

export const CALLS: Readonly<Record<VerbName, (call: Call) => Promise<Answer>>> = {
  async start({ ralph, args, context, vault }) {
    const [given = ''] = [...args.words, ...args.rest]
    const here = resolve(context.cwd, given)
    const most = args.whole('max-iterations', 1)
    const minutes = args.amount('timeout-minutes')
    await pruneOld(context, context.store(), vault)
    return started(
      await ralph.startTask({
        task_file: args.text('vault') === undefined && existsSync(here) ? here : given,
        ...(most === undefined ? {} : { max_iterations: most }),
        ...(minutes === undefined ? {} : { timeout_minutes: minutes }),
      }),
    )
  },

  async 'check-complete'({ ralph, id }) {
    const complete = await ralph.checkTaskComplete(id)
    return {
      json: [{ task_id: id, complete }],
      text: complete ? `Task ${id} is done: its file is where it belongs.\n` : `Task ${id} is not done yet.\n`,
      code: complete ? 0 : 1,
    }
  },

  async iterate({ ralph, args, context, vault, id }) {
    const since = (await context.store().tasks.load(vault, id))?.movedAt
    const measured = since === undefined ? 0 : Math.max(0, context.now() - since) / 1_000
    const told = {
      action: needed(args, 'action'),
      result: args.text('result') ?? 'success',
      duration_seconds: args.text('duration') === '0' ? 0 : (args.amount('duration') ?? measured),
    }
    return counted(await ralph.incrementIteration({ task_id: id, ...told }))
  },

  async state({ ralph, args, context, vault, id }) {
    const history = args.whole('history')
    const state = await ralph.getTaskState({
      task_id: id,
      ...(history === undefined ? {} : { history_limit: history }),
    })
    return shown(state, context, await about(context, args, { vault, id }))
  },

  async progress({ ralph, args, id }) {
    const progress = {
      steps_total: Number(needed(args, 'total') && args.whole('total')),
      steps_completed: Number(needed(args, 'completed') && args.whole('completed')),
      current_step: needed(args, 'step'),
    }
    return progressed(await ralph.updateProgress({ task_id: id, ...progress }))
  },

  async complete({ ralph, args, id }) {
    const reason = args.text('exit-reason')
    return completed(
      await ralph.completeTask({ task_id: id, ...(reason === undefined ? {} : { exit_reason: reason }) }),
    )
  },

  timeout: async ({ ralph, id }) => stopped(await ralph.handleTimeout(id)),

  'max-iterations': async ({ ralph, id }) => stopped(await ralph.handleMaxIterations(id)),

  async approve({ ralph, args, context, id }) {
    const words = args.text('note')
    return shown(await ralph.approveTask({ task_id: id, ...(words === undefined ? {} : { note: words }) }), context)
  },

  async reject({ ralph, args, context, vault, id }) {
    const reason = args.text('reason')
    const state = await ralph.rejectTask({ task_id: id, ...(reason === undefined ? {} : { reason }) })
    return shown(state, context, await about(context, args, { vault, id }))
  },

  async list({ ralph, args, context }) {
    const wanted = args.text('status')
    if (wanted !== undefined && !TASK_STATUSES.some((status) => status === wanted)) {
      const close = nearest(wanted, TASK_STATUSES)
      throw usage(
        args.spec,
        `--status is one of ${TASK_STATUSES.join(', ')}, but is "${wanted}".${close ? ` Did you mean ${close}?` : ''}`,
      )
    }
    const states = (await ralph.listTasks()).filter(({ status }) => wanted === undefined || status === wanted)
    return listed(states, context, args.text('vault'))
  },
}

/** What there is to say besides its state. A vault that somebody named must be named again. */
async function about(
  context: Context,
  args: Args,
  { vault, id }: { vault: string; id: string },
): Promise<{ why?: string; vault?: string }> {
  const [why, named] = [await sentenceOf(context, vault, id), args.text('vault')]
  return { ...(why === undefined ? {} : { why }), ...(named === undefined ? {} : { vault: named }) }
}

/** Why it stopped short, or what it asks. */
async function sentenceOf({ store }: Context, vault: string, id: string): Promise<string | undefined> {
  const row = await store().tasks.load(vault, id)
  const next = row && (await store().load(row.loop)).next
  return next?.kind === 'halt' ? next.sentence : next?.kind === 'wait' ? next.question : undefined
}

function needed(args: Args, name: string): string {
  const value = args.text(name)
  if (value !== undefined) return value
  throw usage(args.spec, `--${name} is missing: --${name} ${args.spec.options[name]?.value}.`)
}

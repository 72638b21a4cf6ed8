/** The limits of a new loop: flags beat the environment, which beats the config. */
import { estimateIterations } from '../../engine/limits.ts'
import type { Limits, Stage } from '../../engine/loop.ts'
import type { Config } from '../../formats/config.ts'
import { git } from '../../host/git.ts'
import { type Args, usage } from './args.ts'
import type { Context } from './context.ts'
import { runSpec } from './run-options.ts'

export type Given = { context: Context; config: Config; dir: string }

/** What an adaptive limit is guessed from. */
export type Task = { prompt: string; stages: Stage[]; wrappedLimit: number | undefined }

export async function resolveLimits(args: Args, { context, config, dir }: Given, task: Task): Promise<Limits> {
  const given =
    args.text('max-iterations') ?? context.env.RALPH_MAX_ITERATIONS ?? task.wrappedLimit ?? config.max_iterations ?? 10
  const auto = /^auto(?::0*([1-9]\d{0,8}))?$/.exec(String(given))
  const minutes =
    args.amount('timeout') ?? environmentNumber(context.env, 'RALPH_TIMEOUT_MINUTES') ?? config.timeout_minutes
  const tokens = args.whole('max-tokens', 1)
  const costUsd = args.amount('max-cost') ?? config.max_cost_usd
  return {
    ...(auto ? await adaptive(context, dir, task, Number(auto[1] ?? 48)) : { iterations: wholeNumber(given, args) }),
    noProgress: args.whole('no-progress', 1) ?? config.circuit_breaker?.no_progress_limit ?? 3,
    sameError: args.whole('same-error', 1) ?? config.circuit_breaker?.same_error_limit ?? 5,
    ...(minutes === undefined ? {} : { minutes }),
    ...(tokens === undefined ? {} : { tokens }),
    ...(costUsd === undefined ? {} : { costUsd }),
  }
}

async function adaptive(
  context: Context,
  dir: string,
  { prompt, stages }: Task,
  ceiling: number,
): Promise<{ iterations: number; ceiling: number }> {
  const listed = await git(dir, ['ls-files'])
  const size = {
    words: prompt.split(/\s+/).length,
    items: prompt.match(/^\s*([-*]|\d+[.)])\s/gm)?.length ?? 0,
    stages: stages.length,
    files: listed?.split('\n').length ?? 0,
  }
  return { iterations: estimateIterations(size, await context.store().history(), ceiling), ceiling }
}

function wholeNumber(given: string | number, args: Args): number {
  if (/^\d{1,9}$/.test(String(given))) return Number(given)
  throw usage(
    runSpec,
    `${args.text('max-iterations') === undefined ? 'RALPH_MAX_ITERATIONS' : '--max-iterations'} must be a whole number, auto or auto:N, but is "${given}".`,
  )
}

function environmentNumber(env: Context['env'], name: string): number | undefined {
  const value = env[name]
  if (!value) return undefined
  if (!/^\d{1,9}(\.\d+)?$/.test(value)) throw usage(runSpec, `${name} must be a number, but is "${value}".`)
  return Number(value)
}

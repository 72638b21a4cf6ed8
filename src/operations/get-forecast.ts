/** Forecasts a loop from past ones, before it starts or while it is running. */
import { alikeIn, type Forecast, forecastOf, type Standing, type Trait, type Traits } from '../analytics/forecast.ts'
import { comparedWith, forecastSentence, noForecast } from '../analytics/forecast-words.ts'
import { mustFind } from '../board/task.ts'
import { homeFolder } from '../engine/home-folder.ts'
import { iterationLimit } from '../engine/limits.ts'
import { ended, type Size, type Stage } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { loadConfig } from '../host/config.ts'
import { guessSize } from '../request/adaptive.ts'
import { DEFAULTS } from '../request/defaults.ts'
import { given } from '../request/given.ts'
import type { Iterations } from '../request/request.ts'
import { resolveLimits } from '../request/resolve.ts'
import { askingOf } from './begin-task.ts'
import { findLoop } from './find-loop.ts'
import type { Context, Operation } from './operation.ts'
import { workFolder } from './start-loop.ts'

/** A loop, a task on the board, or the request of a new loop. `adaptive`: the limit is estimated, up to `iterations`. */
export type Forecasting = { loop?: string; task_id?: string; adaptive?: boolean } & Omit<Asked, 'iterations'> & {
    iterations?: number
  }

type Asked = { prompt?: string; dir?: string; agent?: string; type?: string; stages?: Stage[]; iterations?: Iterations }

/** `enough`: there are enough finished loops for a forecast. `by`: what the compared loops have in common with it. */
export type Forecasted = Standing & {
  enough: boolean
  loops: number
  by: Trait[]
  /** Estimated size of the task. */
  size?: Size
  forecast?: Forecast
  sentence: string
}

export const getForecast: Operation<Forecasting, Forecasted> = {
  name: 'get_forecast',
  effect: 'read',
  summary: 'Forecasts a loop from past ones: chance of finishing, iterations, cost, with intervals. Calls no model.',
  report: true,
  async run(context, asked) {
    const { traits, standing, self } = await subjectOf(context, asked)
    const history = await context.store().numbers({ ended: true, limit: NEWEST })
    const alike = alikeIn(
      history.filter(({ id }) => id !== self),
      traits,
    )
    const forecast = forecastOf(alike.loops, standing)
    const sentence = forecast
      ? `${forecastSentence(forecast, standing)} (${comparedWith(alike, traits)})`
      : noForecast(alike.loops.length, standing)
    const { by, loops } = alike
    const enough = forecast !== undefined
    return { ...standing, enough, loops: loops.length, by, ...given({ size: traits.size, forecast }), sentence }
  },
}

/** Older loops say less and need not be read. */
const NEWEST = 1_000

type Subject = { traits: Traits; standing: Standing; self?: string }

async function subjectOf(context: Context, { loop, task_id, adaptive, ...asked }: Forecasting): Promise<Subject> {
  if (loop !== undefined) return loopSubject(context, loop)
  const whole: Asked = task_id === undefined ? asked : { ...(await askedByTask(context, task_id)), ...asked }
  return newSubject(context, adaptive ? { ...whole, iterations: upTo(whole.iterations) } : whole)
}

function upTo(iterations: Iterations | undefined): Iterations {
  return typeof iterations === 'object' ? iterations : { ceiling: iterations || DEFAULTS.ceiling }
}

async function loopSubject(context: Context, name: string): Promise<Subject> {
  const loop = await context.store().load(await findLoop(context, name))
  if (ended(loop)) throw new RalphError('loop-ended', `Loop ${loop.id} has ended, so there is nothing to forecast.`)
  const { spec, tally } = loop
  const { agent, type, size } = spec.work
  return {
    traits: { dir: homeFolder(loop), agent, ...given({ type, size }) },
    standing: { done: tally.iteration, limit: iterationLimit(spec.limits, tally) },
    self: loop.id,
  }
}

async function newSubject(context: Context, asked: Asked): Promise<Subject> {
  const { prompt, type, stages, iterations } = asked
  const dir = workFolder(context, asked.dir)
  const agent = asked.agent === 'auto' ? undefined : asked.agent?.split(',')[0]
  const size = prompt === undefined ? undefined : guessSize({ prompt, ...given({ stages }) }, { dir })
  const place = {
    dir,
    env: context.env,
    config: loadConfig(context.home, dir),
    history: () => context.store().history(),
  }
  const { iterations: limit } = await resolveLimits({ limits: given({ iterations }), size: size ?? 'S' }, place)
  return { traits: { dir, ...given({ agent, type, size }) }, standing: { done: 0, limit } }
}

async function askedByTask(context: Context, id: string): Promise<Asked> {
  const task = await mustFind(context.store(), id)
  const { prompt, dir, agent, type, stages, limits } = await askingOf(context, task)
  return { prompt, ...given({ dir, agent, type, stages, iterations: limits?.iterations }) }
}

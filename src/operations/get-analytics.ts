/** Statistics over all loops: how they end, what they use and cost, and refused claims. */
import { resolve } from 'node:path'
import { type Analytics, analyse } from '../analytics/analytics.ts'
import type { NumbersFilter } from '../host/store.ts'
import { folderAt } from './list-loops.ts'
import type { Context, Operation } from './operation.ts'

/** `since` and `until`: when loops started. */
export type AnalyticsFilter = Omit<NumbersFilter, 'ended' | 'limit' | 'size'>

export const getAnalytics: Operation<AnalyticsFilter, Analytics> = {
  name: 'get_analytics',
  effect: 'read',
  summary:
    'Analyzes past loops: success by grade, iterations, completion rate, stop reasons, cost, refused claims, failing checks.',
  agent: {},
  report: true,
  async run(context, asked) {
    const filter = placed(context, asked)
    const store = context.store()
    return analyse(await store.numbers(filter), await store.sums(filter))
  },
}

/** The filter as the store expects it. */
export function placed<Filter extends { dir?: string }>({ cwd }: Pick<Context, 'cwd'>, filter: Filter): Filter {
  const { dir } = filter
  return dir === undefined ? filter : { ...filter, dir: folderAt(resolve(cwd, dir)) }
}

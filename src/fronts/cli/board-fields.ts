/** The options of `ralph board new` and `set` as fields of a task. */
import { resolve } from 'node:path'
import {
  BOARD_DEFAULTS,
  BOARD_STATUSES,
  type BoardLimits,
  type BoardPatch,
  type BoardStatus,
} from '../../formats/board-task.ts'
import { nearest } from '../../formats/nearest.ts'
import { readText } from '../../host/config.ts'
import { given } from '../../request/given.ts'
import { type Args, usage } from './args.ts'
import type { Context } from './context.ts'
import { parseStage } from './request.ts'

/** `known`: the current limits of the task; limits not given stay. */
export function fieldsOf(args: Args, { cwd }: Pick<Context, 'cwd'>, known: BoardLimits = {}): BoardPatch {
  const repo = args.text('repo')
  return {
    ...given({
      description: descriptionOf(args, cwd),
      type: args.text('type'),
      labels: listOf(args, 'label'),
      use_ralph_wiggum: args.flag('once') ? false : undefined,
      ralph_max_iterations: args.whole('max-iterations'),
      ralph_completion_promise: args.text('completion-promise'),
      stages: listOf(args, 'stage')?.map(parseStage),
      checks: listOf(args, 'verify'),
      limits: limitsOf(args, known),
      agent: args.text('agent'),
      depends_on: listOf(args, 'depends-on'),
      priority: priorityOf(args),
      repo: repo === undefined ? undefined : resolve(cwd, repo),
      worktree: args.flag('worktree') ? true : undefined,
      project_id: args.text('project'),
    }),
  }
}

/** The options that only `set` has. */
export function changesOf(args: Args): BoardPatch {
  const { loop, once, archive, unarchive } = switches(args)
  if (loop && once) throw usage(args.spec, 'Use either --loop or --once, not both.')
  if (archive && unarchive) throw usage(args.spec, 'Use either --archive or --unarchive, not both.')
  return given({
    title: args.text('title'),
    status: statusIn(args, args.text('status')),
    use_ralph_wiggum: loop ? true : undefined,
    archived: archive ? true : unarchive ? false : undefined,
    ...Object.fromEntries(args.many('clear').map((field) => [clearable(args, field), null])),
  })
}

function switches(args: Args): Record<'loop' | 'once' | 'archive' | 'unarchive', boolean> {
  return {
    loop: args.flag('loop'),
    once: args.flag('once'),
    archive: args.flag('archive'),
    unarchive: args.flag('unarchive'),
  }
}

function clearable(args: Args, field: string): string {
  const names = Object.keys(BOARD_DEFAULTS)
  if (names.includes(field)) return field
  const close = nearest(field, names)
  throw usage(
    args.spec,
    `Unknown field: "${field}".${close ? ` Did you mean ${close}?` : ''} The fields are: ${names.join(', ')}.`,
  )
}

export function statusIn(args: Args, text: string | undefined): BoardStatus | undefined {
  const found = BOARD_STATUSES.find((status) => status === text)
  if (text === undefined || found) return found
  throw usage(args.spec, `--status must be one of ${BOARD_STATUSES.join(', ')}, got "${text}".`)
}

function descriptionOf(args: Args, cwd: string): string | undefined {
  const [text, file] = [args.text('description'), args.text('file')]
  if (text !== undefined && file !== undefined) throw usage(args.spec, 'Use either --description or --file, not both.')
  return file === undefined ? text : readText(resolve(cwd, file), 'description')
}

function limitsOf(args: Args, known: BoardLimits): BoardLimits | undefined {
  const asked = given({
    minutes: args.amount('timeout'),
    cost_usd: args.amount('max-cost'),
    tokens: args.whole('max-tokens', 1),
  })
  return Object.keys(asked).length > 0 ? { ...known, ...asked } : undefined
}

function priorityOf(args: Args): number | undefined {
  const text = args.text('priority')
  if (text === undefined || /^-?\d{1,6}$/.test(text)) return text === undefined ? undefined : Number(text)
  throw usage(args.spec, `--priority must be a whole number between -999999 and 999999, got "${text}".`)
}

function listOf(args: Args, name: string): string[] | undefined {
  const values = args.many(name)
  return values.length > 0 ? values : undefined
}

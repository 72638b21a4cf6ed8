import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../host/place.test-support.ts'
import { call } from './call.ts'
import { openContext } from './context.ts'
import { OPERATIONS, type OperationName } from './index.ts'
import type { Context } from './operation.ts'
import { SCHEMAS } from './schemas.ts'

/** No operation gets far enough to use it. */
const context: Context = {
  ...openContext({ root: '/', home: temporaryFolder(), cwd: () => '/', env: {}, note: () => {} }),
  store() {
    throw new Error('The store was used.')
  },
}

const task = { task: 'a' }
const agent = { agent: 'api' }

const VALID: Readonly<Record<OperationName, object>> = {
  start_loop: { prompt: 'Build it' },
  list_loops: {},
  list_strips: { loops: ['a'] },
  list_needs: {},
  get_overview: {},
  mark_seen: { loop: 'a', n: 1 },
  get_loop: {},
  list_iterations: { loop: 'a' },
  get_iteration: { loop: 'a', iteration: 1 },
  get_diff: { loop: 'a', iteration: 1 },
  get_transcript: { loop: 'a', iteration: 1 },
  get_activity: { loop: 'a', iteration: 1 },
  get_checks: { loop: 'a' },
  get_proof: {},
  try_checks: { checks: ['true'] },
  trust_config: {},
  list_events: {},
  cancel: {},
  pause: {},
  resume: {},
  steer: { loop: 'a', words: 'Use blue.' },
  allow: { loop: 'a' },
  rollback: { loop: 'a', iteration: 1 },
  undo: { loop: 'a' },
  accept: { loop: 'a' },
  fork: { loop: 'a' },
  retry: { loop: 'a' },
  answer: { loop: 'a' },
  add_comments: { loop: 'a', comments: [{ iteration: 1, path: 'a.ts', line: 3, text: 'Why?' }] },
  list_comments: { loop: 'a' },
  remove_comment: { loop: 'a', comment: 1 },
  get_analytics: {},
  get_forecast: {},
  export_loops: {},
  prune: {},
  rebuild: {},
  init_project: { project: 'shop' },
  import_tasks: { file: 'a.md', project: 'shop' },
  import_board: { file: 'db.v2.sqlite' },
  get_project: { project: 'shop' },
  start_vault_task: { file: 'Needs_Action/a.md' },
  is_vault_task_complete: task,
  iterate_vault_task: { ...task, action: 'Draft', result: 'success' },
  get_vault_task: task,
  report_vault_progress: { ...task, total: 4, completed: 1, step: 'Begin' },
  complete_vault_task: task,
  time_out_vault_task: task,
  exhaust_vault_task: task,
  approve_vault_task: task,
  reject_vault_task: task,
  list_vault_tasks: {},
  brief_vault: { since: 0 },
  list_agents: {},
  list_changes: {},
  give_task: { ...agent, prompt: 'Build it' },
  drop_task: { ...agent, task: 1 },
  see_agent: agent,
  retry_agent: agent,
  add_agent: { name: 'api' },
  remove_agent: agent,
  create_task: { title: 'Fix it' },
  get_task: { task_id: 'a' },
  get_task_prompt: { task_id: 'a' },
  list_tasks: {},
  update_task: { task_id: 'a' },
  delete_task: { task_id: 'a' },
  add_dependency: { task_id: 'a', depends_on: 'b' },
  list_groups: {},
  set_group: { project_id: 'p' },
  set_limits: { loop: 'a', iterations: 5 },
  get_context: {},
  list_executors: {},
  wait_loop: { loop: 'a' },
  submit_tasks: { tasks: [{ prompt: 'Build it' }] },
  list_fleet_tasks: {},
  get_fleet_task: task,
  get_fleet: {},
  retry_fleet_task: task,
  drain_worker: { worker: 'w1' },
  set_budget: { submitter: 'ann', usd_per_day: 5 },
  set_fleet: {},
}

const refusal = (name: string, input: unknown) =>
  call(context, name, input).then(
    () => 'It was taken.',
    (cause: { code?: string; message: string }) => `${cause.code}: ${cause.message}`,
  )

const fieldsOf = (name: OperationName): string[] => Object.keys((SCHEMAS[name].input as { shape?: object }).shape ?? {})

describe.each(Object.entries(VALID) as [OperationName, object][])('%s', (name, valid) => {
  test('takes valid input', () => {
    expect(SCHEMAS[name].input.safeParse(valid)).toMatchObject({ success: true })
  })

  test.each([undefined, null, 'text', 7, [], [valid]])('takes an object, not %j', async (input) => {
    expect(await refusal(name, input)).toMatch(
      new RegExp(`^input-invalid: ${name}: the input must be an object, (got |but is missing)`),
    )
  })

  test('names an unknown field', async () => {
    expect(await refusal(name, { ...valid, nonsense: 1 })).toMatch(
      new RegExp(`^input-invalid: ${name} has no field "nonsense"\\. It takes (.+)\\.$`),
    )
  })

  test('names a field that is missing or has the wrong type', async () => {
    for (const field of fieldsOf(name))
      expect(await refusal(name, { ...valid, [field]: { wrong: true } })).toMatch(
        new RegExp(`^input-invalid: ${name}: ${field} (must be .+, got an object|has no field "wrong")\\.$`),
      )
    for (const field of Object.keys(valid)) {
      const { [field]: _, ...rest } = valid as Record<string, unknown>
      expect(await refusal(name, rest)).toMatch(
        new RegExp(
          `^input-invalid: ${name}: ${field} (must be .+, but is missing|is required unless task_id is given)\\.$`,
        ),
      )
    }
  })

  test('takes no NUL in a name or a path', async () => {
    const named = [
      'loop',
      'project',
      'config',
      'file',
      'dir',
      'vault',
      'task',
      'agent',
      'model',
      'promise',
      'until',
      'step',
      'result',
    ]
    for (const field of fieldsOf(name).filter((each) => named.includes(each)))
      expect(await refusal(name, { ...valid, [field]: 'a\0b' })).toMatch(
        new RegExp(`^input-invalid: ${name}: ${field} must .+, got "a\\\\u0000b"\\.$`),
      )
  })

  test('takes no path instead of a name', async () => {
    for (const field of fieldsOf(name).filter((each) => each === 'loop' || each === 'project'))
      for (const path of ['../x', '..', 'a/b', '/etc', 'a\\b', '.hidden'])
        expect(await refusal(name, { ...valid, [field]: path })).toBe(
          `input-invalid: ${name}: ${field} must be a name, not a path, got ${JSON.stringify(path)}.`,
        )
  })
})

test.each<[name: string, input: unknown, sentence: string]>([
  ['start_loop', {}, 'start_loop: prompt is required unless task_id is given.'],
  ['start_loop', { task_id: 'a', dir: '.' }, 'start_loop: dir cannot be combined with task_id.'],
  ['start_loop', { prompt: '' }, 'start_loop: prompt must not be empty.'],
  ['start_loop', { prompt: ' \n' }, 'start_loop: prompt must say what to do, got " \\n".'],
  [
    'start_loop',
    { prompt: 'x', dir: 'x'.repeat(5_000) },
    'start_loop: dir must have at most 4096 characters, got 5000 characters.',
  ],
  ['start_loop', { prompt: 'x', checks: ['true', 7] }, 'start_loop: checks[1] must be a string, got 7.'],
  ['start_loop', { prompt: 'x', permissions: 'all' }, 'start_loop: permissions must be one of bypass, ask, got "all".'],
  [
    'start_loop',
    { prompt: 'x', stages: [{ check: 'true' }] },
    'start_loop: stages[0].name must be a string, but is missing.',
  ],
  ['start_loop', { prompt: 'x', limits: { minutes: 0 } }, 'start_loop: limits.minutes must be more than 0, got 0.'],
  [
    'start_loop',
    { prompt: 'x', limits: { tokens: 1.5 } },
    'start_loop: limits.tokens must be a whole number, got 1.5.',
  ],
  [
    'start_loop',
    { prompt: 'x', limits: { costUsd: Number.NaN } },
    'start_loop: limits.costUsd must be a number, got NaN.',
  ],
  [
    'start_loop',
    { prompt: 'x', limits: { cooldownMinutes: -1 } },
    'start_loop: limits.cooldownMinutes must be at least 0, got -1.',
  ],
  [
    'start_loop',
    { prompt: 'x', limits: { overloadMinutes: -1 } },
    'start_loop: limits.overloadMinutes must be at least 0, got -1.',
  ],
  [
    'start_loop',
    { prompt: 'x', limits: { iterations: 'many' } },
    'start_loop: limits.iterations must be a number or an object, got "many".',
  ],
  [
    'start_loop',
    { prompt: 'x', limits: { iterations: -1 } },
    'start_loop: limits.iterations must be at least 0, got -1.',
  ],
  [
    'start_loop',
    { prompt: 'x', limits: { iterations: { ceiling: 0 } } },
    'start_loop: limits.iterations.ceiling must be at least 1, got 0.',
  ],
  [
    'start_loop',
    { prompt: 'x', limits: { iterations: { most: 3 } } },
    'start_loop: limits.iterations.ceiling must be a number, but is missing.',
  ],
  ['list_loops', { limit: 5_000 }, 'list_loops: limit must be at most 1000, got 5000.'],
  ['give_task', { agent: '1', prompt: ' ' }, 'give_task: prompt must say what to do, got " ".'],
  ['give_task', { agent: 1, prompt: 'x' }, 'give_task: agent must be a string, got 1.'],
  ['drop_task', { agent: '1', task: 0 }, 'drop_task: task must be at least 1, got 0.'],
  ['list_agents', { agents: ['api', ''] }, 'list_agents: agents[1] must not be empty.'],
  ['list_changes', { after: -1 }, 'list_changes: after must be at least 0, got -1.'],
  ['add_agent', { name: 'api', permissions: 'all' }, 'add_agent: permissions must be one of ask, bypass, got "all".'],
  ['set_limits', { loop: 'a', iterations: 1.5 }, 'set_limits: iterations must be a whole number, got 1.5.'],
  ['accept', { loop: 'a', how: 'yes' }, 'accept: how must be one of merge, squash, branch, got "yes".'],
])('%s with %j says what is wrong', async (name, input, sentence) => {
  expect(await refusal(name, input)).toBe(`input-invalid: ${sentence}`)
})

test('a misspelled field or operation gets a suggestion', async () => {
  expect(await refusal('get_loop', { lop: 'a' })).toBe(
    'input-invalid: get_loop has no field "lop". Did you mean "loop"? It takes loop, brief.',
  )
  expect(await refusal('get_lop', {})).toMatch(
    /^usage: No such operation: "get_lop"\. Did you mean "get_loop"\? Operations: start_loop, /,
  )
  for (const name of ['constructor', '__proto__', 'toString', ''])
    expect(await refusal(name, {})).toMatch(/^usage: No such operation: /)
})

test('every operation is covered here', () => {
  expect(Object.keys(VALID).sort()).toEqual(Object.keys(OPERATIONS).sort())
})

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { OwnerKind } from '../engine/loop.ts'
import type { Config } from '../formats/config.ts'
import { wrapPrompt } from '../formats/wrapped-prompt.ts'
import type { LoopRequest, Place } from './request.ts'
import { parseIterations, proofConfig, resolveSpec } from './resolve.ts'

let dir = ''
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'ralph-request-'))
  writeFileSync(join(dir, 'package.json'), JSON.stringify({ scripts: { test: 'vitest', lint: 'biome' } }))
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

function placeOf(change: Partial<Place> = {}): Place {
  return { dir, env: {}, config: {}, ...change }
}

const PLAIN: LoopRequest = { prompt: 'Do it.', agents: ['claude'] }

test('a bare request gets every default', async () => {
  expect(await resolveSpec(PLAIN, placeOf())).toEqual({
    prompt: 'Do it.',
    promise: 'COMPLETE',
    signals: ['TASK_COMPLETE'],
    checks: [],
    until: false,
    stages: [],
    limits: { iterations: 10, noProgress: 3, sameError: 5, overloadMinutes: 120 },
    work: {
      dir,
      agent: 'claude',
      agentArgs: [],
      size: 'S',
      permissions: 'bypass',
      context: 'fresh',
      silenceMinutes: 10,
      transcriptMb: 500,
      baselineMinutes: 5,
      checkMinutes: 10,
    },
  })
})

describe('iterations', () => {
  const wrapped = wrapPrompt('Do it.', { maxIterations: 4, promise: 'DONE' })
  const config = { max_iterations: 5 }
  const env = { RALPH_MAX_ITERATIONS: '3' }

  test.each<[string, LoopRequest, Partial<Place>, number]>([
    ['asked for', { ...PLAIN, prompt: wrapped, limits: { iterations: 2 } }, { env, config }, 2],
    ['of the environment', { ...PLAIN, prompt: wrapped }, { env, config }, 3],
    ['of a wrapped prompt', { ...PLAIN, prompt: wrapped }, { config }, 4],
    ['of the config', PLAIN, { config }, 5],
    ['by default', PLAIN, {}, 10],
    ['without a limit', { ...PLAIN, limits: { iterations: 0 } }, { env, config }, 0],
  ])('%s', async (_, request, place, iterations) => {
    expect((await resolveSpec(request, placeOf(place))).limits.iterations).toBe(iterations)
  })

  test.each<[string, Partial<Place>, LoopRequest['limits']]>([
    ['asked for', {}, { iterations: { ceiling: 12 } }],
    ['of the environment', { env: { RALPH_MAX_ITERATIONS: 'auto:12' } }, {}],
  ])('that are estimated have a ceiling, %s', async (_, place, limits = {}) => {
    const resolved = await resolveSpec({ ...PLAIN, limits }, placeOf(place))
    expect(resolved.limits).toMatchObject({ iterations: 6, ceiling: 12 })
  })

  test('that are estimated learn from the past', async () => {
    const history = async () => Array.from({ length: 20 }, () => 7)
    const resolved = await resolveSpec(PLAIN, placeOf({ config: { max_iterations: 'auto' }, history }))
    expect(resolved.limits).toMatchObject({ iterations: 9, ceiling: 48 })
  })

  test.each(['-1', 'ten', '1e3', 'auto:', 'auto:0', 'AUTO', ''])('%j is not a number of iterations', (text) => {
    expect(parseIterations(text)).toBeUndefined()
  })

  test.each<[string, Place['env']]>([
    ['RALPH_MAX_ITERATIONS must be a whole number, auto or auto:N, got "many".', { RALPH_MAX_ITERATIONS: 'many' }],
    ['RALPH_TIMEOUT_MINUTES must be a number, got "soon".', { RALPH_TIMEOUT_MINUTES: 'soon' }],
  ])('%s', async (message, given) => {
    await expect(resolveSpec(PLAIN, placeOf({ env: given }))).rejects.toMatchObject({ code: 'usage', message })
  })
})

const cooling: Config = { circuit_breaker: { cooldown_minutes: 12 } }

test.each<[string, LoopRequest, Partial<Place>, object]>([
  ['minutes asked for', { ...PLAIN, limits: { minutes: 1 } }, { env: { RALPH_TIMEOUT_MINUTES: '2' } }, { minutes: 1 }],
  [
    'minutes of the environment',
    PLAIN,
    { env: { RALPH_TIMEOUT_MINUTES: '2.5' }, config: { timeout_minutes: 3 } },
    { minutes: 2.5 },
  ],
  ['minutes of the config', PLAIN, { config: { timeout_minutes: 3 } }, { minutes: 3 }],
  ['cost of the config', PLAIN, { config: { max_cost_usd: 4 } }, { costUsd: 4 }],
  ['overload by default', PLAIN, {}, { overloadMinutes: 120 }],
  ['overload of the config', PLAIN, { config: { overload_minutes: 0 } }, { overloadMinutes: 0 }],
  ['overload asked for', { ...PLAIN, limits: { overloadMinutes: 5 } }, {}, { overloadMinutes: 5 }],
  ['a stop at limits, of the config', PLAIN, { config: { on_limit: 'stop' } }, { onLimit: 'stop' }],
  ['a stop at limits, asked for', { ...PLAIN, limits: { onLimit: 'stop' } }, {}, { onLimit: 'stop' }],
  ['tokens asked for', { ...PLAIN, limits: { tokens: 9 } }, {}, { tokens: 9 }],
  [
    'the breaker of the config',
    PLAIN,
    { config: { circuit_breaker: { no_progress_limit: 7, same_error_limit: 8 } } },
    { noProgress: 7, sameError: 8 },
  ],
  ['a cooldown of the config', PLAIN, { config: cooling }, { cooldownMinutes: 12 }],
  ['a cooldown of the config, in a pane', PLAIN, { owner: { kind: 'pane' }, config: cooling }, { cooldownMinutes: 12 }],
  [
    'a cooldown asked for',
    { ...PLAIN, limits: { cooldownMinutes: 1.5 } },
    { config: cooling },
    { cooldownMinutes: 1.5 },
  ],
])('%s', async (_, request, place, limits) => {
  expect((await resolveSpec(request, placeOf(place))).limits).toMatchObject(limits)
})

test.each<[OwnerKind, number | undefined]>([
  ['person', undefined],
  ['session', undefined],
  ['project', undefined],
  ['vault', undefined],
  ['pane', 30],
])('the loop of a %s has a cooldown of %s minutes, unless there is to be none', async (kind, minutes) => {
  const place = { owner: { kind } }
  expect((await resolveSpec(PLAIN, placeOf(place))).limits.cooldownMinutes).toBe(minutes)
  const none = { circuit_breaker: { cooldown_minutes: 0 } }
  expect((await resolveSpec(PLAIN, placeOf({ ...place, config: none }))).limits).not.toHaveProperty('cooldownMinutes')
  const asked = { ...PLAIN, limits: { cooldownMinutes: 0 } }
  expect((await resolveSpec(asked, placeOf(place))).limits).not.toHaveProperty('cooldownMinutes')
})

describe('claims', () => {
  test.each<[OwnerKind, string, string[]]>([
    ['person', 'COMPLETE', ['TASK_COMPLETE', 'SHIPPED', 'YES']],
    ['session', 'COMPLETE', ['TASK_COMPLETE', 'SHIPPED', 'YES']],
    ['pane', 'COMPLETE', ['TASK_COMPLETE', '<promise>DONE</promise>', 'SHIPPED', 'YES']],
    ['project', '', []],
    ['vault', '', []],
  ])('of the loop of a %s', async (kind, promise, signals) => {
    const config = { completion_signals: ['SHIPPED'] }
    const resolved = await resolveSpec({ ...PLAIN, signals: ['YES'] }, placeOf({ owner: { kind }, config }))
    expect(resolved).toMatchObject({ promise, signals })
  })

  test.each<[string, LoopRequest, Partial<Place>]>([
    ['asked for', { ...PLAIN, promise: 'DONE', prompt: wrapPrompt('x', { maxIterations: 1, promise: 'W' }) }, {}],
    ['of a wrapped prompt', { ...PLAIN, prompt: wrapPrompt('x', { maxIterations: 1, promise: 'DONE' }) }, {}],
    ['of the config', PLAIN, { config: { completion_promise: 'DONE' } }],
  ])('have the promise %s', async (_, request, place) => {
    expect(await resolveSpec(request, placeOf(place))).toMatchObject({ promise: 'DONE', signals: [] })
    expect((await resolveSpec({ ...request, signals: ['TASK_COMPLETE'] }, placeOf(place))).signals).toEqual([
      'TASK_COMPLETE',
    ])
  })

  test('keep their signal if the promise is disabled', async () => {
    const resolved = await resolveSpec({ ...PLAIN, promise: '' }, placeOf())
    expect(resolved).toMatchObject({ promise: '', signals: ['TASK_COMPLETE'] })
  })
})

describe('checks', () => {
  test.each<[string, LoopRequest, Partial<Place>, string[]]>([
    ['asked for beat those of the config', { ...PLAIN, checks: ['make'] }, { config: { verify: ['ls'] } }, ['make']],
    ['of the config', PLAIN, { config: { verify: ['ls', 'ls'] } }, ['ls']],
    ['found in the folder', { ...PLAIN, checks: ['auto', 'ls'] }, {}, ['npm test', 'npm run lint', 'ls']],
    ['with the one that ends it', { ...PLAIN, checks: ['make'], until: 'ls' }, {}, ['make', 'ls']],
  ])('%s', async (_, request, place, checks) => {
    expect((await resolveSpec(request, placeOf(place))).checks).toEqual(checks)
  })

  test.each<[string, LoopRequest]>([
    ['a check that cannot be parsed', { ...PLAIN, checks: ['make "all'] }],
    ['a check of a stage that cannot be parsed', { ...PLAIN, stages: [{ name: 'A', check: "'" }] }],
    ['two stages with one name', { ...PLAIN, stages: [{ name: 'A' }, { name: 'A' }] }],
  ])('%s is refused before anything starts', async (_, request) => {
    await expect(resolveSpec(request, placeOf())).rejects.toMatchObject({ name: 'RalphError' })
  })
})

describe('the proof', () => {
  const config = {
    ...{ proof: 'seal', require: 'kept', protect: ['spec/**'], may_change: ['snap/**'] },
    ...{ proof_minutes: 3, proof_setup: 'npm ci', worktree_files: ['.env'], agent: 'codex' },
  } as const satisfies Config
  const asked: Partial<LoopRequest> = {
    ...{ proof: 'full', require: 'tested', protect: ['e2e/**'], mayChange: ['a.snap'], proofMinutes: 7 },
  }

  test('is what the config says', async () => {
    expect(await resolveSpec(PLAIN, placeOf({ config }))).toMatchObject({
      ...{ proof: 'seal', require: 'kept', protect: ['spec/**'], mayChange: ['snap/**'] },
      work: { proofMinutes: 3, proofSetup: 'npm ci', proofFiles: ['.env'] },
    })
  })

  test('is what the request says first; globs are added', async () => {
    const spec = await resolveSpec({ ...PLAIN, ...asked }, placeOf({ config }))
    expect(spec).toMatchObject({
      ...{ require: 'tested', protect: ['spec/**', 'e2e/**'], mayChange: ['snap/**', 'a.snap'] },
      work: { proofMinutes: 7 },
    })
    expect(spec.proof).toBeUndefined()
  })

  test.each(['../other/**', 'test/../../x', '/repo/tests/**'])(
    'rejects a glob that leads elsewhere: %s',
    async (glob) => {
      const place = { ...placeOf(), dir: '/repo' }
      for (const globs of [{ protect: [glob] }, { mayChange: [glob] }])
        await expect(resolveSpec({ ...PLAIN, ...globs }, place)).rejects.toThrow(
          `The glob "${glob}" would match nothing`,
        )
    },
  )

  test('rejects one in a config, and one that is never closed', async () => {
    const place = { ...placeOf({ config: { protect: ['/repo/test/**'] } }), dir: '/repo' }
    await expect(resolveSpec(PLAIN, place)).rejects.toThrow(
      'ralph.config.json or config.yaml: the glob "/repo/test/**" would match nothing',
    )
    await expect(resolveSpec({ ...PLAIN, protect: ['['] }, placeOf())).rejects.toThrow(
      'The glob "[" has an unclosed "[".',
    )
  })

  test('is all that is read from a config whose rest was resolved before', () => {
    const { agent: _, ...proof } = config
    expect(proofConfig(config)).toEqual(proof)
    expect(proofConfig({ agent: 'codex' })).toEqual({})
  })
})

test('several agents, and what to leave when it halts', async () => {
  const resolved = await resolveSpec({ prompt: 'Do it.', agents: ['claude', 'codex'], onHalt: 'best' }, placeOf())
  expect(resolved).toMatchObject({ agents: ['claude', 'codex'], onHalt: 'best', work: { agent: 'claude' } })
})

test('a loop knows the kind of work and its estimated size', async () => {
  const list = Array.from({ length: 16 }, (_, n) => `- part ${n}`).join('\n')
  const { work } = await resolveSpec({ ...PLAIN, prompt: list, type: 'docs' }, placeOf())
  expect(work).toMatchObject({ type: 'docs', size: 'L' })
})

import { expect, test } from 'vitest'
import { hashOf } from '../drive/pass.ts'
import { startLoop } from '../engine/loop.ts'
import { specOf } from '../engine/stories.test-support.ts'
import { callInside } from './call.ts'
import { INSIDE, type InsideName } from './inside.ts'
import { INSIDE_SCHEMAS } from './inside-schemas.ts'
import type { Context } from './operation.ts'
import { openPlace } from './place.test-support.ts'

const TOKEN = 'a token'
const TURN = { loop: 'a1', iteration: 1, attempt: 1 }

/** A loop in its first turn, and what its agent can call. */
async function inTurn(spec: Parameters<typeof specOf>[0] = {}): Promise<{
  context: Context
  use(name: InsideName, input?: object): Promise<object>
}> {
  const place = openPlace()
  const store = place.context.store()
  const work = { ...specOf().work, dir: place.cwd }
  await store.create(startLoop('a1', specOf({ work, ...spec }), { at: 0 }))
  await store.reports.issue(TURN, hashOf(TOKEN))
  const context = Object.assign(place.context, { env: { RALPH_MCP_TOKEN: TOKEN } })
  return {
    context,
    async use(name, input = {}) {
      const output = await callInside(context, name, input)
      expect(INSIDE_SCHEMAS[name].output.parse(output)).toEqual(output)
      return output
    },
  }
}

test('reports are kept for the turn, without secrets', async () => {
  const { context, use } = await inTurn({ stages: [{ name: 'TESTS' }] })
  await use('report_stage', { stage: 'TESTS', evidence: 'with sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789' })
  await use('report_stage', { stage: 'COMPLETE', evidence: 'all' })
  await use('report_blocked', { reason: 'No network.' })
  await use('ask_human', { question: 'Red or blue?' })
  const reports = await context.store().reports.of(TURN)
  expect(reports).toMatchObject([
    { kind: 'stage', stage: 'TESTS' },
    { kind: 'stage', evidence: 'all' },
    { kind: 'blocked', reason: 'No network.' },
    { kind: 'question', question: 'Red or blue?' },
  ])
  expect(reports[1]).not.toHaveProperty('stage')
  expect(JSON.stringify(reports)).not.toContain('abcdefghijklmnop')
})

test('a stage that is not open is refused, and the open ones are listed', async () => {
  const { use } = await inTurn({ stages: [{ name: 'TESTS' }, { name: 'DOCS' }] })
  await expect(use('report_stage', { stage: 'SHIPPED', evidence: 'x' })).rejects.toMatchObject({
    code: 'input-invalid',
    field: 'stage',
    message: expect.stringContaining('TESTS, DOCS'),
  })
})

test('a task for later goes on the board, in the folder of the loop, and does not start', async () => {
  const { context, use } = await inTurn()
  const { id } = (await use('create_task', { title: 'Rename it everywhere', labels: ['later'] })) as { id: string }
  const work = (await context.store().load('a1')).spec.work
  expect(await context.store().board.load(id)).toMatchObject({
    title: 'Rename it everywhere',
    created_by: 'agent',
    status: 'todo',
    repo: work.dir,
    checks: [],
    loop_id: null,
  })
  await expect(use('create_task', { title: 'x', checks: ['true'] })).rejects.toMatchObject({ field: 'checks' })
})

test.each(Object.keys(INSIDE) as InsideName[])('%s needs the pass of the current turn', async (name) => {
  const { context } = await inTurn()
  const valid = { evidence: 'x', reason: 'x', question: 'x', title: 'x' }
  const fields = Object.keys((INSIDE_SCHEMAS[name].input as unknown as { shape: object }).shape)
  const input = Object.fromEntries(Object.entries(valid).filter(([field]) => fields.includes(field)))
  for (const env of [{}, { RALPH_MCP_TOKEN: '' }, { RALPH_MCP_TOKEN: 'another' }])
    await expect(callInside(Object.assign(context, { env }), name, input)).rejects.toMatchObject({
      code: 'pass-invalid',
    })
})

test('a flood of reports is stopped', async () => {
  const { use } = await inTurn()
  for (let n = 0; n < 100; n++) await use('report_blocked', { reason: `${n}` })
  await expect(use('report_blocked', { reason: 'again' })).rejects.toMatchObject({ code: 'usage' })
})

import { mkdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeRepository } from '../../host/repository.test-support.ts'
import { OPERATIONS } from '../../operations/index.ts'
import { openPlace } from '../../operations/place.test-support.ts'
import { countTools } from './count-tools.ts'
import { connect, type Era, use } from './mcp.test-support.ts'
import { fleetTools } from './mcp-tools.ts'

const ERAS: Era[] = ['legacy', 'auto']

/** Offered only with a fleet, which exists when these tests run on Postgres. */
function withoutFleet<Tool extends { name: string }>(tools: readonly Tool[]): Tool[] {
  const names = fleetTools().map(({ name }) => name)
  return tools.filter(({ name }) => !names.includes(name))
}

test.each(ERAS)('the list of tools is the same for every client, in a stable order (%s)', async (era) => {
  const tools = withoutFleet((await (await connect(openPlace().context, era)).listTools()).tools)
  expect(tools.map(({ name }) => name)).toEqual([
    'get_context',
    'list_tasks',
    'get_task',
    'list_loops',
    'get_loop',
    'list_iterations',
    'get_iteration',
    'get_diff',
    'get_analytics',
    'list_executors',
    'create_task',
    'update_task',
    'delete_task',
    'start_loop',
    'wait_loop',
    'pause_loop',
    'resume_loop',
    'stop_loop',
    'steer_loop',
    'rollback_loop',
    'fork_loop',
    'accept_loop',
    'add_dependency',
  ])
})

test('every operation for agents is a tool, with annotations that follow from its effect', async () => {
  const tools = withoutFleet((await (await connect(openPlace().context)).listTools()).tools)
  const all = Object.values(OPERATIONS).flatMap(({ name, agent }) => (agent ? [{ name: agent.tool ?? name }] : []))
  const flagged = withoutFleet(all).map(({ name }) => name)
  expect(tools.map(({ name }) => name).sort()).toEqual(flagged.sort())
  const hints = Object.fromEntries(tools.map(({ name, annotations }) => [name, annotations]))
  expect(hints.get_loop).toEqual({ readOnlyHint: true, openWorldHint: false })
  expect(hints.rollback_loop).toMatchObject({ readOnlyHint: false, destructiveHint: true, idempotentHint: true })
  const open = tools.filter(({ annotations }) => annotations?.openWorldHint).map(({ name }) => name)
  expect(open).toEqual(['start_loop', 'fork_loop'])
  for (const { title, description, inputSchema, outputSchema } of tools) {
    expect(title).toMatch(/^[A-Z][a-z ]+$/)
    expect(description).toMatch(/\.$/)
    expect([inputSchema.type, outputSchema?.type]).toEqual(['object', 'object'])
  }
})

describe.each(ERAS)('a model (%s)', (era) => {
  test('starts a loop, watches it, steers, pauses, resumes and stops it', async () => {
    const place = openPlace()
    const client = await connect(place.context, era)
    const started = await use(client, 'start_loop', {
      prompt: 'Build it',
      agent: place.agent('true'),
      checks: ['true'],
    })
    const { loop } = started.data
    expect(started).toMatchObject({ isError: false, links: [`ralph://loop/${loop}`] })
    expect(JSON.parse(started.text)).toEqual(started.data)
    expect((await use(client, 'list_loops')).data.loops).toMatchObject([{ id: loop, prompt: 'Build it' }])
    expect((await use(client, 'get_loop', { loop })).data).toMatchObject({ id: loop, checks: ['true'], iterations: [] })
    const { seq } = (await use(client, 'wait_loop', { loop, seconds: 0 })).data
    expect((await use(client, 'steer_loop', { loop, words: 'Use blue.' })).data).toEqual({ loop, heard: 'here' })
    expect((await use(client, 'wait_loop', { loop, after: seq })).data).toMatchObject({ events: [{ kind: 'told' }] })
    expect((await use(client, 'pause_loop', { loop })).data).toEqual({ loops: [{ loop, heard: 'here' }] })
    expect((await use(client, 'resume_loop', { loop })).data).toEqual({ loop, heard: 'nobody' })
    expect((await use(client, 'stop_loop', { loop, confirm: true })).data).toEqual({ loops: [{ loop, heard: 'here' }] })
    expect((await use(client, 'get_loop', { loop })).data).toMatchObject({ status: 'cancelled' })
  })

  test('looks at the work of a loop, rolls it back, and takes it', async () => {
    const place = openPlace({ cwd: (await makeRepository()).dir })
    const client = await connect(place.context, era)
    const agent = place.agent('echo done > work.txt; echo "<promise>COMPLETE</promise>"')
    const asked = { prompt: 'Build it', agent, checks: ['test -e work.txt'], worktree: true }
    const { loop } = (await use(client, 'start_loop', asked)).data
    await place.drive(String(loop))
    expect((await use(client, 'get_loop', { loop })).data).toMatchObject({ proof: 'verified' })
    const row = { n: 1, claim: 'clear', checks: { 'test -e work.txt': 'pass' }, diff: '1 file, +1 −0' }
    expect((await use(client, 'list_iterations', { loop })).data.iterations).toMatchObject([row])
    const iteration = await use(client, 'get_iteration', { loop, iteration: 1 })
    expect(iteration.data).toMatchObject({ iteration: row, failures: {} })
    expect((await use(client, 'get_diff', { loop, iteration: 1 })).data.text).toContain('+done')
    const read = async (uri: string) => (await client.readResource({ uri })).contents[0] as { text: string }
    expect(iteration.links.map((uri) => uri.split('/').at(-1))).toEqual(['prompt', 'diff', 'verifier', 'transcript'])
    const [prompt, diff, verifier, transcript] = await Promise.all(iteration.links.map(read))
    expect(prompt?.text).toContain('Build it')
    expect(diff?.text).toContain('+done')
    expect(JSON.parse(verifier?.text ?? '')).toMatchObject({ checks: [{ result: 'pass' }] })
    expect(transcript?.text).toContain('<promise>COMPLETE</promise>')
    expect((await use(client, 'get_analytics')).data).toMatchObject({ loops: 1, success: { count: 1, of: 1 } })
    expect((await use(client, 'fork_loop', { loop, iteration: 0 })).data).toMatchObject({ from: loop, iteration: 0 })
    expect((await use(client, 'rollback_loop', { loop, iteration: 0, confirm: true })).isError).toBe(false)
    expect((await use(client, 'accept_loop', { loop, how: 'branch' })).data).toMatchObject({ branch: `ralph/${loop}` })
  })
})

describe.each(ERAS)('tasks (%s)', (era) => {
  test('are created with every field, read, changed, cleared, ordered and removed', async () => {
    const place = openPlace()
    const client = await connect(place.context, era)
    const seed = { use_ralph_wiggum: true, ralph_max_iterations: 5, ralph_completion_promise: 'DONE' }
    const created = await use(client, 'create_task', { title: 'Paint it', ...seed, checks: ['true'] })
    expect(created.data).toMatchObject({ title: 'Paint it', ...seed, checks: ['true'], created_by: 'agent' })
    const { id: task_id } = created.data
    expect(created.links).toEqual([`ralph://task/${task_id}`])
    const cleared = { ralph_max_iterations: null, ralph_completion_promise: null, use_ralph_wiggum: false }
    await use(client, 'update_task', { task_id, ...cleared })
    expect((await use(client, 'get_task', { task_id })).data).toMatchObject({
      ralph_max_iterations: 10,
      ralph_completion_promise: 'COMPLETE',
      use_ralph_wiggum: false,
    })
    const { id: depends_on } = (await use(client, 'create_task', { title: 'Lay the ground' })).data
    await use(client, 'add_dependency', { task_id, depends_on })
    const [, listed] = (await use(client, 'list_tasks')).data.tasks as object[]
    expect(listed).toMatchObject({ id: task_id, waits_for: [depends_on] })
    const unsure = await use(client, 'delete_task', { task_id })
    expect(JSON.parse(unsure.text).error).toMatchObject({
      code: 'unconfirmed',
      message: expect.stringMatching(/^Task \w+ \(Paint it\) would be removed for good.* with confirm: true\.$/),
    })
    expect((await use(client, 'delete_task', { task_id, confirm: true })).data).toEqual({ task_id })
    expect(JSON.parse((await use(client, 'create_task', { title: 'x', color: 'blue' })).text).error.message).toMatch(
      /^create_task has no field "color"\./,
    )
  })
})

describe.each(ERAS)('resources (%s)', (era) => {
  test('are the board, its tasks and loops', async () => {
    const place = openPlace()
    const { id } = await place.run('create_task', { title: 'Paint it' })
    const { loop } = await place.run('start_loop', { prompt: 'Build it', agent: place.agent('true') })
    const client = await connect(place.context, era)
    const { resources } = await client.listResources()
    expect(resources.map(({ uri }) => uri)).toEqual(['ralph://board', `ralph://task/${id}`, `ralph://loop/${loop}`])
    const read = async (uri: string) => {
      const [content] = (await client.readResource({ uri })).contents
      return JSON.parse(content && 'text' in content ? content.text : '')
    }
    expect(await read('ralph://board')).toMatchObject({ tasks: [{ id }], loops: [{ id: loop }] })
    expect(await read(`ralph://task/${id}`)).toMatchObject({ id, title: 'Paint it' })
    expect(await read(`ralph://loop/${loop}`)).toMatchObject({ id: loop, status: 'running' })
    const { resourceTemplates } = await client.listResourceTemplates()
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toContain('ralph://loop/{id}/iteration/{n}/diff')
    const inherited = ['constructor', 'toString', 'valueOf', '__proto__', 'hasOwnProperty']
    const parts = ['nonsense', ...inherited].map((part) => `ralph://loop/${loop}/iteration/1/${part}`)
    for (const uri of ['ralph://nowhere', ...parts, 'file:///etc/passwd'])
      await expect(read(uri)).rejects.toMatchObject({ code: -32602 })
    await expect(read('ralph://loop/nowhere')).rejects.toThrow('No such loop: nowhere.')
  })
})

test('a long transcript is read from its end, and says how much is left out', async () => {
  const place = openPlace()
  const { loop } = await place.run('start_loop', { prompt: 'Build it', agent: place.agent('true') })
  const log = place.context.store().transcripts.openTurn(loop, 1)
  log.write([{ out: 'first\n' }, ...Array.from({ length: 6 }, () => ({ out: '🦉'.repeat(50_000) })), { err: '\nlast' }])
  log.close()
  const client = await connect(place.context)
  const { contents } = await client.readResource({ uri: `ralph://loop/${loop}/iteration/1/transcript` })
  const { text } = contents[0] as { text: string }
  const [, leftOut] = /^\[(\d+) characters left out\]\n/.exec(text) ?? []
  expect(Number(leftOut)).toBe(600_011 - 200_000)
  expect(text).toMatch(/\nlast\n\[\d+ bytes so far\]$/)
  expect(text.isWellFormed()).toBe(true)
})

describe('what would be lost', () => {
  const refused = async (client: Awaited<ReturnType<typeof connect>>, tool: string, input: object) =>
    JSON.parse((await use(client, tool, input)).text).error

  test('is stated only for input that the tool accepts', async () => {
    const place = openPlace()
    const { loop } = await place.run('start_loop', { prompt: 'Build it', agent: place.agent('true') })
    const client = await connect(place.context)
    expect(await refused(client, 'rollback_loop', { loop, iteration: 'one' })).toMatchObject({
      code: 'input-invalid',
      field: 'iteration',
    })
    expect(await refused(client, 'rollback_loop', { loop, iteration: 7 })).toMatchObject({ code: 'checkpoint-missing' })
    expect(await refused(client, 'stop_loop', { loop, now: true })).toMatchObject({
      code: 'input-invalid',
      field: 'now',
    })
  })

  test.each([
    [{ elicitation: { url: {} } }, 'unconfirmed'],
    [{ elicitation: { url: {}, form: {} } }, 'declined'],
    [{ elicitation: {} }, 'declined'],
  ])('is confirmed in a form only if the client supports forms: %j', async (capabilities, code) => {
    const place = openPlace()
    const { id: task_id } = await place.run('create_task', { title: 'Paint it' })
    const client = await connect(place.context, 'auto', capabilities)
    client.setRequestHandler('elicitation/create', () => ({ action: 'decline' }))
    expect(await refused(client, 'delete_task', { task_id })).toMatchObject({ code })
  })

  test('is a turn only while one is running', async () => {
    const place = openPlace()
    const { loop } = await place.run('start_loop', { prompt: 'Build it', agent: place.agent('true') })
    const client = await connect(place.context)
    const { message } = await refused(client, 'stop_loop', { loop })
    expect(message).toBe(
      `Loop ${loop} would end for good after 0 iterations. Files stay as they are. pause_loop only pauses. To go ahead, call stop_loop again with confirm: true.`,
    )
    const lease = await place.context.store().lease(loop)
    expect((await refused(client, 'stop_loop', { loop })).message).toMatch(
      /after 0 iterations, and lose the current turn\. /,
    )
    if (!('heldBy' in lease)) await lease.release()
  })

  test('is named for every open loop of a project', async () => {
    const place = openPlace()
    const start = async () => (await place.run('start_loop', { prompt: 'Build it', agent: place.agent('true') })).loop
    const [first, second, over] = [await start(), await start(), await start()]
    await place.run('cancel', { loop: over })
    const folder = join(realpathSync(place.cwd), '.artefacts', 'shop')
    mkdirSync(folder, { recursive: true })
    await place.context.store().projects.save(folder, { loops: [first, second, over] })
    const client = await connect(place.context)
    const { message } = await refused(client, 'stop_loop', { loop: 'shop' })
    expect(message).toMatch(
      `Loop ${first} would end for good after 0 iterations. Loop ${second} would end for good after 0 iterations. Files`,
    )
    expect(message).not.toContain(over)
    expect((await use(client, 'stop_loop', { loop: 'shop', confirm: true })).data.loops).toHaveLength(2)
  })
})

test.each(ERAS)('there are three prompts (%s)', async (era) => {
  const client = await connect(openPlace().context, era)
  const { prompts } = await client.listPrompts()
  expect(prompts.map(({ name }) => name)).toEqual(['plan_tasks', 'review_loop', 'why_did_it_stop'])
  const { messages } = await client.getPrompt({ name: 'review_loop', arguments: { loop: 'a1' } })
  expect(messages).toMatchObject([{ role: 'user', content: { text: expect.stringContaining('loop a1') } }])
  await expect(client.getPrompt({ name: 'plan_tasks', arguments: {} })).rejects.toThrow('needs the argument goal')
  await expect(client.getPrompt({ name: 'sing' })).rejects.toThrow('Unknown prompt: "sing".')
})

test('the list of tools costs a model less than 6,000 tokens', () => {
  expect(countTools().reduce((sum, { tokens }) => sum + tokens, 0)).toBeLessThan(6_000)
})

test('fleet tools cost less than 1,000 additional tokens, and only with a fleet', () => {
  expect(countTools(fleetTools()).reduce((sum, { tokens }) => sum + tokens, 0)).toBeLessThan(1_000)
})

test('an agent inside a loop ends, rolls back and deletes nothing', async () => {
  const place = openPlace()
  const { loop } = await place.run('start_loop', { prompt: 'Build it', agent: place.agent('true') })
  const { id: task_id } = await place.run('create_task', { title: 'Paint it' })
  const inside = { ...place.context, env: { ...place.context.env, RALPH_LOOP_ID: loop } }
  const client = await connect(inside)
  const yes = { confirm: true }
  for (const [tool, input] of [
    ['stop_loop', { loop, ...yes }],
    ['rollback_loop', { loop, iteration: 0, ...yes }],
    ['delete_task', { task_id, ...yes }],
    ['accept_loop', { loop, how: 'merge' }],
  ] as const)
    expect(JSON.parse((await use(client, tool, input)).text).error).toMatchObject({ code: 'below-turn' })
  expect((await use(client, 'get_loop', { loop })).data).toMatchObject({ status: 'running' })
})

test('a fixable error comes with its code, a bug only goes to whoever runs the server', async () => {
  const place = openPlace()
  const client = await connect(place.context)
  const unknown = await use(client, 'get_loop', { loop: 'nowhere' })
  expect(unknown.isError).toBe(true)
  expect(JSON.parse(unknown.text)).toMatchObject({ error: { code: 'loop-unknown' } })
  const wrong = await use(client, 'start_loop', { prompt: 'Build it', checks: 'npm test' })
  expect(JSON.parse(wrong.text)).toMatchObject({
    error: { code: 'input-invalid', message: 'start_loop: checks must be a list, got "npm test".', field: 'checks' },
  })
  await expect(client.callTool({ name: 'format_disk' })).rejects.toThrow('Unknown tool: "format_disk".')
  const store = () => {
    throw new Error('secret detail')
  }
  const broken = { ...place.context, store }
  const bug = await use(await connect(broken), 'get_loop', { loop: 'a' })
  expect(JSON.parse(bug.text).error).toEqual({
    code: 'bug',
    message: 'This is a bug in ralph. Its log says more.',
  })
  expect(place.notes.join()).toContain('secret detail')
})

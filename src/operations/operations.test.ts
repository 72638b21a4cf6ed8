import { existsSync, mkdirSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { startLoop } from '../engine/loop.ts'
import { specOf } from '../engine/stories.test-support.ts'
import { temporaryFolder } from '../host/place.test-support.ts'
import { isOnPostgres } from '../host/postgres/postgres.test-support.ts'
import { makeRepository } from '../host/repository.test-support.ts'
import { foreignBoard } from '../host/vibe-kanban.test-support.ts'
import { bentLoop } from './bent.test-support.ts'
import { crewAgent, holdCrew, leaveCrew, paneRecord } from './crew.test-support.ts'
import { OPERATIONS, type OperationName } from './index.ts'
import { type OperationPlace, openPlace, ran } from './place.test-support.ts'
import { SCHEMAS } from './schemas.ts'

describe('loops', () => {
  const WORKS = 'date +%N > work.txt; echo "I worked."'
  const DONE = 'date +%N > work.txt; echo "<promise>COMPLETE</promise>"'

  test('are started, listed, shown, steered and cancelled', async () => {
    const place = openPlace()
    const { loop } = await place.run('start_loop', { prompt: 'Build it', agent: place.agent(WORKS), checks: ['true'] })
    expect((await place.run('list_loops', { status: ['verifying'], owner: 'person' })).loops).toMatchObject([
      { id: loop },
    ])
    expect(await place.run('get_loop', {})).toMatchObject({ loop: { id: loop }, status: 'verifying', unattended: true })
    expect(await place.run('steer', { loop, words: 'Use blue.' })).toEqual({ loop, heard: 'here' })
    expect(await place.run('mark_seen', { loop, n: 1 })).toEqual({ loop, n: 1 })
    expect((await place.run('list_needs', {})).needs).toMatchObject([{ loop, kind: 'unattended', unread: false }])
    expect(await place.run('get_overview', {})).toMatchObject({ loops: 1, byStatus: { verifying: 1 }, needsYou: 1 })
    expect(await place.run('pause', { loop: loop.slice(0, 6) })).toEqual([{ loop, heard: 'here' }])
    expect((await place.run('get_loop', { loop })).standing.kind).toBe('waiting')
    expect(await place.run('resume', { loop })).toEqual({ loop, heard: 'nobody' })
    expect(await place.run('cancel', { loop })).toEqual([{ loop, heard: 'here' }])
    expect((await place.run('get_loop', { loop })).status).toBe('cancelled')
    expect((await place.run('list_loops', { dir: '.' })).loops).toMatchObject([{ id: loop }])
    await expect(place.run('steer', { loop, words: 'Go on.' })).rejects.toMatchObject({ code: 'loop-ended' })
  })

  test('can have their checks tried first', async () => {
    const { ran } = await openPlace().run('try_checks', { checks: ['true'] })
    expect(ran).toMatchObject([{ check: 'true', result: 'pass', tail: '' }])
  })

  test('that change the configuration need a person to trust it', async () => {
    const place = openPlace()
    const { loop } = await place.run('start_loop', { prompt: 'Build it', agent: place.agent(WORKS) })
    const path = join(realpathSync(place.cwd), 'ralph.config.json')
    writeFileSync(path, '{ "max_iterations": 3 }')
    await expect(place.run('start_loop', { prompt: 'Build more' })).rejects.toMatchObject({
      code: 'config-changed',
      message: expect.stringContaining(`${path} was changed by loop ${loop}`),
    })
    expect((await place.run('trust_config', {})).paths).toEqual([path])
    expect((await place.run('trust_config', {})).paths).toEqual([])
  })

  test('come in pages', async () => {
    const place = openPlace()
    const started: string[] = []
    for (const prompt of ['One', 'Two', 'Three'])
      started.unshift((await place.run('start_loop', { prompt, agent: place.agent(WORKS) })).loop)
    const first = await place.run('list_loops', { limit: 2 })
    const second = await place.run('list_loops', { limit: 2, after: first.next })
    expect([...first.loops, ...second.loops].map(({ id }) => id)).toEqual(started)
    expect(second.next).toBeUndefined()
    expect((await place.run('list_loops', { text: 'thr' })).loops).toMatchObject([{ prompt: 'Three' }])
  })

  test('are driven and rolled back, and the rollback is undone', async () => {
    const place = openPlace({ cwd: (await makeRepository()).dir })
    const { loop } = await place.run('start_loop', {
      prompt: 'Build it',
      agent: place.agent(DONE),
      checks: ['test -e work.txt'],
    })
    expect((await place.drive(loop)).next).toEqual({
      kind: 'complete',
      proof: 'verified',
      sentence: '`test -e work.txt` failed before the loop began and passes now.',
    })
    const found = await place.run('get_loop', { loop })
    expect(found.iterations).toMatchObject([
      { n: 1, claim: 'clear', verdicts: [{ check: 'test -e work.txt', result: 'pass' }] },
    ])
    expect(await place.run('get_proof', { loop })).toMatchObject({ loop, checks: [{ after: { result: 'pass' } }] })
    expect(await place.run('get_iteration', { loop, iteration: 1 })).toMatchObject({ loop, row: { n: 1 } })
    await expect(place.run('get_iteration', { loop, iteration: 2 })).rejects.toMatchObject({ code: 'loop-unknown' })
    expect(await place.run('list_iterations', { loop })).toMatchObject({ loop, iterations: [{ n: 1 }] })
    expect((await place.run('get_diff', { loop, iteration: 1 })).files).toMatchObject([{ path: 'work.txt' }])
    expect((await place.run('get_transcript', { loop, iteration: 1 })).entries).toHaveLength(3)
    expect((await place.run('get_activity', { loop, iteration: 1 })).rows).toMatchObject([
      { kind: 'prompt' },
      { kind: 'text' },
      { kind: 'exit', text: 'exit code 0' },
    ])
    expect((await place.run('get_checks', { loop })).checks).toHaveLength(1)
    expect(await place.run('list_strips', { loops: [loop] })).toMatchObject({ strips: [{ loop, bars: [{ n: 1 }] }] })
    const { events } = await place.run('list_events', { loop })
    expect(events.map(({ fact }) => fact.kind)).toEqual(['checked', 'turned', 'checked'])
    expect(await place.run('list_events', { after: events.at(-1)?.seq ?? 0 })).toEqual({ events: [] })
    expect((await place.run('rollback', { loop, iteration: 0 })).loop).toBe(loop)
    expect(existsSync(join(place.cwd, 'work.txt'))).toBe(false)
    await place.run('undo', { loop })
    expect(existsSync(join(place.cwd, 'work.txt'))).toBe(true)
    expect(await place.run('get_analytics', {})).toMatchObject({ loops: 1, success: { count: 1, of: 1 } })
    expect(await place.run('get_forecast', { prompt: 'Build it' })).toMatchObject({ enough: false, loops: 1 })
    expect((await place.run('export_loops', {})).csv).toContain(loop)
  })

  test('in a worktree are accepted', async () => {
    const place = openPlace({ cwd: (await makeRepository()).dir })
    const asked = { prompt: 'Build it', agent: place.agent(DONE), worktree: true }
    const { loop } = await place.run('start_loop', asked)
    await place.drive(loop)
    expect(existsSync(join(place.cwd, 'work.txt'))).toBe(false)
    expect(await place.run('accept', { loop })).toMatchObject({ loop, branch: `ralph/${loop}` })
    expect(existsSync(join(place.cwd, 'work.txt'))).toBe(true)
  })

  test('that wait for an answer are answered', async () => {
    const place = openPlace()
    for (const id of ['bent-1', 'bent-2'])
      await bentLoop(place.context, id, { work: { ...specOf().work, dir: place.cwd } })
    const allowed = await place.run('answer', { loop: 'bent-1', allow: true })
    expect(allowed).toEqual({ loop: 'bent-1', heard: 'nobody', paths: ['test/a.test.ts'] })
    expect((await place.drive('bent-1')).next.kind).toBe('complete')
    expect(await place.run('answer', { loop: 'bent-2', words: 'Put it back.' })).toMatchObject({ heard: 'nobody' })
  })

  test('get comments on their diffs', async () => {
    const place = openPlace({ cwd: (await makeRepository()).dir })
    const agent = place.agent(WORKS)
    const { loop } = await place.run('start_loop', { prompt: 'Build it', agent, limits: { iterations: 1 } })
    await place.drive(loop)
    const comment = { iteration: 1, path: 'work.txt', line: 1, text: 'Why this number?' }
    const { comments } = await place.run('add_comments', { loop, comments: [comment] })
    expect(comments).toMatchObject([
      { ...comment, side: 'new', quote: expect.stringMatching(/^\d+$/), delivered: null },
    ])
    expect(await place.run('list_comments', { loop })).toEqual({ loop, comments })
    const [{ id } = { id: 0 }] = comments
    expect(await place.run('remove_comment', { loop, comment: id })).toEqual({ loop, comment: id })
  })

  test('that stopped early are forked and retried', async () => {
    const place = openPlace({ cwd: (await makeRepository()).dir })
    const { loop } = await place.run('start_loop', {
      prompt: 'Build it',
      agent: place.agent(WORKS),
      limits: { iterations: 1 },
    })
    await place.drive(loop)
    expect(await place.run('fork', { loop })).toMatchObject({ from: loop, iteration: 1 })
    expect(await place.run('retry', { loop })).toMatchObject({ from: loop })
    expect((await place.run('list_loops', {})).loops).toHaveLength(3)
  })

  test('that wait for permission continue once it is given', async () => {
    const place = openPlace()
    await bentLoop(place.context, 'bent-1', { work: { ...specOf().work, dir: place.cwd } })
    expect(await place.run('allow', { loop: 'bent-1' })).toMatchObject({ paths: ['test/a.test.ts'], heard: 'nobody' })
    expect((await place.drive('bent-1')).next.kind).toBe('complete')
  })

  test.each<[left: string, agent: string, checks: string[], parents: number, proof: string]>([
    ['uncommitted', DONE, ['test -e work.txt'], 1, 'verified'],
    ['uncommitted, without a check', DONE, [], 1, 'claimed'],
    ['committed by the agent', `${DONE}; git add -A; git commit -qm mine`, ['true'], 2, 'kept'],
  ])('leave their proof in git when they are accepted: %s', async (_, lines, checks, parents, proof) => {
    const { dir, git } = await makeRepository()
    const place = openPlace({ cwd: dir })
    const asked = { prompt: 'Build it', agent: place.agent(lines), worktree: true, checks }
    const { loop } = await place.run('start_loop', asked)
    await place.drive(loop)
    await place.run('accept', { loop })
    expect(git('log', '-1', '--format=%(trailers:only)').trim()).toBe(`Ralph-Loop: ${loop}\nRalph-Proof: ${proof}`)
    expect(git('log', '-1', '--format=%P').split(' ')).toHaveLength(parents)
  })

  test('leave nothing but their story once they are pruned', async () => {
    const place = openPlace()
    const { loop } = await place.run('start_loop', { prompt: 'Build it', agent: place.agent(DONE) })
    await place.drive(loop)
    const later = { ...place.context, now: () => Date.now() + 40 * 86_400_000 }
    expect(await OPERATIONS.prune.run(later, {})).toMatchObject({ transcripts: 1 })
    expect(await place.run('prune', { days: 30 })).toEqual({ transcripts: 0, checkpoints: 0, tasks: 0 })
    expect((await place.run('get_loop', { loop })).iterations).toHaveLength(1)
  })

  test.skipIf(isOnPostgres)('are the same in a rebuilt database, which is used from then on', async () => {
    const place = openPlace()
    const { loop } = await place.run('start_loop', { prompt: 'Build it', agent: place.agent(DONE) })
    await place.drive(loop)
    const before = await place.run('get_loop', { loop })
    expect(await place.run('rebuild', {})).toMatchObject({ loops: 1 })
    expect(await place.run('get_loop', { loop })).toEqual(before)
    const { loop: next } = await place.run('start_loop', { prompt: 'Another', agent: place.agent(DONE) })
    await place.context.close()
    expect((await place.run('list_loops', {})).loops.map(({ id }) => id)).toEqual([next, loop])
  })

  test('in Postgres are restored from a backup, and not rebuilt', async () => {
    await expect(openPlace({ database: 'postgres://nowhere/ralph' }).run('rebuild', {})).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('backup'),
    })
  })

  test('that do not exist are a sentence', async () => {
    const place = openPlace()
    await expect(place.run('get_loop', { loop: 'nope' })).rejects.toMatchObject({ code: 'loop-unknown' })
    await expect(place.run('get_loop', {})).rejects.toMatchObject({ code: 'loop-unknown' })
  })
})

test('a schema can be printed for programs that do not speak TypeScript', () => {
  for (const { input, output } of Object.values(SCHEMAS))
    for (const schema of [input, output]) expect(schema.toJSONSchema()).toHaveProperty('$schema')
})

test('projects are created, imported and shown', async () => {
  const place = openPlace()
  expect(await place.run('init_project', { project: 'shop' })).toMatchObject({ exclusion: 'none' })
  expect((await place.run('get_project', { project: 'shop' })).tasks).toBeUndefined()
  writeFileSync(join(place.cwd, 'todo.md'), '# Plan\n\n- [ ] Sell apples\n- [x] Sell pears\n')
  expect(await place.run('import_board', { file: foreignBoard('newest').path })).toMatchObject({ tasks: 0 })
  expect(await place.run('import_tasks', { file: 'todo.md', project: 'fruit' })).toMatchObject({
    tasks: 2,
    completed: 1,
  })
  const found = await place.run('get_project', { project: 'fruit' })
  expect(found.tasks?.map(({ title, status }) => `${title}: ${status}`)).toEqual([
    'Sell apples: pending',
    'Sell pears: completed',
  ])
  await expect(place.run('get_project', { project: 'fruits' })).rejects.toMatchObject({ code: 'project-unknown' })
})

describe('tasks of a vault', () => {
  function openVault(): OperationPlace & { move(id: string, to: string): void } {
    const cwd = temporaryFolder()
    mkdirSync(join(cwd, 'Needs_Action'))
    for (const id of ['a', 'b', 'c', 'd']) writeFileSync(join(cwd, 'Needs_Action', `${id}.md`), `Do ${id}.\n`)
    const move = (id: string, to: string) => {
      mkdirSync(join(cwd, to), { recursive: true })
      renameSync(join(cwd, 'Needs_Action', `${id}.md`), join(cwd, to, `${id}.md`))
    }
    return { ...openPlace({ cwd }), move }
  }
  const iteration = { action: 'Draft it', result: 'success', seconds: 5 }

  test('are worked on by the caller until they are done', async () => {
    const vault = openVault()
    const started = await vault.run('start_vault_task', {
      file: 'Needs_Action/a.md',
      maxIterations: 3,
      timeoutMinutes: 20,
    })
    expect(started).toMatchObject({ task_id: 'a', status: 'initializing' })
    const progressed = await vault.run('report_vault_progress', { task: 'a', total: 4, completed: 1, step: 'Begin' })
    expect(progressed.progress.percentage).toBe(25)
    const counted = await vault.run('iterate_vault_task', { task: 'Needs_Action/a.md', ...iteration })
    expect(counted).toMatchObject({ iteration: 1, max_iterations: 3, should_continue: true })
    expect((await vault.run('get_vault_task', { task: 'a', history: 1 })).state.iterations_history).toHaveLength(1)
    expect(await vault.run('is_vault_task_complete', { task: 'a' })).toEqual({ task_id: 'a', complete: false })
    vault.move('a', 'Done')
    expect(await vault.run('complete_vault_task', { task: 'a', reason: 'all sent' })).toMatchObject({
      exit_reason: 'all sent',
    })
    expect((await vault.run('list_vault_tasks', {})).tasks).toMatchObject([{ task_id: 'a', status: 'completed' }])
    const { completed } = await vault.run('brief_vault', { since: 0 })
    expect(completed).toMatchObject([{ task_id: 'a', iterations: 1 }])
  })

  test('are approved, rejected, timed out and exhausted', async () => {
    const vault = openVault()
    for (const id of ['a', 'b', 'c', 'd'])
      await vault.run('start_vault_task', { file: `Needs_Action/${id}.md`, maxIterations: 2 })
    for (const id of ['a', 'b']) {
      vault.move(id, 'Pending_Approval')
      await vault.run('iterate_vault_task', { task: id, ...iteration })
    }
    expect((await vault.run('brief_vault', { since: 0 })).waiting.map(({ task_id }) => task_id)).toEqual(['a', 'b'])
    expect(await vault.run('approve_vault_task', { task: 'a', note: 'Fine.' })).toMatchObject({ status: 'in_progress' })
    expect(await vault.run('reject_vault_task', { task: 'b', reason: 'No.' })).toMatchObject({
      state: { status: 'failed' },
      why: expect.stringContaining('No'),
    })
    expect(await vault.run('time_out_vault_task', { task: 'c' })).toMatchObject({ status: 'timeout' })
    for (const _ of [1, 2]) await vault.run('iterate_vault_task', { task: 'd', ...iteration })
    expect(await vault.run('exhaust_vault_task', { task: 'd' })).toMatchObject({ status: 'max_iterations_reached' })
    expect((await vault.run('brief_vault', { since: 0 })).stuck).toHaveLength(3)
  })

  test('that do not exist are a sentence', async () => {
    const vault = openVault()
    await expect(vault.run('get_vault_task', { task: 'nope' })).rejects.toMatchObject({ code: 'task-unknown' })
    rmSync(join(vault.cwd, 'Needs_Action'), { recursive: true })
    await expect(vault.run('list_vault_tasks', {})).rejects.toMatchObject({ code: 'usage' })
  })
})

describe('agents in panes', () => {
  const owner = { kind: 'pane', crew: 'c', name: 'api', config: '/c.yaml' } as { kind: 'pane' } // as a dispatcher makes it

  async function openCrew() {
    const place = openPlace()
    const loop = startLoop('pane-1', specOf({ work: { ...specOf().work, dir: place.cwd, owner } }), {
      at: 5,
      tree: 't',
    })
    await place.context.store().create(loop)
    const api = paneRecord(crewAgent('api', 1, { config: { notify_webhook: 'https://example.com/secret' } }), {
      loop: loop.id,
      state: 'WAITING',
      until: 9,
    })
    const web = paneRecord(crewAgent('web', 2, { dir: join(place.cwd, 'web') }))
    const crew = await leaveCrew(place.context, place.cwd, [api, web])
    return { ...place, ...crew, loop: loop.id, web }
  }

  test('are listed with their loops, which are listed as theirs', async () => {
    const { run, config, loop } = await openCrew()
    const { agents, ...crew } = await run('list_agents', {})
    expect(crew).toEqual({ config, running: false })
    expect(agents).toMatchObject([
      {
        number: 1,
        name: 'api',
        state: 'WAITING',
        until: 9,
        tells: 'hook',
        loop: { id: loop, iteration: 1, open: true },
      },
      { number: 2, name: 'web', state: 'READY', queue: [] },
    ])
    expect(JSON.stringify(agents)).not.toContain('secret')
    expect((await run('list_agents', { agents: ['2'], config: 'config.yaml' })).agents).toHaveLength(1)
    expect((await run('list_loops', { owner: 'pane' })).loops).toMatchObject([
      { id: loop, owner: 'pane', worker: 'the agent api in its pane', unattended: false },
    ])
  })

  test('get tasks in order, except dropped ones', async () => {
    const { run } = await openCrew()
    expect(await run('give_task', { agent: 'web', prompt: 'One' })).toEqual({ agent: 'web', ahead: 0, running: false })
    expect(await run('give_task', { agent: 'WEB', prompt: 'Two' })).toMatchObject({ agent: 'web', ahead: 1 })
    expect(await run('give_task', { agent: '1', prompt: 'Three' })).toMatchObject({ agent: 'api', ahead: 1 })
    expect(await run('drop_task', { agent: '2', task: 1 })).toEqual({ agent: 'web', prompt: 'One' })
    const { agents } = await run('list_agents', { agents: ['web'] })
    expect(agents[0]?.queue).toEqual([{ number: 1, prompt: 'Two' }])
    await expect(run('drop_task', { agent: '2', task: 2 })).rejects.toThrow('there is no task 2')
  })

  test('get orders that their dispatcher carries out', async () => {
    const { run, id, context } = await openCrew()
    expect(await run('see_agent', { agent: 'api' })).toEqual({ agent: 'api', running: false })
    holdCrew(context, id)
    await expect(run('retry_agent', { agent: 'api' })).rejects.toThrow('there is no prompt to resend')
    await context.store().panes.save({ crew: id, name: 'web' }, paneRecord(crewAgent('web', 2), { state: 'STALLED' }))
    expect(await run('retry_agent', { agent: 'web' })).toEqual({ agent: 'web', running: true })
    expect(await run('remove_agent', { agent: 'web' })).toEqual({ agent: 'web', running: true })
    await expect(run('remove_agent', { agent: 'api' })).rejects.toThrow('api is working on loop pane-1.')
    const mail = (await context.store().panes.mail(id)).map(({ name, mail: { kind } }) => `${name} ${kind}`)
    expect(mail).toEqual(['api seen', 'web retry', 'web remove'])
  })

  test('are added to a running dispatcher, each in its own folder', async () => {
    const { run, id, context, cwd, config } = await openCrew()
    writeFileSync(join(cwd, 'script.json'), '{"turns": [[{"text": "Hello."}]]}')
    const asked = { name: 'docs', agent: 'scripted:script.json', dir: cwd }
    await expect(run('add_agent', asked)).rejects.toThrow(`No dispatcher is running for ${config}.`)
    holdCrew(context, id)
    expect(await run('add_agent', asked)).toEqual({ agent: 'docs', running: true })
    const [added] = await context.store().panes.mail(id)
    expect(added).toMatchObject({ name: '', mail: { agent: { name: 'docs', number: 3, dir: realpathSync(cwd) } } })
    await expect(run('add_agent', asked)).rejects.toThrow('An agent named docs already exists.')
    await expect(run('add_agent', { ...asked, name: 'WEB' })).rejects.toThrow('An agent named WEB already exists.')
    await expect(run('add_agent', { ...asked, name: 'more' })).rejects.toThrow(
      /^more and docs would work in the same folder, .*\. Give one of them its own folder, or worktree: true\.$/,
    )
    await expect(run('add_agent', { ...asked, name: 'more', dir: 'nowhere' })).rejects.toThrow(
      `more: folder not found: ${join(cwd, 'nowhere')}.`,
    )
    await expect(run('add_agent', { ...asked, name: '12' })).rejects.toThrow('not just digits, got "12".')
  })

  test('list their state changes in order', async () => {
    const { run, id, context, web } = await openCrew()
    const save = (change: object) => context.store().panes.save({ crew: id, name: 'web' }, web, { change })
    await save({ state: 'WORKING', words: 'Starting task', loop: 'a1', iteration: 0 })
    await save({ state: 'WAITING', words: 'Its limit is reached.', until: 7, loop: 'a1', iteration: 1 })
    const { changes } = await run('list_changes', {})
    expect(changes).toMatchObject([
      { agent: 'web', state: 'WORKING', words: 'Starting task', loop: 'a1', iteration: 0 },
      { agent: 'web', state: 'WAITING', until: 7 },
    ])
    expect(await run('list_changes', { after: changes[0]?.seq })).toEqual({ changes: changes.slice(1) })
  })

  test('have loops whose limits can be changed', async () => {
    const { run, loop } = await openCrew()
    expect(await run('set_limits', { loop, iterations: 7 })).toEqual({ loop, iterations: 7 })
    expect((await run('list_agents', {})).agents[0]?.loop?.most).toBe(7)
  })
})

describe('this machine', () => {
  test('shows the current folder and the available agents', async () => {
    const place = openPlace()
    const { loop } = await place.run('start_loop', { prompt: 'Build it', agent: place.agent('true') })
    expect(await place.run('get_context', {})).toMatchObject({
      dir: realpathSync(place.cwd),
      server: null,
      loops: [{ id: loop, status: 'running', iteration: 0, title: 'Build it' }],
      tasks: [],
    })
    const { executors } = await place.run('list_executors', {})
    expect(executors.find(({ name }) => name === 'claude')).toMatchObject({ install: '@anthropic-ai/claude-code' })
  })

  test('waits for something to happen to a loop', async () => {
    const place = openPlace()
    const { loop } = await place.run('start_loop', { prompt: 'Build it', agent: place.agent('echo "I worked."') })
    const before = await place.run('wait_loop', { loop, seconds: 0 })
    expect(before).toMatchObject({ status: 'running', stillRunning: true, unattended: true, seq: 0, events: [] })
    const waiting = place.run('wait_loop', { loop, after: before.seq })
    await place.run('steer', { loop, words: 'Use blue.' })
    const news = await waiting
    expect(news).toMatchObject({ stillRunning: false, events: [{ kind: 'told', words: 'you said: Use blue.' }] })
    await place.run('cancel', { loop })
    expect(await place.run('wait_loop', { loop })).toMatchObject({ status: 'cancelled', stillRunning: false })
    expect((await place.run('wait_loop', { loop, after: news.seq })).events).toMatchObject([{ kind: 'told' }])
  })

  test('stops waiting when the caller is gone', async () => {
    const place = openPlace()
    const { loop } = await place.run('start_loop', { prompt: 'Build it', agent: place.agent('true') })
    const progress: string[] = []
    const gone = new AbortController()
    const leave = (words: string) => {
      progress.push(words)
      gone.abort()
    }
    const context = { ...place.context, signal: gone.signal, progress: leave }
    expect(await OPERATIONS.wait_loop.run(context, { loop })).toMatchObject({ stillRunning: true })
    expect(progress).toEqual([expect.stringMatching(/^running after 0 iterations/)])
  })
})

describe('tasks of the board', () => {
  const DONE = 'date +%N > work.txt; echo "<promise>COMPLETE</promise>"'

  test('are created, read, changed, started and deleted', async () => {
    const place = openPlace()
    expect(await place.run('set_group', { project_id: 'shop', repo: '.' })).toMatchObject({ name: 'shop' })
    expect((await place.run('list_groups', {})).groups).toHaveLength(1)
    const { id } = await place.run('create_task', {
      title: 'Build it',
      project_id: 'shop',
      agent: place.agent(DONE),
      checks: ['test -e work.txt'],
    })
    expect((await place.run('get_task_prompt', { task_id: id })).prompt).toContain('Maximum iterations allowed: 10')
    expect(await place.run('update_task', { task_id: id, priority: 3, version: 1 })).toMatchObject({ version: 2 })
    const { loop } = await place.run('start_loop', { task_id: id })
    expect((await place.run('list_tasks', { status: ['in-progress'] })).tasks).toMatchObject([
      { id, loop_id: loop, loop_status: 'verifying' },
    ])
    expect((await place.drive(loop)).next).toMatchObject({ kind: 'complete', proof: 'verified' })
    expect(await place.run('get_task', { task_id: id })).toMatchObject({
      status: 'done',
      standing: { kind: 'verified' },
    })
    expect(await place.run('delete_task', { task_id: id })).toEqual({ task_id: id })
    expect((await place.run('list_tasks', {})).tasks).toEqual([])
  })

  test('wait for others, but never for each other', async () => {
    const place = openPlace()
    const { id: first } = await place.run('create_task', { title: 'Lay the ground' })
    const later = await place.run('create_task', { title: 'Paint it' })
    const painting = { task_id: later.id, depends_on: first }
    expect((await place.run('add_dependency', painting)).depends_on).toEqual([first])
    expect((await place.run('add_dependency', painting)).depends_on).toEqual([first])
    await expect(place.run('add_dependency', { task_id: first, depends_on: later.id })).rejects.toThrow(
      `these tasks form a dependency cycle: ${first} → ${later.id} → ${first}.`,
    )
  })
})

test.each<[OperationName, object]>([
  ['submit_tasks', { tasks: [{ prompt: 'Build it' }] }],
  ['list_fleet_tasks', {}],
  ['get_fleet_task', { task: 'a' }],
  ['get_fleet', {}],
  ['retry_fleet_task', { task: 'a' }],
  ['drain_worker', { worker: 'a' }],
  ['set_budget', { submitter: 'ann', usd_per_day: 5 }],
  ['set_fleet', { keep_days: 9 }],
])('%s needs the database of a fleet, and says how to name it', async (name, input) => {
  const asked = openPlace().run(name, input)
  // The front tests on Postgres have a fleet.
  if (isOnPostgres) return void (await asked.catch(() => {}))
  await expect(asked).rejects.toMatchObject({
    code: 'usage',
    message: expect.stringContaining('--database postgres://'),
  })
})

test('every operation in the table was run above, and matches the name of its row', () => {
  expect([...ran].sort()).toEqual(Object.keys(OPERATIONS).sort())
  for (const [name, operation] of Object.entries(OPERATIONS)) expect(operation.name).toBe(name)
})

test('no summary is longer than a line', () => {
  for (const { summary } of Object.values(OPERATIONS)) {
    expect(summary).toMatch(/^[A-Z].*\.$/)
    expect(summary.length).toBeLessThanOrEqual(120)
  }
})

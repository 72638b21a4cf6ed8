import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { RalphError } from '../error.ts'
import type { FleetTask } from '../formats/fleet-task.ts'
import type { Recorded } from '../formats/recorded.ts'
import { askGit, must } from '../host/git.ts'
import { eventually } from '../host/place.test-support.ts'
import { inPostgres, postgresMissing } from '../host/postgres/postgres.test-support.ts'
import { call } from './call.ts'
import { openFleet, type TestFleet } from './fleet.test-support.ts'
import { getDiff } from './get-diff.ts'
import { OPERATIONS, type OperationName, type Table } from './index.ts'
import { recordLoop } from './record-report.ts'
import { explainGreen, proveAgain } from './repeat-proof.ts'
import { SCHEMAS } from './schemas.ts'
import { buildStatement } from './statement.ts'

const missing = await postgresMissing()

const DONE = `echo '<promise>COMPLETE</promise>'`

type Output<Name extends OperationName> = Awaited<ReturnType<Table[Name]['run']>>

/** Asks like the board, which has its own home and no repository. */
async function ask<Name extends OperationName>(fleet: TestFleet, name: Name, input: object): Promise<Output<Name>> {
  const output = await call(fleet.context, name, input)
  expect(SCHEMAS[name].output.parse(output)).toEqual(output)
  return output as Output<Name>
}

/** A task whose agent adds a line to b.txt in each iteration; from the second one on, it waits for the gate file. */
async function openStory(fleet: TestFleet, last = 2) {
  const remote = await fleet.remote()
  const gate = join(fleet.context.home, 'gate')
  const agent = fleet.agent(`echo "line $RALPH_ITERATION" >> b.txt
    if [ "$RALPH_ITERATION" -gt 1 ]; then while [ ! -e '${gate}' ]; do sleep 0.05; done; fi
    [ "$RALPH_ITERATION" -lt ${last} ] || ${DONE}`)
  const repo = `file://${remote}`
  const [task] = await fleet.submit({ prompt: 'Write b.txt.', repo, agent, checks: ['test -f b.txt'] })
  const { id, loop_id: loop, branch } = task as FleetTask // as it was submitted
  const worker = fleet.worker()
  await eventually(async () => (await fleet.store.load(loop)).tally.iteration === 1)
  const finish = () => {
    writeFileSync(gate, '')
    return fleet.reaches(id, 'done', 'failed', 'resting')
  }
  return { remote, repo, id, loop, branch, worker, finish }
}

describe.skipIf(missing)(`a board without the repository${missing ? `: ${missing}` : ''}`, () => {
  test('shows what each iteration changed, while the task runs and after it ends', async () => {
    const fleet = await openFleet()
    const { remote, repo, id, loop, finish } = await openStory(fleet)
    const first = await ask(fleet, 'get_diff', { loop: id, iteration: 1 })
    expect(first.files).toMatchObject([{ path: 'b.txt', change: 'added', added: 1 }])
    await expect(ask(fleet, 'get_diff', { loop, iteration: 2 })).rejects.toThrow('iteration 2')
    expect((await ask(fleet, 'get_proof', { loop })).start).toMatchObject({ commit: first.from })

    const { pushed } = await finish()
    expect(await ask(fleet, 'get_diff', { loop, iteration: 1 })).toEqual(first)
    const second = await ask(fleet, 'get_diff', { loop, iteration: 2 })
    const whole = await ask(fleet, 'get_diff', { loop, iteration: 2, against: 'start' })
    expect([second.from, second.to, whole.from, whole.to]).toEqual([first.to, pushed, first.from, pushed])
    for (const { from, to, text } of [first, second, whole])
      expect(must(await askGit(remote, ['diff', '--no-color', from, to]))).toBe(text)
    expect(await ask(fleet, 'get_diff', { loop, iteration: 2, path: 'a.txt' })).toMatchObject({ text: '', files: [] })
    expect((await ask(fleet, 'get_diff', { loop, iteration: 2, path: 'b.txt' })).text).toBe(second.text)
    expect(await ask(fleet, 'get_diff', { loop, iteration: 2, limit: 60 })).toMatchObject({
      note: expect.stringContaining('more lines are not shown'),
    })

    const { iterations } = await ask(fleet, 'list_iterations', { loop })
    expect(iterations.map(({ commit }) => commit)).toEqual([first.to, pushed])
    expect(await ask(fleet, 'get_iteration', { loop, iteration: 2 })).toMatchObject({
      diff: second.text,
      head: first.from,
      row: { commit: pushed },
    })
    const proof = await ask(fleet, 'get_proof', { loop })
    expect(proof).toMatchObject({
      grade: 'verified',
      dir: repo,
      seen: { commit: pushed },
      start: { commit: first.from },
    })
    expect(must(await askGit(remote, ['rev-parse', `${pushed}^{tree}`]))).toBe(proof.seen?.tree)
    expect(buildStatement(proof).subject).toEqual([
      { name: 'remote-1', digest: { gitTree: proof.seen?.tree, gitCommit: pushed } },
    ])
    expect((await ask(fleet, 'get_loop', { loop })).whose).toContain(pushed)

    expect(await reportOf(fleet, id)).toEqual([
      `get_diff ${JSON.stringify({ against: 'previous', iteration: 1, loop })}`,
      `get_diff ${JSON.stringify({ against: 'previous', iteration: 2, loop })}`,
      `get_diff ${JSON.stringify({ against: 'start', iteration: 2, loop })}`,
    ])
  })

  test('answers all read operations, and names no folder of a worker', async () => {
    const fleet = await openFleet()
    const { id, loop, worker, finish } = await openStory(fleet)
    const running = await readAll(fleet, { task: id, loop })
    await finish()
    const over = await readAll(fleet, { task: id, loop })
    for (const answers of [running, over]) {
      expect(Object.keys(answers).filter((name) => answers[name] === undefined)).toEqual([])
      const leaking = Object.keys(answers).filter((name) => answers[name]?.includes(worker.home))
      // The full loop and its facts contain the worker's path.
      expect(leaking).toEqual(['get_loop', 'list_events'])
    }
    expect(over.get_forecast).toContain('nothing to forecast')
    expect(over.wait_loop).toContain('"status":"completed"')
  })

  test('says where the work is if only the repository has it', async () => {
    const fleet = await openFleet()
    const { repo, id, loop, branch, finish } = await openStory(fleet)
    const where = `Its work is on branch ${branch} of ${repo}. Fetch it: git fetch ${repo} ${branch}`
    const sentence = `This is not available for loop ${loop}, which is fleet task ${id}. ${where}`
    const watching = { signal: new AbortController().signal, saw: () => {} }
    const asked = [
      () => ask(fleet, 'rollback', { loop: id, iteration: 1 }),
      () => ask(fleet, 'undo', { loop: id }),
      () => ask(fleet, 'accept', { loop: id }),
      () => ask(fleet, 'fork', { loop: id }),
      () => proveAgain(fleet.context, id, watching),
      () => explainGreen(fleet.context, id, watching),
    ]
    for (const wish of asked) await expect(wish()).rejects.toEqual(new RalphError('usage', sentence))
    await finish()
    for (const wish of asked) await expect(wish()).rejects.toEqual(new RalphError('usage', sentence))
  })

  test('says what is available of a task that has not started, or has no repository', async () => {
    const fleet = await openFleet()
    const agent = fleet.agent(DONE)
    const [one, other] = await fleet.submit(
      { prompt: 'One.', repo: 'ssh://example.com/a b.git', agent },
      { prompt: 'Two.', agent },
    )
    const diffOf = (task: FleetTask | undefined) => ask(fleet, 'get_diff', { loop: task?.id, iteration: 1 })
    await expect(diffOf(one)).rejects.toThrow(`Its work will be on branch ${one?.branch} of ssh://example.com/a b.git.`)
    await expect(diffOf(other)).rejects.toThrow('are not kept')
    expect(await ask(fleet, 'get_proof', { loop: one?.id })).toMatchObject({ status: 'queued', iterations: 0 })
    fleet.worker()
    const { loop_id: loop } = await fleet.reaches(other?.id ?? '', 'done')
    await expect(diffOf(other)).rejects.toThrow('are not kept')
    expect(await ask(fleet, 'get_proof', { loop })).toMatchObject({ grade: 'claimed' })
    expect(await reportOf(fleet, loop)).toEqual([])
  })

  test('takes comments on lines of a diff, and the next iteration gets them', async () => {
    const fleet = await openFleet()
    const { loop, finish } = await openStory(fleet, 3)
    const comment = { iteration: 1, path: 'b.txt', line: 1, text: 'Write it in capitals.' }
    const added = await ask(fleet, 'add_comments', { loop, comments: [comment] })
    expect(added.comments).toMatchObject([{ quote: 'line 1', delivered: null }])
    await expect(ask(fleet, 'add_comments', { loop, comments: [{ ...comment, line: 2 }] })).rejects.toThrow(
      'which is not in the diff of iteration 1',
    )
    await finish()
    const { comments } = await ask(fleet, 'list_comments', { loop })
    expect(comments).toMatchObject([{ text: 'Write it in capitals.', delivered: 3 }])
    expect((await ask(fleet, 'get_iteration', { loop, iteration: 3 })).prompt).toContain('Write it in capitals.')
  })

  test('keeps comments on a task that failed for its retry', async () => {
    const fleet = await openFleet()
    const heard = join(fleet.context.home, 'heard')
    const agent = fleet.agent('echo "$RALPH_ITERATION" >> b.txt', `cat > '${heard}'`)
    const limits = { iterations: 1 }
    const [task] = await fleet.submit({ prompt: 'Write.', repo: await fleet.remote(), agent, limits })
    fleet.worker()
    const { id, loop_id: loop } = await fleet.reaches(task?.id ?? '', 'failed')
    const comments = [{ iteration: 1, path: 'b.txt', line: 1, text: 'In capitals.' }]
    expect(await ask(fleet, 'add_comments', { loop, comments })).toMatchObject({ heard: 'later' })
    const token = `ghp_${'a1B2'.repeat(9)}`
    const again = await ask(fleet, 'retry', { loop, words: `Use ${token}.` })
    await eventually(async () => (await fleet.store.load(again.loop)).tally.iteration === 1)
    const { prompt } = await ask(fleet, 'get_iteration', { loop: id, iteration: 1 })
    expect(prompt).toMatch(/In capitals\..*Use ghp_…masked/s)
    expect(readFileSync(heard, 'utf8')).toContain(`Use ${token}.`)
    expect(await ask(fleet, 'list_comments', { loop })).toMatchObject({
      comments: [{ hearer: again.loop, delivered: 1 }],
    })
    const stored = await inPostgres(fleet.url, 'SELECT fact FROM ralph.event')
    expect(JSON.stringify(stored)).not.toContain(token)
  })

  test('has diffs of all iterations, whichever worker ran them', async () => {
    const fleet = await openFleet()
    const { loop, worker, finish } = await openStory(fleet, 3)
    worker.stop()
    await worker.ended
    fleet.worker()
    expect(await finish()).toMatchObject({ state: 'done' })
    for (const iteration of [1, 2, 3]) {
      const { text } = await ask(fleet, 'get_diff', { loop, iteration })
      expect(text.split('\n').filter((line) => /^\+[^+]/.test(line))).toEqual([`+line ${iteration}`])
    }
    const { files } = await ask(fleet, 'get_diff', { loop, iteration: 3, against: 'start' })
    expect(files).toMatchObject([{ path: 'b.txt', added: 3 }])
  })

  test('shows no secrets, and the right number of lines', async () => {
    const fleet = await openFleet()
    const token = `ghp_${'a1B2'.repeat(9)}`
    const given = 'Zq8-correct-horse'
    const key = [
      '-----BEGIN PRIVATE KEY-----',
      ...Array(4).fill('MIIEvQIBADANBgkqhkiG9w0BAQEF'),
      '-----END PRIVATE KEY-----',
    ]
    const agent = fleet.agent(
      `printf '%s\\n' '${[`token ${token}`, given, ...key, 'the end'].join("' '")}' > b.txt; ${DONE}`,
    )
    const prompt = `Log in with password=${given} and write it down.`
    const [task] = await fleet.submit({ prompt, repo: await fleet.remote(), agent })
    fleet.worker()
    const { loop_id: loop } = await fleet.reaches(task?.id ?? '', 'done', 'failed')
    const { text, files } = await ask(fleet, 'get_diff', { loop, iteration: 1 })
    for (const secret of [token, given, 'MIIEvQ']) expect(text).not.toContain(secret)
    expect(files[0]?.hunks[0]?.lines.at(-1)).toMatchObject({ new: 9, text: 'the end' })
  })

  test('says how much of a long diff was not stored, and long files do not hide short ones', async () => {
    const fleet = await openFleet()
    const agent = fleet.agent(`seq 1 400000 > a-lock.txt; echo short > z.txt; ${DONE}`)
    const [task] = await fleet.submit({ prompt: 'Write much.', repo: await fleet.remote(), agent })
    fleet.worker()
    const { loop_id: loop, branch } = await fleet.reaches(task?.id ?? '', 'done', 'failed')
    const { note, files } = await getDiff.run(fleet.context, { loop, iteration: 1, limit: 5_000_000 })
    const left = Number(/^(\d+) lines of long files were not stored\./.exec(note ?? '')?.[1])
    expect(note).toContain(`git fetch`)
    expect(note).toContain(branch)
    expect((files.find(({ path }) => path === 'a-lock.txt')?.added ?? 0) + left).toBe(400_000)
    expect(files.find(({ path }) => path === 'z.txt')).toMatchObject({ added: 1 })
    const rows = await inPostgres(
      fleet.url,
      'SELECT length(previous) + length(start) AS bytes FROM ralph.kept_diff WHERE iteration = 1',
    )
    expect(Number(rows[0]?.bytes)).toBeLessThan(1_000_000)
  })

  test('lacks only the diff if that cannot be stored', async () => {
    const fleet = await openFleet()
    await inPostgres(fleet.url, 'ALTER TABLE ralph.kept_diff RENAME TO gone')
    const { id, loop, worker, finish } = await openStory(fleet)
    expect(await finish()).toMatchObject({ state: 'done' })
    await inPostgres(fleet.url, 'ALTER TABLE ralph.gone RENAME TO kept_diff')
    expect(worker.said.join('\n')).toContain(`${id}: the diff of iteration 1 could not be stored`)
    expect(await ask(fleet, 'get_iteration', { loop, iteration: 1 })).not.toHaveProperty('diff')
    await expect(ask(fleet, 'get_diff', { loop, iteration: 1 })).rejects.toThrow('git fetch')
    expect(await reportOf(fleet, id)).toEqual([])
  })

  test('keeps diffs as long as transcripts', async () => {
    const fleet = await openFleet()
    const { loop, finish } = await openStory(fleet)
    await finish()
    expect(await ask(fleet, 'prune', { days: 1 })).toMatchObject({ transcripts: 0, checkpoints: 0 })
    await inPostgres(fleet.url, 'UPDATE ralph.loop SET updated_at = 0')
    expect(await ask(fleet, 'prune', { days: 1 })).toMatchObject({ transcripts: 2, checkpoints: 3 })
    await expect(ask(fleet, 'get_diff', { loop, iteration: 1 })).rejects.toThrow('or the diff was pruned')
    expect((await ask(fleet, 'list_iterations', { loop })).iterations).toHaveLength(2)
  })
})

/** The diffs that a report has. */
async function reportOf(fleet: TestFleet, name: string): Promise<string[]> {
  const { summary, details } = await recordLoop(fleet.context, name, { version: '0', redact: false })
  const answers: Recorded['answers'][number][] = [...summary.answers]
  for await (const detail of details) answers.push(...detail.answers)
  return answers.map(({ key }) => key).filter((key) => key.startsWith('get_diff'))
}

/** The answer of every read operation as JSON, or its refusal; undefined: it failed because of a bug. */
async function readAll(
  fleet: TestFleet,
  { task, loop }: { task: string; loop: string },
): Promise<Record<string, string | undefined>> {
  const one = { loop, iteration: 1 }
  const inputs: Partial<Record<OperationName, object>> = {
    list_strips: { loops: [loop] },
    get_fleet_task: { task },
    ...Object.fromEntries(['get_iteration', 'get_diff', 'get_transcript', 'get_activity'].map((name) => [name, one])),
    ...Object.fromEntries(
      ['get_loop', 'list_iterations', 'get_checks', 'get_proof', 'list_events', 'list_comments'].map((name) => [
        name,
        { loop },
      ]),
    ),
    get_forecast: { loop },
    wait_loop: { loop, seconds: 0 },
  }
  const answers: Record<string, string | undefined> = {}
  for (const [name, { effect }] of Object.entries(OPERATIONS)) {
    if (effect !== 'read') continue
    answers[name] = await ask(fleet, name as OperationName, inputs[name as OperationName] ?? {}).then(
      (answer) => JSON.stringify(answer),
      (cause: unknown) => (cause instanceof RalphError ? cause.message : undefined),
    )
  }
  return answers
}

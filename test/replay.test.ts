/**
 * Everything that changes a loop is a fact: whichever front moved it, replaying its facts gives that loop, and
 * rebuilding the database from the transcripts gives that database. `RALPH_TEST_RUNS=50 npx vitest run
 * test/replay.test.ts` tries more orders of actions, `RALPH_TEST_SEED=7` draws others.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { drawChance } from '../src/host/chance.test-support.ts'
import { RalphError, RalphWiggum } from '../src/index.ts'
import { call, openContext } from '../src/operations/library.ts'
import {
  attempted,
  does,
  done,
  edit,
  execute,
  makeProject,
  scripted,
  sh,
  startExecute,
  statuses,
} from './project-place.ts'
import { makePlace, type Place, query, type Running, until } from './ralph.ts'
import { endsOf, expectReplayed, expectSame, kindsOf } from './replayed.ts'
import { face, openSession, type Session } from './session-place.ts'

const PROMISE = { text: '<promise>COMPLETE</promise>' }
const changes = sh('date +%N >> work.txt')
const untilGo = sh('while [ ! -e "$GO" ]; do sleep 0.02; done')

describe.concurrent('loops of `ralph run`', () => {
  test('that complete, halt, restore, crash, and work in stages', async () => {
    const place = makePlace()
    const run = (turns: object[][], ...more: string[]) =>
      place.ralph(['run', 'Build it', '--agent', place.script(turns), ...more])
    await run([[changes], [changes, PROMISE]], '--verify', 'test -e ready', '--max-iterations', '3')
    await run([[sh('touch ready'), PROMISE]], '--verify', 'test -e ready')
    await run([[changes], [{ text: 'Nothing.' }]], '--on-halt', 'restore')
    await run([[{ fail: 'It broke.', exit: 3 }]])
    const stages = [
      [changes, { text: '<promise>ONE</promise>' }],
      [changes, { text: '<promise>TWO</promise>' }],
    ]
    await run(stages, '--stage', 'ONE=true', '--stage', 'TWO', '--max-iterations', 'auto')
    await run([[changes, { usage: { tokens: 90, costUsd: 2 } }]], '--max-cost', '1')
    await run([[changes], [changes, PROMISE]], '--worktree')
    await expectSame(place.home, () => place.ralph(['doctor', '--rebuild', '--json']))
    const known = await expectReplayed(place.home)
    expect(endsOf(known)).toEqual([
      ...['halted max-iterations', 'completed', 'halted no-progress', 'halted agent-failed'],
      ...['completed', 'halted cost', 'completed'],
    ])
    expect([...kindsOf(known)].sort()).toEqual(['checked', 'proved', 'restored', 'turned'])
  })

  test('that are paused, steered, resumed, rolled back and cancelled', async () => {
    const place = makePlace()
    const turns = [
      [changes, untilGo],
      [changes, { text: 'What color?\n\nNEEDS_INPUT: which color?' }],
      [changes, PROMISE],
    ]
    const go = join(place.root, 'go')
    const going = place.start(['run', 'Build it', '--agent', place.script(turns), '--json'], { env: { GO: go } })
    const id = await begun(going)
    await place.ralph(['steer', id, 'Use blue.'])
    await place.ralph(['pause', id])
    writeFileSync(go, '')
    await going.ended
    await place.ralph(['steer', id, 'And green.'])
    await place.ralph(['rollback', id, '1'])
    await place.ralph(['resume', id], { env: { GO: go } })
    const other = place.start(['run', 'Another', '--agent', place.script([[changes, sh('sleep 60')]]), '--json'])
    const second = await begun(other)
    await place.ralph(['cancel', second])
    await other.ended
    const limited = [[{ 'rate-limit': { resetsInSeconds: 600 }, attempt: 1 }, changes, PROMISE]]
    const waiting = place.start(['run', 'A third', '--agent', place.script(limited), '--json'])
    const third = await begun(waiting)
    await until('its wait', () => query(place, 'SELECT status FROM loop WHERE id = ?', third)[0]?.status === 'waiting')
    await place.ralph(['resume', third])
    await waiting.ended
    const known = await expectReplayed(place.home)
    expect(endsOf(known)).toEqual(['completed', 'cancelled', 'completed'])
    expect(kindsOf(known)).toContain('told')
  })

  test('whose ralph was killed before the first turn, in a turn and in a check, and that were resumed', async () => {
    const place = makePlace()
    place.write(
      '../check',
      `#!/bin/sh
touch '${place.root}'/$([ -e '${place.root}/turn' ] && echo check || echo before)
[ -e '${place.root}/turn' ] || [ -e '${place.root}/killed' ] || sleep 60
while [ -e '${place.root}/turn' ] && [ ! -e '${place.root}/go' ]; do sleep 0.02; done
[ -e '${place.root}/turn' ]
`,
      0o755,
    )
    const script = [[changes, { ...sh(`touch ${place.root}/turn; sleep 60`), attempt: 1 }, PROMISE]]
    const kill = async (args: string[], seen: string) => {
      const { child, ended } = place.start(args)
      await until(seen, () => existsSync(join(place.root, seen)))
      child.kill('SIGKILL')
      await ended
    }
    await kill(['run', 'Build it', '--agent', place.script(script), '--verify', '../check'], 'before')
    writeFileSync(join(place.root, 'killed'), '')
    await kill(['resume'], 'turn')
    await kill(['resume'], 'check')
    writeFileSync(join(place.root, 'go'), '')
    await place.ralph(['resume'])
    const known = await expectReplayed(place.home)
    expect(endsOf(known)).toEqual(['completed'])
    expect(kindsOf(known)).toContain('lost')
  })
})

test('loops that are forked, retried and commented on, even if a ralph was killed meanwhile', async () => {
  const place = makePlace()
  const context = openContext({ cwd: place.dir, home: place.home, env: place.env, note: () => {} })
  onTestFinished(() => context.close())
  const agent = (...turns: object[][]) => place.script(turns)
  const run = (...args: string[]) => place.ralph([...args, '--json'])
  const idOf = ({ lines }: Awaited<ReturnType<typeof run>>) => String(lines[0]?.loop_id)
  const halting = ['--agent', agent([changes]), '--max-iterations', '2']
  const first = idOf(await run('run', 'Build it', '--worktree', ...halting))
  const comment = { iteration: 2, path: 'work.txt', line: 1, text: 'Why this number?' }
  await call(context, 'add_comments', { loop: first, comments: [comment, { ...comment, text: 'Why here?' }] })

  const slow = agent([changes, { ...untilGo, attempt: 1 }, PROMISE])
  const env = { GO: join(place.root, 'go') }
  const forking = place.start(['fork', first, '1', '--agent', slow, '--json'], { env })
  const fork = await begun(forking)
  const delivered = 'SELECT hearer, delivered FROM comment ORDER BY id'
  await until('the comments in a turn', () => query(place, delivered)[0]?.delivered === 1)
  forking.child.kill('SIGKILL')
  await forking.ended
  await run('resume', fork)
  expect(query(place, delivered)).toEqual([
    { hearer: fork, delivered: 1 },
    { hearer: fork, delivered: 1 },
  ])

  const retried = idOf(await run('retry', first, 'Use blue.', '--agent', agent([changes, PROMISE])))
  await run('accept', retried, '--squash')
  const known = await expectReplayed(place.home)
  expect(endsOf(known)).toEqual(['halted max-iterations', 'completed', 'completed'])
  expect(known.loop.find(({ id }) => id === retried)?.spec).toMatchObject({ work: { parent: { loop: first } } })
})

function begun(running: Running): Promise<string> {
  return until('its first turn', () =>
    running.lines().some(({ type }) => type === 'iteration-start') ? String(running.lines()[0]?.loop_id) : undefined,
  )
}

describe.concurrent('loops of a session', () => {
  const MOVES: Record<string, (place: Place, session: Session) => unknown> = {
    work: (_, session) => session.work(),
    idle: (_, session) => session.stop('I looked.'),
    claim: (_, session) => session.work('All of it is done.\n<promise>DONE</promise>'),
    pause: (_, session) => session.type('/ralph:pause'),
    resume: (_, session) => session.type('/ralph:resume'),
    'other prompt': (_, session) => session.type('What is the time?'),
    steer: (place) => place.ralph(['steer', loopOf(place), 'Be quick.']),
    'another prompt in the face': (place) => editFace(place, /Build it/, 'Build it well'),
    'another limit in the face': (place) => editFace(place, /max_iterations: \d+/, 'max_iterations: 5'),
    'paused in the face': (place) => editFace(place, 'active: true', 'active: false'),
    'begin again': (_, session) => session.type('/ralph:loop Build it --completion-promise DONE'),
  }

  test('in any order of turns, commands and edits', async () => {
    const chance = drawChance({ runs: 3 })
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...Object.keys(MOVES)), { minLength: 5, maxLength: 8 }),
        async (moves) => {
          const place = makePlace({ git: false })
          const session = openSession(place)
          await session.type('/ralph:loop Build it --completion-promise DONE')
          for (const move of moves) await MOVES[move]?.(place, session)
          await expectReplayed(place.home)
        },
      ),
      { numRuns: chance.runs, seed: chance.seed },
    )
  })

  function loopOf(place: Place): string {
    return String(query(place, 'SELECT id FROM loop ORDER BY started_at DESC')[0]?.id)
  }

  function editFace(place: Place, from: string | RegExp, to: string): void {
    const name = '.claude/ralph-loop.local.md'
    if (existsSync(join(place.dir, name))) place.write(name, face(place).replace(from, to))
  }
})

describe.concurrent('loops of a project', () => {
  test('that was stopped and executed again with other limits and checks', async () => {
    const place = makeProject(['T1', { id: 'T2', dependencies: ['T1'] }])
    const tries = {
      T1: [[changes, attempted, { usage: { tokens: 5, costUsd: 0.2 } }], [changes, attempted], does('T1')],
    }
    await execute(place, { ...tries, T2: [does('T2')] }, '--iterations', '1')
    await execute(place, { ...tries, T2: [does('T2')] }, '--iterations', '1', '--max-cost', '3', '--timeout', '50')
    const more = ['--max-tokens', '900', '--verify', 'true', '--no-progress', '7']
    await execute(place, { ...tries, T2: [does('T2')] }, ...more)
    expect(statuses(place)).toBe('T1 completed, T2 completed')
    // Later checks are also run on the original files.
    expect([...kindsOf(await expectReplayed(place.home))].sort()).toEqual(['asked', 'checked', 'proved', 'turned'])
  })

  test('whose history was rewritten, and whose agent crashed and was stopped', async () => {
    const place = makeProject([{ id: 'T1', max_attempts: 4 }])
    const rewrites = [sh('git commit --amend --quiet --allow-empty --message Mine'), ...does('T1')]
    const turns = [rewrites, [{ fail: 'It broke.', exit: 2, attempt: 1 }, changes, attempted], [untilGo, ...does('T1')]]
    const going = startExecute(place, { T1: turns as never })
    await until('its third turn', () => going.lines().filter(({ type }) => type === 'iteration-start').length >= 4)
    going.child.kill('SIGINT')
    await until('the message', () => going.stdout().includes('Pausing after the current iterations'))
    going.child.kill('SIGINT')
    await going.ended
    place.env.GO = place.dir
    await execute(place, { T1: turns as never }, '--max-cost', '9')
    await expectReplayed(place.home)
    expect(statuses(place)).toBe('T1 completed')
  })

  test('that ran in parallel and were merged', async () => {
    const place = makeProject(['T1', 'T2'])
    const meets = sh(
      `touch "${place.root}/$RALPH_TASK_ID"; while [ ! -e "${place.root}/T1" ] || [ ! -e "${place.root}/T2" ]; do sleep 0.02; done`,
    )
    const turns = {
      T1: [[meets, edit('both.txt', 'one\n'), done]],
      T2: [[meets, edit('both.txt', 'two\n'), done]],
      'T1/merge': [[edit('both.txt', 'one\ntwo\n')]],
      'T2/merge': [[edit('both.txt', 'one\ntwo\n')]],
    }
    await execute(place, turns, '--parallel', '2', '--verify', 'true')
    expect(statuses(place)).toBe('T1 completed, T2 completed')
    const known = await expectReplayed(place.home)
    expect(known.loop).toHaveLength(3)
    expect(known.project).toHaveLength(1)
  })
})

describe.concurrent('loops of a vault', () => {
  const ids = ['a', 'b', 'c']
  type Scene = { root: string; vault: string; home: string; ralph: RalphWiggum; clock: number; moved: number }
  type Act = [what: keyof typeof ACTS, id: string]

  const told = (task_id: string) => ({ task_id, action: 'Draft', result: 'success', duration_seconds: 30 })
  const put = (scene: Scene, id: string, from: string, to: string) => {
    const path = (folder: string) => join(scene.vault, folder, `${id}.md`)
    mkdirSync(join(scene.vault, to), { recursive: true })
    if (existsSync(path(from))) renameSync(path(from), path(to))
  }
  const open = (scene: Scene) => {
    scene.ralph = new RalphWiggum({
      vaultPath: scene.vault,
      home: scene.home,
      env: {},
      now: () => scene.clock,
      onNote: () => {},
    })
  }

  const ACTS = {
    start: ({ ralph }: Scene, id: string) => ralph.startTask({ task_file: `Needs_Action/${id}.md`, max_iterations: 3 }),
    iterate: ({ ralph }: Scene, id: string) => ralph.incrementIteration(told(id)),
    progress: ({ ralph }: Scene, task_id: string) =>
      ralph.updateProgress({ task_id, steps_total: 4, steps_completed: 1, current_step: 'Begin' }),
    ask: async (scene: Scene, id: string) => put(scene, id, 'Needs_Action', 'Pending_Approval'),
    finish: async (scene: Scene, id: string) => put(scene, id, 'Needs_Action', 'Done'),
    again: async ({ vault }: Scene, id: string) => writeFileSync(join(vault, 'Needs_Action', `${id}.md`), 'Again.\n'),
    approve: ({ ralph }: Scene, task_id: string) => ralph.approveTask({ task_id, note: 'Fine.' }),
    reject: ({ ralph }: Scene, task_id: string) => ralph.rejectTask({ task_id, reason: 'No.' }),
    'give up': ({ ralph }: Scene, id: string) => ralph.handleTimeout(id),
    complete: ({ ralph }: Scene, id: string) => ralph.completeTask(id),
    look: ({ ralph }: Scene, id: string) => ralph.getTaskState(id),
    list: ({ ralph }: Scene) => ralph.listTasks(),
    wait: async (scene: Scene) => {
      scene.clock += 20 * 60_000
    },
    'move the vault': async (scene: Scene) => {
      await scene.ralph.close()
      const to = join(scene.root, `vault-${++scene.moved}`)
      renameSync(scene.vault, to)
      scene.vault = to
      open(scene)
    },
  }

  async function act(scene: Scene, [what, id]: Act): Promise<void> {
    scene.clock += 1_500
    await ACTS[what](scene, id).catch((cause: unknown) => {
      if (!(cause instanceof RalphError)) throw cause // calls that are not allowed now are part of the play
    })
  }

  function setUp(): Scene {
    const { root, home } = makePlace({ git: false })
    const scene = { root, home, vault: join(root, 'vault'), clock: Date.UTC(2026, 0, 15, 10), moved: 0 } as Scene
    mkdirSync(join(scene.vault, 'Needs_Action'), { recursive: true })
    for (const id of ids)
      writeFileSync(join(scene.vault, 'Needs_Action', `${id}.md`), `---\nverify: "true"\n---\n\nDo ${id}.\n`)
    open(scene)
    return scene
  }

  test('in any order of calls, even if the folder is moved', async () => {
    const chance = drawChance({ runs: 12 })
    const someAct = fc.tuple(fc.constantFrom(...(Object.keys(ACTS) as Act[0][])), fc.constantFrom(...ids))
    await fc.assert(
      fc.asyncProperty(fc.array(someAct, { minLength: 8, maxLength: 25 }), async (acts) => {
        const scene = setUp()
        for (const id of ['a', 'b']) await act(scene, ['start', id])
        for (const each of acts) await act(scene, each)
        await scene.ralph.close()
        await expectReplayed(scene.home)
      }),
      { numRuns: chance.runs, seed: chance.seed },
    )
  })

  test('whose folder is moved while some are open and others have ended', async () => {
    const scene = setUp()
    const before: Act[] = [
      ...(['start', 'iterate', 'progress'] as const).map((what): Act => [what, 'a']),
      ...(['start', 'finish', 'complete'] as const).map((what): Act => [what, 'b']),
      ...(['start', 'ask', 'iterate'] as const).map((what): Act => [what, 'c']),
    ]
    const after: Act[] = [
      ['iterate', 'a'],
      ['approve', 'c'],
      ['list', 'a'],
    ]
    for (const each of [...before, ['move the vault', 'a'] as Act, ...after]) await act(scene, each)
    await scene.ralph.close()
    const known = await expectReplayed(scene.home)
    expect(known.event.filter(({ fact }) => (fact as { kind: string }).kind === 'moved')).toHaveLength(3)
    expect(known.loop.map(({ dir }) => dir)).toEqual(Array(3).fill(scene.vault))
    expect(known.task.map(({ vault }) => vault)).toEqual(Array(3).fill(scene.vault))
  })

  test('of another home, taken over from its state files alone', async () => {
    const scene = setUp()
    const acts: Act[] = [
      ...(['start', 'iterate', 'iterate', 'progress'] as const).map((what): Act => [what, 'a']),
      ...(['start', 'ask', 'iterate'] as const).map((what): Act => [what, 'b']),
      ...(['start', 'finish', 'iterate', 'complete'] as const).map((what): Act => [what, 'c']),
    ]
    for (const each of acts) await act(scene, each)
    await scene.ralph.close()
    await expectReplayed(scene.home)
    renameSync(scene.home, `${scene.home}-lost`)
    const file = join(scene.vault, 'Ralph_State', 'a.json')
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), iterations_history: [] }))
    open(scene)
    for (const id of ids) await act(scene, ['look', id])
    for (const [what, id] of [
      ['iterate', 'a'],
      ['approve', 'b'],
      ['iterate', 'b'],
    ] as Act[])
      await act(scene, [what, id])
    await scene.ralph.close()
    const known = await expectReplayed(scene.home)
    // The last iteration of a is followed by its checks; they pass as before, and nobody claimed done.
    expect(endsOf(known).sort()).toEqual(['completed', 'halted max-iterations', 'running'])
    expect(kindsOf(known)).toContain('adopted')
  })

  test('that a watcher worked on, stopped and continued', async () => {
    const place = makePlace({ git: false })
    mkdirSync(join(place.dir, 'Needs_Action'))
    for (const id of ids) place.write(`Needs_Action/${id}.md`, `Do ${id}.\n`)
    const move = (to: string) => sh(`mv "$RALPH_TASK_FILE" "$RALPH_VAULT/${to}/"`)
    const tasks = {
      a: [[changes], [changes, move('Done')]],
      b: [
        [changes, move('Pending_Approval')],
        [changes, move('Done')],
      ],
      c: [[{ text: 'Nothing.' }]],
    }
    const agent = scripted(place, tasks)
    const watch = ['watch', place.dir, '--agent', agent, '--once', '--json']
    await place.ralph(watch)
    await place.ralph(['task', 'approve', 'b', '--vault', place.dir])
    await place.ralph(watch)
    const known = await expectReplayed(place.home)
    expect(endsOf(known).sort()).toEqual(['completed', 'completed', 'halted no-progress'])
  })
})

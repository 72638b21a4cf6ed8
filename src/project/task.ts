/** One task of a project: a loop whose agent also reads and writes the project files. */
import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { openBench } from '../drive/bench.ts'
import type { Hands, TurnNext } from '../drive/drive.ts'
import { measuredFrom } from '../drive/earlier.ts'
import { runHands, type Workbench } from '../drive/hands.ts'
import { takeUp } from '../drive/take-turn.ts'
import { type Visit, visit } from '../drive/visit.ts'
import { ended, type Fact, type Loop, type Spec, startLoop, type Turn } from '../engine/loop.ts'
import { step } from '../engine/step.ts'
import { hasWorked } from '../engine/tally.ts'
import { RalphError } from '../error.ts'
import type { Task } from '../formats/tasks.ts'
import { repositoryAt } from '../host/branch.ts'
import { watchFor } from '../host/signal-file.ts'
import type { Store } from '../host/store.ts'
import { openTree, type Tree } from '../host/tree.ts'
import { buildTaskPrompt } from '../prompt/turn-prompt.ts'
import { given } from '../request/given.ts'
import type { LoopRequest } from '../request/request.ts'
import { resolveSpec } from '../request/resolve.ts'
import { enterTurn } from './enter-turn.ts'
import type { ProjectTask } from './owner.ts'
import { type Open, openOf, taskOf } from './record.ts'
import { agentFolder, type Site, turnEnv } from './site.ts'
import { beginTurn, judgeTurn, keepHistory, keepTrouble, keepVerdicts } from './task-turn.ts'
import { parseExecute } from './templates.ts'

/** The spec of a task's loop. */
export async function specOf(site: Site, open: Open): Promise<Spec> {
  const dir = open.worktree?.dir ?? site.project.dir
  const repo = open.worktree ? undefined : await repositoryAt(dir)
  const task = taskOf(site.keeper.record, open.task)
  const request: LoopRequest = {
    ...site.request,
    ...taskProof(site.request, task),
    prompt: `${task.id}: ${task.title}\n\n${task.description}`.trim(),
    checks: [...site.checks, ...(task.verify ?? [])],
    // Project-wide checks may pass before anything is done, so the task must also be claimed.
    stages: [{ name: task.id }],
    limits: { ...site.limits(), iterations: Math.max(1, task.max_attempts - open.before) },
  }
  const owner: ProjectTask = {
    kind: 'project',
    name: site.project.name,
    task: task.id,
    folder: agentFolder(site, open),
  }
  // The environment and the rest of the config were applied when the execution started.
  return resolveSpec(request, {
    dir,
    ...(repo ? { gitDir: repo.gitDir } : {}),
    ...(open.worktree ? { worktree: open.worktree } : {}),
    owner,
    // The files of all projects are in one folder, and none of them is work.
    faces: [dirname(owner.folder)],
    env: {},
    config: site.config,
  })
}

/** A task's own proof settings override the project's; its globs are added. */
export function taskProof(
  asked: Pick<LoopRequest, 'require' | 'protect' | 'mayChange'>,
  { require = asked.require, protect = [], may_change = [] }: Task,
): Pick<LoopRequest, 'require' | 'protect' | 'mayChange'> {
  return {
    ...given({ require }),
    protect: [...(asked.protect ?? []), ...protect],
    mayChange: [...(asked.mayChange ?? []), ...may_change],
  }
}

/** Hooks around the turns of a loop of this project. */
export type Driving = {
  spec: () => Promise<Spec>
  turn: Workbench['task'] & object
  /** Judges a turn in which the agent worked. */
  judged: (loop: Loop, next: TurnNext, turn: Turn, tree: Tree) => Promise<Turn>
  before: (loop: Loop, next: TurnNext) => Promise<boolean>
  /** After a turn in which the agent did not get to work. */
  failed: (next: TurnNext, turn: Turn, tree: Tree) => Promise<unknown>
}

/** Drives a loop as far as it goes: creates it, or resumes one whose ralph no longer runs. */
export async function driveTaskLoop(site: Site, task: string, id: string, how: Driving): Promise<Loop> {
  const { store, now, self } = site
  const fresh = (await loadLoop(store, id)) ? undefined : await makeLoop(site, id, await how.spec())
  return visit<Loop>(id, {
    store,
    now,
    takeUp: takeUp({ store, now, self }),
    since: async (loop, _, at) =>
      fresh || ended(loop) ? [] : askedAgain(site, loop, { kind: 'asked', at, spec: sizedAs(loop, await how.spec()) }),
    held(by) {
      throw new RalphError('project-held', `Loop ${id} of ${task} is already being run by ${by}.`)
    },
    work: (held) => (ended(held.loop) ? Promise.resolve(held.loop) : driveHeld(site, held, { task, how, fresh })),
  })
}

type Held = { task: string; how: Driving; fresh: Tree | undefined }

async function driveHeld(site: Site, held: Visit, { task, how, fresh }: Held): Promise<Loop> {
  const { store, home, env, stop, rest, self, known } = site
  const bench = await openBench(held, {
    home,
    store,
    env,
    stop,
    rest,
    self,
    known,
    show: site.show(task),
    task: how.turn,
    tree: fresh,
  })
  return held.drive(handsOf(site, task, bench, how))
}

/** Keeps the original size estimate: files added since do not change the task. */
function sizedAs({ spec: { work } }: Loop, spec: Spec): Spec {
  const { size: _, settings: __, ...rest } = spec.work
  return { ...spec, work: { ...rest, ...given({ size: work.size, settings: work.settings }) } }
}

/** A changed request takes effect. */
function askedAgain({ store }: Site, loop: Loop, fact: Fact): Fact[] {
  return isDeepStrictEqual(step(loop, store.sealed(fact)), loop) ? [] : [fact]
}

/** The worktree as the new loop finds it. */
async function makeLoop({ store, home, now }: Site, id: string, spec: Spec): Promise<Tree> {
  const tree = await openTree({ ...spec.work, home, loop: id })
  const state = await tree.look()
  const measured = await measuredFrom(store, spec, state)
  await store.create(startLoop(id, measured, { at: now(), ...(state === undefined ? {} : { tree: state }) }))
  return tree
}

async function loadLoop(store: Store, id: string): Promise<Loop | undefined> {
  try {
    return await store.load(id)
  } catch (cause) {
    if (cause instanceof RalphError && cause.code === 'loop-unknown') return undefined
    throw cause
  }
}

function handsOf(site: Site, task: string, bench: Workbench, how: Driving): Hands {
  const hands = runHands(bench, (loop, fact) => site.saw(task, loop, fact))
  return {
    ...hands,
    async turn(loop, next) {
      if (site.stop.aborted || !(await how.before(loop, next))) return undefined
      const fact = await hands.turn(loop, next)
      if (fact?.kind !== 'turned') return fact
      if (!hasWorked(fact.turn)) {
        await how.failed(next, fact.turn, bench.tree)
        return fact
      }
      return { ...fact, turn: await how.judged(loop, next, fact.turn, bench.tree) }
    },
    async check(loop, next) {
      const fact = await hands.check(loop, next)
      if (fact?.kind === 'checked' && next.because !== 'start') await keepVerdicts(site, task, fact.verdicts)
      return fact
    },
  }
}

/** Drives the loop of a task and records the outcome of its turns in the project files. */
export async function driveProjectTask(site: Site, open: Open): Promise<Loop> {
  const { keeper, turns } = site
  const current = () => openOf(keeper.record, open.task).turn?.iteration ?? 0
  const folder = { folder: agentFolder(site, open) }
  const loop = await driveTaskLoop(site, open.task, open.loop, {
    spec: () => specOf(site, open),
    turn: {
      prompt: (loop, next) => {
        const task = taskOf(keeper.record, open.task)
        const at = { dir: site.project.dir, folder: folder.folder }
        const most = keeper.record.iteration + turns.left
        return buildTaskPrompt(parseExecute(site.project.name, current(), most, task, at), loop, next)
      },
      get env() {
        return { ...turnEnv(site, open), RALPH_ATTEMPT: String(taskOf(keeper.record, open.task).attempts) }
      },
      finished: async (signal) => void (await watchFor(join(folder.folder, 'done.md'), { signal })),
    },
    async before(loop, next) {
      await enterTurn(site, loop)
      return beginTurn(site, open.task, { loop, next, folder, attempts: open.before + next.iteration })
    },
    async failed(next, turn, tree) {
      // Without an explicit limit, only attempts count; and rate-limited turns never count towards it.
      if (!turns.fixed || turn.end !== 'failed') turns.left++
      await keepTrouble(site, open.task, { turn, folder })
      await keepHistory(site, open.task, { next, tree, worked: false })
    },
    judged: (_, next, turn, tree) => judgeTurn(site, open.task, { next, turn, tree, folder }),
  })
  if (loop.next.kind !== 'complete') await enterTurn(site, loop)
  return loop
}

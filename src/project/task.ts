/** One task of a project: a loop of the engine whose agent also reads and writes the project's files. */
import { join } from 'node:path'
import {
  ended,
  type Fact,
  type Limits,
  type Loop,
  type Spec,
  startLoop,
  type Turn,
  turnOf,
  type Work,
} from '../engine/loop.ts'
import { hasWorked } from '../engine/tally.ts'
import { RalphError } from '../error.ts'
import { bringBack, changedPaths, holdsHistory, readHead, repositoryAt } from '../host/branch.ts'
import { readable } from '../host/git.ts'
import { reap } from '../host/process-tree.ts'
import { watchFor } from '../host/signal-file.ts'
import type { LocalStore } from '../host/sqlite.ts'
import { openTree, type Tree } from '../host/tree.ts'
import { buildTaskPrompt } from '../prompt/turn-prompt.ts'
import { checkpointsOf } from '../rollback.ts'
import { drive, type Hands, runHands, type Show, type TurnNext, type Workbench } from '../run.ts'
import { takeUp } from '../turn.ts'
import { applyEdits, type Edits, readEdits } from './edits.ts'
import { ARTEFACTS, clearWay, type FaceName, type Project, readFace, removeFace, writeFace } from './folder.ts'
import { type Keeper, type Open, type ProjectRecord, taskOf, withTask } from './record.ts'
import { parseExecute } from './templates.ts'

/** What the work on every task of a project shares. */
export type Site = {
  project: Project
  keeper: Keeper
  store: LocalStore
  home: string
  env: Workbench['env']
  now: () => number
  self: Workbench['self']
  newId: () => string
  /** Ends agents at once. */
  stop: AbortSignal
  /** Nothing new is begun; what is under way ends first. */
  rest: AbortSignal
  /** Every task has a work tree of its own, which is merged into this branch. */
  parallel: boolean
  branch?: string
  work: Omit<Work, 'dir' | 'project' | 'worktree' | 'gitDir'>
  agents?: string[]
  checks: string[]
  limits: () => Omit<Limits, 'iterations'>
  /** Whether one more turn may be begun now. */
  mayTurn: () => boolean
  /** Turns that may still be taken. Absent: the attempts alone limit them. */
  turns?: { most: number; left: number }
  /** The highest number a turn can have, for the prompt. */
  mostIterations: number
  /** Files that are not in git, but that work needs: copied into every work tree. */
  copied: string[]
  show: (task: string) => Show
  saw: (task: string, loop: Loop, fact: Fact) => void
  note: (task: string, text: string) => void
  /** Takes the lock of the project again, should an agent have removed its file. */
  hold: () => void
}

/** The folder with the project's files as the agent of this task sees it: in a work tree it has a copy of its own. */
export function agentFolder({ project }: Site, { worktree }: Open): string {
  return worktree ? join(worktree.dir, ARTEFACTS, project.name) : project.folder
}

/** What the loop of a task is asked for. */
export async function specOf(site: Site, open: Open): Promise<Spec> {
  const dir = open.worktree?.dir ?? site.project.dir
  const repo = open.worktree ? undefined : await repositoryAt(dir)
  const task = taskOf(site.keeper.record, open.task)
  return {
    prompt: `${task.id}: ${task.title}\n\n${task.description}`.trim(),
    promise: '',
    signals: [],
    checks: [...new Set([...site.checks, ...(task.verify ?? [])])],
    until: false,
    // Checks of the whole project may pass before anything is done, so the task must be claimed as well.
    stages: [{ name: task.id }],
    limits: { ...site.limits(), iterations: Math.max(1, task.max_attempts - open.before) },
    ...(site.agents && site.agents.length > 1 ? { agents: site.agents } : {}),
    work: {
      ...site.work,
      dir,
      ...(repo ? { gitDir: repo.gitDir } : {}),
      ...(open.worktree ? { worktree: open.worktree } : {}),
      project: { name: site.project.name, task: task.id, folder: agentFolder(site, open) },
    },
  }
}

/** How a loop of this project is driven: `hands` may change what the plain ones of `ralph run` do. */
export type Driving = {
  spec: () => Promise<Spec>
  turn: Workbench['task'] & object
  /** What is made of a turn in which the agent worked. */
  judged: (loop: Loop, next: TurnNext, turn: Turn, tree: Tree) => Promise<Turn>
  before: (loop: Loop, next: TurnNext) => Promise<boolean>
}

/** Drives a loop as far as it goes: a new one is made, one whose ralph is gone is taken up. */
export async function driveLoop(site: Site, task: string, id: string, how: Driving): Promise<Loop> {
  const { store, home } = site
  const fresh = (await loadLoop(store, id)) ? undefined : await makeLoop(site, id, await how.spec())
  const lease = await store.lease(id)
  if ('heldBy' in lease)
    throw new RalphError('project-held', `Loop ${id} of ${task} is being driven by ${lease.heldBy}.`)
  try {
    const stored = await store.load(id)
    if (ended(stored)) return stored
    const loop = fresh ? stored : askedAnew(stored, await how.spec(), site.now())
    if (lease.epoch > 1) await reap(id)
    if (loop.spec.work.worktree && !fresh) await checkpointsOf(site, loop)
    const tree = fresh ?? (await openTree({ ...loop.spec.work, home, loop: id }))
    const bench: Workbench = {
      ...{ store, tree, env: site.env, now: site.now, stop: site.stop, self: site.self },
      show: site.show(task),
      task: how.turn,
    }
    return await drive(await takeUp(loop, lease, bench), lease, store, handsOf(site, task, bench, how))
  } finally {
    await lease.release()
  }
}

/** The work tree as the new loop finds it. */
async function makeLoop({ store, home, now }: Site, id: string, spec: Spec): Promise<Tree> {
  const tree = await openTree({ ...spec.work, home, loop: id })
  const state = await tree.look()
  await store.create(startLoop(id, spec, { at: now(), ...(state === undefined ? {} : { tree: state }) }))
  return tree
}

/**
 * What was asked for this time counts: agent, checks, and limits, against which nothing counts that the loop used up in an
 * earlier execution. Checks under way are the ones that were asked for then.
 */
function askedAnew(loop: Loop, asked: Spec, now: number): Loop {
  const { spec, tally, next } = loop
  const { costUsd, tokens, minutes, ...others } = asked.limits
  const restedMs = tally.restedMs + (tally.restingSince === undefined ? 0 : now - tally.restingSince)
  const limits: Limits = {
    ...{ ...others, iterations: spec.limits.iterations },
    ...(costUsd === undefined ? {} : { costUsd: costUsd + tally.costUsd }),
    ...(tokens === undefined ? {} : { tokens: tokens + tally.tokens }),
    ...(minutes === undefined ? {} : { minutes: minutes + (now - tally.startedAt - restedMs) / 60_000 }),
  }
  if (next.kind === 'check') return { ...loop, spec: { ...spec, limits } }
  const changed = { ...asked, limits }
  return { ...loop, spec: changed, next: next.kind === 'turn' ? turnOf(changed, tally, now) : next }
}

async function loadLoop(store: LocalStore, id: string): Promise<Loop | undefined> {
  try {
    return await store.load(id)
  } catch (cause) {
    if (cause instanceof RalphError && cause.code === 'loop-unknown') return undefined
    throw cause
  }
}

function handsOf(site: Site, task: string, bench: Workbench, how: Driving): Hands {
  const saw = (loop: Loop, fact: Fact) => site.saw(task, loop, fact)
  const plain = runHands(bench, saw)
  const patient = runHands({ ...bench, stop: AbortSignal.any([site.stop, site.rest]) }, saw)
  return {
    ...plain,
    ...(patient.wait ? { wait: patient.wait } : {}),
    async turn(loop, next) {
      if (site.stop.aborted || !(await how.before(loop, next))) return undefined
      const fact = await plain.turn?.(loop, next)
      if (fact?.kind !== 'turned' || !hasWorked(fact.turn)) return fact
      return { ...fact, turn: await how.judged(loop, next, fact.turn, bench.tree) }
    },
  }
}

/** Drives the loop of a task; what came of its turns stands in the project's files afterwards. */
export async function driveTask(site: Site, open: Open): Promise<Loop> {
  const { keeper } = site
  const current = () => openOf(keeper.record, open.task)
  const folder = { folder: agentFolder(site, open) }
  const loop = await driveLoop(site, open.task, open.loop, {
    spec: () => specOf(site, open),
    turn: {
      prompt: (loop, next) => {
        const task = taskOf(keeper.record, open.task)
        const iteration = current().turn?.iteration ?? 0
        const at = { dir: site.project.dir, folder: folder.folder }
        const most = Math.max(iteration, site.mostIterations)
        return buildTaskPrompt(parseExecute(site.project.name, iteration, most, task, at), loop, next)
      },
      env: { RALPH_TASK_ID: open.task, RALPH_PROJECT: site.project.name, RALPH_PROJECT_DIR: folder.folder },
      finished: async (signal) => void (await watchFor(join(folder.folder, 'done.md'), { signal })),
    },
    async before(loop, next) {
      await enterTurn(site, loop)
      return beginTurn(site, open.task, { loop, next, folder, attempts: open.before + next.iteration })
    },
    judged: (loop, next, turn, tree) => judgeTurn(site, open.task, { loop, next, turn, tree, folder }),
  })
  if (loop.next.kind !== 'complete') await enterTurn(site, loop)
  return loop
}

export function openOf({ open }: ProjectRecord, task: string): Open {
  const found = open.find((candidate) => candidate.task === task)
  if (!found) throw new Error(`${task} is not under way`)
  return found
}

type Turning = { loop: Loop; next: TurnNext; folder: { folder: string } }

/** The task is picked up: it gets a number, the attempt is counted, the files are as they should be. False: no turn is left. */
export function beginTurn(
  site: Site,
  task: string,
  { loop, next, folder, attempts }: Turning & { attempts?: number },
): boolean {
  const { keeper, turns } = site
  if (site.rest.aborted || !site.mayTurn()) return false
  const open = openOf(keeper.record, task)
  if (open.turn?.n !== next.iteration) {
    if (turns) {
      if (turns.left <= 0) return false
      turns.left--
    }
    const tree = loop.tally.tree
    keeper.change((record) => {
      const iteration = record.iteration + 1
      const counted = withTask({ ...record, iteration }, task, {
        status: 'in_progress',
        ...(attempts === undefined ? {} : { attempts }),
      })
      const turn = { n: next.iteration, iteration, ...(tree === undefined ? {} : { tree }) }
      const trees = tree === undefined || open.worktree ? record.trees : { [task]: tree, ...record.trees }
      return replaceOpen({ ...counted, trees }, { ...open, turn })
    })
  }
  keeper.restore()
  if (folder.folder !== site.project.folder) keeper.restore(folder)
  removeFace(folder, 'done.md')
  return true
}

function replaceOpen(record: ProjectRecord, open: Open): ProjectRecord {
  return { ...record, open: record.open.map((other) => (other.task === open.task ? open : other)) }
}

/** What the agent wrote into the project's files is its claim; where it rewrote history, its turn is taken back. */
async function judgeTurn(
  site: Site,
  task: string,
  { loop, next, turn, tree, folder }: Turning & { turn: Turn; tree: Tree },
): Promise<Turn> {
  const edits = readEdits(site.keeper.record, facesIn(folder), { task, shared: folder.folder === site.project.folder })
  removeFace(folder, 'done.md')
  const kept = await keepHistory(site, task, { next, tree })
  if (kept !== true) return { ...turn, claim: { kind: 'none' }, ...kept }
  const { ask: _, ...rest } = turn
  if (edits.says === 'blocked') {
    const words = edits.obstacles.at(-1)?.message ?? edits.entry?.summary ?? 'the agent does not say why'
    return { ...rest, claim: { kind: 'none' }, ask: { kind: 'person', words: `${task} is blocked: ${words}` } }
  }
  if (edits.says !== 'completed') return { ...turn, claim: { kind: 'none' } }
  // Nothing but checks of the whole project speaks for a task that changed nothing: it must be said twice.
  const idle = turn.tree !== undefined && turn.tree === loop.tally.startTree && !taskOf(site.keeper.record, task).verify
  return { ...rest, claim: { kind: idle ? 'weak' : 'clear', stage: task } }
}

function facesIn(folder: { folder: string }): Partial<Record<FaceName, string | undefined>> {
  clearWay(folder)
  const names = ['spec.md', 'tasks.json', 'state.json', 'obstacles.json'] as const
  return Object.fromEntries(names.map((name) => [name, readFace(folder, name)]))
}

/** True: all is well. Otherwise what the turn left, after it was taken back. */
async function keepHistory(
  site: Site,
  task: string,
  { next, tree }: { next: TurnNext; tree: Tree },
): Promise<true | Pick<Turn, 'tree'>> {
  const { base, branch, worktree } = openOf(site.keeper.record, task)
  if (base === undefined || 'none' in tree.checkpoints) return true
  const { repo } = tree.checkpoints
  if (!(await repo.ask(['rev-parse', '--git-dir'])).ok)
    throw new RalphError(
      'git-failed',
      worktree
        ? `its work tree ${worktree.path} was removed during the turn. The next start makes it again.`
        : `${repo.gitDir} was removed during the turn. Bring it back, then go on.`,
    )
  const mine = worktree?.branch ?? branch
  const note = (text: string) => {
    site.note(task, text)
    site.keeper.changeOpen(task, (open) => ({ ...open, notes: [...open.notes, text] }))
  }
  const [{ branch: here }, kept] = await Promise.all([readHead(repo), holdsHistory(repo, base)])
  if (kept && mine !== undefined && here !== mine && (await bringBack(repo, mine)))
    note(`The agent left the branch ${mine}; ralph brought its commits back there. Stay on the branch.`)
  else if (!kept || (mine !== undefined && here !== mine)) {
    await tree.checkpoints.rollBack(next.iteration - 1)
    note('The agent rewrote commits that were there before its task; ralph took its turn back. Only add commits.')
    const state = await tree.look()
    return state === undefined ? {} : { tree: state }
  }
  return true
}

/**
 * Enters a turn that was taken and judged into the project's files, once. `done`: the task is completed by it, which a loop
 * alone does not tell: its work must have arrived on the branch, too.
 */
export async function enterTurn(site: Site, loop: Loop, done = false): Promise<void> {
  const { keeper, project } = site
  const { project: at, dir } = loop.spec.work
  if (!at) return
  const open = openOf(keeper.record, at.task)
  if (!open.turn && done) return keeper.change((record) => arrivedLater(record, at.task))
  if (!open.turn || open.turn.n > loop.tally.iteration || loop.next.kind === 'check') return
  const edits = readEdits(keeper.record, facesIn(at), { task: at.task, shared: at.folder === project.folder })
  for (const name of edits.broken) if (at.folder === project.folder) setAside(site, name)
  for (const text of edits.notes) site.note(at.task, text)
  const files = await filesOf(open.turn.tree, loop.tally.tree, dir, edits)
  keeper.change((record) => entered(record, { open, loop, edits, files, done }))
  keeper.restore()
  site.hold()
}

/** Its last turn was entered before, as one that was not enough yet: now its work has arrived all the same. */
function arrivedLater(record: ProjectRecord, task: string): ProjectRecord {
  const last = record.entries.findLast(({ task_id }) => task_id === task)
  const entries = last ? [...record.entries, { ...last, status: 'completed' as const }] : record.entries
  return withTask({ ...record, entries }, task, { status: 'completed', blocked: false })
}

function setAside({ project, now, note }: Site, name: FaceName): void {
  const text = readFace(project, name)
  if (text === undefined) return
  const kept = `${name}.broken-${new Date(now()).toISOString().replace(/[:.]/g, '-')}`
  writeFace(project, kept, text)
  note('', `${name} as the agent left it is kept as ${kept}.`)
}

/** Measured where git can tell, else in the agent's words. */
async function filesOf(
  before: string | undefined,
  after: string | undefined,
  dir: string,
  { entry }: Edits,
): Promise<string[]> {
  const repo = await repositoryAt(dir)
  const [from, to] = [before, after].map((tree) => tree?.split(' ')[0])
  if (!repo || from === undefined || to === undefined) return entry?.files_modified ?? []
  return ((await changedPaths(repo, from, to)) ?? []).map(readable)
}

type Entering = { open: Open; loop: Loop; edits: Edits; files: string[]; done: boolean }

function entered(record: ProjectRecord, { open, loop, edits, files, done }: Entering): ProjectRecord {
  const { task, turn } = open
  if (!turn) return record
  const { record: taken, ids } = applyEdits(
    record,
    { ...edits, notes: [...open.notes, ...edits.notes] },
    { task, iteration: turn.iteration },
  )
  const blocked = loop.next.kind === 'wait' && loop.next.why === 'person' && edits.says === 'blocked'
  const named = (edits.entry?.obstacles ?? []).map((id) => ids.get(id) ?? id)
  const mine = taken.obstacles.filter(({ iteration, task_id }) => iteration === turn.iteration && task_id === task)
  const entry = {
    ...edits.entry,
    iteration: turn.iteration,
    task_id: task,
    status: done ? ('completed' as const) : ('attempted' as const),
    summary: edits.entry?.summary || firstLine(loop.tally.words) || 'The agent left no summary.',
    files_modified: files,
    obstacles: [...new Set([...named, ...mine.map(({ id }) => id)])],
  }
  const { turn: _, ...rest } = open
  return withTask(replaceOpen({ ...taken, entries: [...taken.entries, entry] }, { ...rest, notes: [] }), task, {
    status: done ? 'completed' : blocked ? 'blocked' : loop.next.kind === 'halt' ? 'pending' : 'in_progress',
    blocked,
  })
}

function firstLine(words: string): string {
  return (words.trim().split('\n')[0] ?? '').slice(0, 300)
}
